//! The demo does what the README says: a flood is refused, and nobody else is.

use std::process::Command;

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
