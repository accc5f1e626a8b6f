//! How diagnostics and summaries look to a person.

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

#[test]
fn the_summary_of_the_llm_platform() {
    let text = include_str!("../../../../examples/llm-platform.yaml");
    insta::assert_snapshot!("llm_platform_summary", meaning(text).summary());
}

#[test]
fn the_summary_of_every_algorithm() {
    let read = meaning(
        "identity: { user: { query: u } }\nlimits:\n\
         \x20 a: { key: [user, ip], token_bucket: { rate: 5/s, burst: 2s, initial: empty }, overdraw: true }\n\
         \x20 b: { key: [], leaky_bucket: { rate: 1 per 10s, burst: 3, max_wait: 20s }, shadow: true }\n\
         \x20 c: { key: ip, leaky_bucket: { rate: 10/s, burst: 9, nodelay: true } }\n\
         \x20 d: { key: ip, fixed_window: { limit: 5, window: 90s }, count_refused: true }\n\
         \x20 e: { key: ip, sliding_window: { limit: 5, window: 1m, cells: 6 } }\n\
         \x20 f: { key: ip, sliding_log: { limit: 5, window: 1d }, charge_when: { status: 401 } }\n\
         \x20 g: { key: ip, quota: { limit: 5, every: month, starts: 15, time_zone: Europe/Berlin } }\n\
         \x20 h: { key: ip, concurrency: { limit: 5, ttl: 30s } }\n\
         routes: [{ limits: [a, b, c, d, e, f, g, h] }]\n",
    );
    insta::assert_snapshot!("every_algorithm_summary", read.summary());
}
