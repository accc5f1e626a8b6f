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
