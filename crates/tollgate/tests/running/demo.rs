//! The demo does what the README says: a flood is refused, and nobody else is.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::Running;

/// Passed, refused and failed in the last row of `customer`.
fn counts(shown: &str, customer: &str) -> [u64; 3] {
    let row = shown.lines().rfind(|line| line.starts_with(customer)).expect("the customer's row");
    let numbers: Vec<u64> = row.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    [numbers[0], numbers[1], numbers[2]]
}

#[test]
fn the_flood_is_refused_and_nobody_else() {
    let mut demo = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    let output = demo.args(["demo", "--seconds", "3"]).output().expect("the demo starts");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{shown}{}", String::from_utf8_lossy(&output.stderr));

    let [passed, refused, _] = counts(&shown, "ada, who floods");
    // 30 in a minute; the edge of a minute may fall into the demo and bring the next ones in.
    assert!((1..=60).contains(&passed) && refused > 0, "{shown}");
    for customer in ["bob", "eve", "max"] {
        let [passed, refused, failed] = counts(&shown, customer);
        assert!(passed > 0 && refused == 0 && failed == 0, "{customer}: {shown}");
    }
    assert!(shown.contains("curl "), "it says what to try: {shown}");
}

/// A demo that shows its table already, and the folder of its policy.
fn demo() -> (Running, PathBuf) {
    let running = Running::start(Command::new(env!("CARGO_BIN_EXE_tollgate")).arg("demo"));
    let line = running.says("Its policy is ");
    let path = line.split("Its policy is ").nth(1).and_then(|rest| rest.split(": ").next());
    let folder = Path::new(path.expect("a path")).parent().expect("a folder").to_owned();
    running.says("ada, who floods");
    (running, folder)
}

#[test]
fn whatever_ends_it_nothing_stays_behind() {
    for signal in ["INT", "TERM", "HUP"] {
        let (mut running, folder) = demo();
        assert!(folder.is_dir(), "{}", folder.display());
        running.signal(signal);
        let status = running.ended();
        assert!(status.success(), "{signal}: {status}: {}", running.said());
        assert!(!folder.exists(), "{signal}: {} is left", folder.display());
        running.says("told to wait");
    }
}

#[test]
fn a_wrong_edit_of_its_policy_is_told_and_a_right_one_too() {
    let (mut running, folder) = demo();
    let policy = folder.join("policy.yaml");
    let right = std::fs::read_to_string(&policy).expect("its policy");
    std::fs::write(&policy, right.replacen("limits:", "limts:", 1)).expect("it can be edited");
    let line = running.says("the policy was not reloaded");
    assert!(line.contains("policy.yaml:") && line.contains("limts"), "{line}");
    std::fs::write(&policy, right + "\n# edited\n").expect("it can be edited");
    running.says("the policy was reloaded");
    running.signal("TERM");
    running.ended();
}
