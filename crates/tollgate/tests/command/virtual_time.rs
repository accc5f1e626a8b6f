//! Decisions in the trace's own time: the fields of a line, by algorithm.

use serde_json::{Value, json};

use crate::workshop::{Workshop, words};

/// A policy of one limit that counts everybody together.
fn one_limit(algorithm: &str) -> Workshop {
    Workshop::with(&format!(
        "limits:\n  it: {{ key: [], {algorithm} }}\nroutes: [{{ match: {{ path: /** }}, limits: [it] }}]\n"
    ))
}

/// One line as `decision delay retry remaining reset`.
fn brief(line: &Value) -> String {
    let limit = &line["limits"][0];
    let retry = &line["retry_after_us"];
    let word = line["decision"].as_str().expect("a word");
    format!("{word} {} {retry} {} {}", line["delay_us"], limit["remaining"], limit["reset_us"])
}

#[track_caller]
fn assert_trace(algorithm: &str, trace: &[(&str, &str)]) {
    let workshop = one_limit(algorithm);
    let lines: Vec<String> =
        trace.iter().map(|(request, _)| format!("{{\"time\":{request}}}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let decisions = workshop.replay_lines(&lines);
    let found: Vec<String> = decisions.iter().map(brief).collect();
    let expected: Vec<&str> = trace.iter().map(|(_, expected)| *expected).collect();
    assert_eq!(found, expected, "{algorithm}");
}

#[test]
fn a_line_has_the_fields_of_the_design_in_its_order() {
    let workshop = Workshop::with(
        "
limits:
  wide: { key: [], fixed_window: { limit: 5, window: 1m }, shadow: true }
  narrow: { key: [ip], fixed_window: { limit: 1, window: 1m } }
routes:
  - { match: { path: /free }, limits: [] }
  - { match: { path: /v1/** }, limits: [narrow, wide] }
",
    );
    workshop.write(
        "r.jsonl",
        r#"{"time": 1767225600.25, "ip": "203.0.113.9", "path": "/v1/x", "cost": 1}

{"time": "2026-01-01T00:00:00.5Z", "ip": "203.0.113.9", "path": "/v1/x?y"}
{"time": 1767225601, "path": "/free"}
{"time": 1767225601, "path": "/other"}
{"time": 1767225601, "ip": "203.0.113.8", "path": "/v1/x", "cost": 7}
"#,
    );
    let arguments =
        ["replay", "--policy", "policy.yaml", "--requests", "r.jsonl", "--decisions", "-"];
    let ran = workshop.run(&arguments);
    let expected = [
        r#"{"line":1,"decision":"admit","delay_us":0,"retry_after_us":0,"refused_by":[],"route":1,"limits":[{"name":"narrow","remaining":0,"reset_us":59750000},{"name":"wide","remaining":4,"reset_us":59750000,"shadow":true,"would_refuse":false}]}"#,
        r#"{"line":3,"decision":"refuse","delay_us":0,"retry_after_us":59500000,"refused_by":["narrow"],"route":1,"limits":[{"name":"narrow","remaining":0,"reset_us":59500000},{"name":"wide","remaining":4,"reset_us":59500000,"shadow":true,"would_refuse":false}]}"#,
        r#"{"line":4,"decision":"admit","delay_us":0,"retry_after_us":0,"refused_by":[],"route":0,"limits":[]}"#,
        r#"{"line":5,"decision":"admit","delay_us":0,"retry_after_us":0,"refused_by":[],"route":null,"limits":[]}"#,
        r#"{"line":6,"decision":"refuse","delay_us":0,"retry_after_us":null,"refused_by":["narrow"],"route":1,"limits":[{"name":"narrow","remaining":1,"reset_us":0},{"name":"wide","remaining":4,"reset_us":59000000,"shadow":true,"would_refuse":true}]}"#,
    ];
    assert_eq!(ran.out.lines().collect::<Vec<_>>(), expected, "{}", ran.err);
}

#[test]
fn token_bucket() {
    let trace = [
        ("0,\"cost\":2", "admit 0 0 0 2000000"),
        ("0.5", "refuse 0 500000 0 1500000"),
        ("0.999999", "refuse 0 1 0 1000001"),
        ("1", "admit 0 0 0 2000000"),
        ("9,\"cost\":3", "refuse 0 null 2 0"),
    ];
    assert_trace("token_bucket: { rate: 1/s, burst: 2 }", &trace);
}

#[test]
fn an_initially_empty_bucket_counts_from_the_first_request() {
    let trace = [("100", "refuse 0 1000000 0 2000000"), ("101", "admit 0 0 0 2000000")];
    assert_trace("token_bucket: { rate: 1/s, burst: 2, initial: empty }", &trace);
}

#[test]
fn leaky_bucket() {
    let trace = [
        ("0", "admit 0 0 1 1000000"),
        ("0.25", "delay 750000 0 0 1750000"),
        ("0.25", "refuse 0 750000 0 1750000"),
    ];
    assert_trace("leaky_bucket: { rate: 1/s, burst: 1 }", &trace);
}

#[test]
fn fixed_window() {
    let trace = [
        ("59.9", "admit 0 0 0 100000"),
        ("59.95", "refuse 0 50000 0 50000"),
        ("60", "admit 0 0 0 60000000"),
    ];
    assert_trace("fixed_window: { limit: 1, window: 1m }", &trace);
}

#[test]
fn sliding_window() {
    let trace = [
        ("0", "admit 0 0 1 20000000"),
        ("0", "admit 0 0 0 20000000"),
        ("15", "admit 0 0 0 15000000"),
        ("15", "refuse 0 5000000 0 15000000"),
    ];
    assert_trace("sliding_window: { limit: 2, window: 10s }", &trace);
}

#[test]
fn sliding_log() {
    let trace = [
        ("0", "admit 0 0 0 3000000"),
        ("2.999999", "refuse 0 1 0 1"),
        ("3", "admit 0 0 0 3000000"),
    ];
    assert_trace("sliding_log: { limit: 1, window: 3s }", &trace);
}

#[test]
fn quota() {
    let trace = [
        ("\"2026-03-29T00:30:00+01:00\"", "admit 0 0 0 81000000000"),
        ("\"2026-03-29T23:59:59+02:00\"", "refuse 0 1000000 0 1000000"),
        ("\"2026-03-30T00:00:00+02:00\"", "admit 0 0 0 86400000000"),
    ];
    assert_trace("quota: { limit: 1, every: day, time_zone: Europe/Berlin }", &trace);
}

#[test]
fn a_slot_that_ends_is_free_in_the_same_microsecond() {
    let trace = [
        ("0,\"duration\":0.5", "admit 0 0 0 500000"),
        ("0.499999", "refuse 0 0 0 1"),
        ("0.5,\"duration\":9", "admit 0 0 0 2000000"),
        ("2.499999", "refuse 0 0 0 1"),
        ("2.5", "admit 0 0 1 0"),
    ];
    assert_trace("concurrency: { limit: 1, ttl: 2s }", &trace);
}

#[test]
fn a_time_that_steps_back_is_read_as_the_latest() {
    let trace = [
        ("10", "admit 0 0 1 3000000"),
        ("4", "admit 0 0 0 3000000"),
        ("12.999999", "refuse 0 1 0 1"),
        ("13", "admit 0 0 1 3000000"),
    ];
    assert_trace("sliding_log: { limit: 2, window: 3s }", &trace);
}

#[test]
fn shadow_mode_reports_what_enforce_decides() {
    let workshop = one_limit("fixed_window: { limit: 1, window: 1m }");
    workshop.write("r.jsonl", "{\"time\":0}\n{\"time\":1}\n");
    let enforced = workshop.replay(&["r.jsonl"], &[]);
    assert_eq!(workshop.replay(&["r.jsonl"], &["--mode", "shadow"]), enforced);
    assert_eq!(words(&enforced), ["admit", "refuse"]);
    let off = workshop.replay(&["r.jsonl"], &["--mode", "off"]);
    assert_eq!(words(&off), ["admit", "admit"]);
    assert_eq!(off[1]["limits"], json!([]));
}
