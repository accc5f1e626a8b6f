//! Answers that arrive in virtual time, and what they give back.

use crate::workshop::{Workshop, words};

const LOGIN: &str = "
limits:
  failures: { key: [ip], sliding_log: { limit: 1, window: 1m }, charge_when: { status: [401] } }
routes: [{ match: { path: /** }, limits: [failures] }]
";

#[test]
fn an_answer_that_does_not_count_gives_back_before_requests_of_its_microsecond() {
    let decisions = Workshop::with(LOGIN).replay_lines(&[
        r#"{"time":0,"duration":1}"#,
        r#"{"time":0.999999,"duration":5}"#,
        r#"{"time":1,"duration":0}"#,
        r#"{"time":1,"status":401}"#,
        r#"{"time":60.999999}"#,
        r#"{"time":61}"#,
    ]);
    assert_eq!(words(&decisions), ["admit", "refuse", "admit", "admit", "refuse", "admit"]);
}

#[test]
fn an_answer_that_never_comes_keeps_its_charge() {
    let decisions =
        Workshop::with(LOGIN).replay_lines(&[r#"{"time":0,"status":0}"#, r#"{"time":59}"#]);
    assert_eq!(words(&decisions), ["admit", "refuse"]);
}

#[test]
fn an_answer_arrives_after_delay_and_duration() {
    let decisions = Workshop::with(
        "
limits:
  failures: { key: [ip], fixed_window: { limit: 2, window: 1h }, charge_when: { status: [401] } }
  pace: { key: [], leaky_bucket: { rate: 1/s, burst: 9 } }
routes:
  - { match: { path: /login }, limits: [failures, pace] }
  - { match: { path: /probe }, limits: [failures] }
",
    )
    .replay_lines(&[
        r#"{"time":0,"path":"/login","status":401}"#,
        r#"{"time":0,"path":"/login","duration":0.5}"#,
        r#"{"time":1.499999,"path":"/probe"}"#,
        r#"{"time":1.5,"path":"/probe"}"#,
    ]);
    assert_eq!(words(&decisions), ["admit", "delay", "refuse", "admit"]);
    assert_eq!(decisions[1]["delay_us"], 1_000_000);
}
