//! The example policies are valid, and their own tests pass.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn examples() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).expect("the folder of examples");
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    found.sort();
    found
}

fn tollgate(word: &str, policy: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    command.arg(word).arg(policy).output().expect("the command starts")
}

#[test]
fn every_example_is_a_valid_policy() {
    assert!(examples().len() >= 5, "the examples are there");
    for policy in examples() {
        let output = tollgate("validate", &policy);
        assert!(
            output.status.success(),
            "{}: {}",
            policy.display(),
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn every_example_passes_its_own_tests() {
    for policy in examples() {
        let output = tollgate("test", &policy);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "{}: {said}{}",
            policy.display(),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(
            said.contains(" passed, 0 failed") && !said.contains("\n0 passed"),
            "{}: {said}",
            policy.display()
        );
    }
}

/// The README shows a policy; it is the minimal example, to the letter.
#[test]
fn the_readme_shows_the_minimal_example() {
    let readme = std::fs::read_to_string(folder().join("../README.md")).expect("the README");
    let example = std::fs::read_to_string(folder().join("minimal.yaml")).expect("the example");
    let shown = readme
        .split("```yaml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("a policy");
    let (_comment, policy) = example.split_once('\n').expect("a comment, then the policy");
    assert!(policy.starts_with(shown), "README.md shows another policy than examples/minimal.yaml");
}
