//! How diagnostics look to a person.

use super::{meaning, read};

/// Five mistakes of five kinds: a misspelt field, a rate without a time, a limit that is not there, a header nobody may
/// write, and a month that is no unit.
const FIVE_MISTAKES: &str = r#"# A policy with five mistakes.
identity:
  user: { header: x-user-id }

limits:
  per-user:
    key: [user]
    sliding_window: { limt: 30, window: 1m }
  burst:
    key: [user]
    token_bucket: { rate: 10 }
  monthly:
    key: [ip]
    sliding_log: { limit: 100, window: 1month }

routes:
  - match: { path: /v1/** }
    limits: [per-usr, burst, monthly]
"#;

#[test]
fn five_mistakes_are_shown_at_once() {
    let report = read(FIVE_MISTAKES).unwrap_err();
    assert_eq!(report.diagnostics().len(), 5, "{report}");
    insta::assert_snapshot!("five_mistakes", report.render());
}

#[test]
fn five_mistakes_on_a_line_each() {
    insta::assert_snapshot!("five_mistakes_lines", read(FIVE_MISTAKES).unwrap_err().to_string());
}

#[test]
fn warnings_of_a_careless_policy() {
    let read = meaning(
        "identity:\n  plan: { query: plan, default: free }\nlimits:\n  hourly:\n    key: [ip]\n    by: plan\n\
         \x20   fixed_window:\n      free: { limit: 100, window: 1h }\n      paid: unlimited\n\
         \x20 pace:\n    key: []\n    leaky_bucket: { rate: 5/s, burst: 20 }\n\
         routes:\n  - limits: [hourly, pace]\n",
    );
    insta::assert_snapshot!("careless_policy", read.warnings.render());
}

#[test]
fn carets_stand_right_behind_tabs_wide_letters_and_long_lines() {
    let long =
        format!("routes: [{{ limits: [], cost: 1, upstream: {}, mtach: x }}]\n", "y".repeat(300));
    insta::assert_snapshot!("long_line", read(&long).unwrap_err().render());
    let wide = "routes: [{ limits: [\"é日本\", ü] }] # ein Kommentar\n";
    insta::assert_snapshot!("wide_letters", read(wide).unwrap_err().render());
}

#[test]
fn syntax_errors_have_a_place_too() {
    insta::assert_snapshot!(
        "syntax",
        read("routes:\n  - limits: [a\n  - limits: []\n").unwrap_err().render()
    );
}
