//! `validate`, `test`, `schema`, and the summary of a replay.

use crate::workshop::Workshop;

#[test]
fn validate_says_everything_that_is_wrong() {
    let workshop = Workshop::with(
        "
limits:
  a: { key: [nobody], fixed_window: { limit: x, window: 1m } }
routes: [{ match: { path: /** }, limit: [a] }]
",
    );
    let ran = workshop.run(&["validate", "policy.yaml"]);
    assert_eq!((ran.status, ran.out.as_str()), (1, ""));
    for said in ["policy.yaml:3:", "policy.yaml:4:", "`nobody`", "`limits`", " errors"] {
        assert!(ran.err.contains(said), "{said}: {}", ran.err);
    }
    let ran = workshop.run(&["validate", "nowhere.yaml"]);
    assert_eq!(ran.status, 1);
    assert!(ran.err.contains("nowhere.yaml: "), "{}", ran.err);
}

#[test]
fn validate_shows_what_limits_come_to() {
    let workshop = Workshop::with(
        "
identity: { user: { basic: user } }
limits:
  a: { key: [user], token_bucket: { rate: 3/s, burst: 6 } }
routes: [{ match: { path: /** }, limits: [a] }]
",
    );
    let ran = workshop.run(&["validate", "policy.yaml"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert!(ran.out.contains("full in 2s"), "{}", ran.out);
    assert!(ran.out.contains("in 333ms334us"), "{}", ran.out);
}

const TESTED: &str = "
limits:
  a: { key: [ip], fixed_window: { limit: 1, window: 1m } }
routes: [{ match: { path: /** }, limits: [a] }]
tests:
  - name: one a minute
    defaults: { ip: 203.0.113.9 }
    requests:
      - { expect: { decision: admit } }
      - { at: 1s, expect: { decision: refuse, retry_after: 59s } }
";

#[test]
fn tests_that_hold_end_with_0() {
    let ran = Workshop::with(TESTED).run(&["test", "policy.yaml"]);
    assert_eq!((ran.status, ran.out.as_str()), (0, "ok    one a minute\n1 passed, 0 failed\n"));
}

#[test]
fn tests_that_fail_show_a_diff_and_end_with_1() {
    let workshop = Workshop::with(TESTED);
    workshop.write(
        "policy.tests.yaml",
        "tests:\n  - name: two a minute\n    requests:\n      - { ip: 203.0.113.9, repeat: 2, expect: { admitted: 2 } }\n",
    );
    let ran = workshop.run(&["test", "policy.yaml"]);
    let expected = "ok    one a minute
FAIL  two a minute
policy.tests.yaml:4:9: after 2 requests
  - admitted: 2
  + admitted: 1
1 passed, 1 failed
";
    assert_eq!((ran.status, ran.out.as_str()), (1, expected));
}

#[test]
fn the_schema_is_json() {
    let ran = Workshop::with("").run(&["schema"]);
    let schema: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(schema["title"], "Tollgate policy");
}

#[test]
fn the_summary_says_who_was_refused() {
    let workshop = Workshop::with(
        "
identity:
  user: { header: x-user, from: anyone }
  plan: { header: x-plan, from: anyone, default: free }
limits:
  per-user:
    key: [user]
    by: plan
    fixed_window: { free: { limit: 1, window: 1h }, paid: { limit: 3, window: 1h } }
  everybody: { key: [], leaky_bucket: { rate: 1/s, burst: 3 } }
routes: [{ match: { path: /** }, limits: [per-user, everybody] }]
",
    );
    let request = |time: u32, user: &str, plan: &str| {
        format!("{{\"time\":{time},\"headers\":{{\"x-user\":\"{user}\",\"x-plan\":\"{plan}\"}}}}\n")
    };
    let trace = [
        (0, "ada", "free"),
        (0, "ada", "free"),
        (0, "bob", "paid"),
        (7, "ada", "free"),
        (7, "bob", "paid"),
    ];
    let text: String = trace.iter().map(|(time, user, plan)| request(*time, user, plan)).collect();
    workshop.write("r.jsonl", format!("{text}{{\"time\":8,\"path\":\"/%2F\"}}\n"));
    let ran = workshop.run(&["replay", "--policy", "policy.yaml", "--requests", "r.jsonl"]);
    let expected = "\
6 requests from 1970-01-01T00:00:00Z to 1970-01-01T00:00:08Z (8 s)
  admitted                2   33.3 %
  delayed                 1   16.6 %  longest 1 s
  refused                 2   33.3 %
  rejected                1   16.6 %  before any limit: impossible path, missing identity or no route

  limit (class)              asked          refused
  per-user (free)                3                2   66.6 %
  per-user (paid)                2                0    0.0 %
  everybody                      5                0    0.0 %

  refused most often
                2  per-user: ada

  busiest second
                3  asked, 1970-01-01T00:00:00Z
                2  passed, 1970-01-01T00:00:00Z
                1  refused, 1970-01-01T00:00:00Z
";
    assert_eq!(ran.err, expected);
}
