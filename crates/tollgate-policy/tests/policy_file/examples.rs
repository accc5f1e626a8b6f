//! Every example policy is read without an error.

use std::path::{Path, PathBuf};

use tollgate_policy::file::{self, Surroundings};

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

#[test]
fn the_examples_are_read() {
    let mut seen = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "yaml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if let Err(report) = file::read(&name, &text, &Surroundings::new(folder())) {
            panic!("{}", report.render());
        }
        seen += 1;
    }
    assert!(seen >= 5, "only {seen} examples");
}

/// What is found in files beside the policy is located at what names them.
#[test]
fn problems_of_compiling_have_a_place() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("keys.csv"), "key_sha256,user\nnohex,ada\n").unwrap();
    let text = "tables:\n  keys: { file: keys.csv }\nidentity:\n  \
                plan: { api_key: { header: k, table: keys, column: plan } }\n\
                routes: [{ limits: [] }]\n";
    let read = file::read("policy.yaml", text, &Surroundings::new(folder.path())).unwrap();
    let report = read.compile().unwrap_err();
    let places: Vec<(usize, usize)> = report
        .diagnostics()
        .iter()
        .map(|diagnostic| (diagnostic.line, diagnostic.column))
        .collect();
    assert!(
        !places.is_empty() && places.iter().all(|place| [(2, 3), (4, 3)].contains(place)),
        "{report}"
    );
}
