//! Tests of the tests: each expectation can hold, and can fail.

use std::path::Path;

use tollgate_policy::Policy;
use tollgate_policy::file::{self, Surroundings};

use super::run;

const POLICY: &str = "
limits:
  few: { key: [ip], token_bucket: { rate: 1/s, burst: 2 } }
  paced: { key: [], leaky_bucket: { rate: 1/s, burst: 5 } }
routes:
  - { match: { path: /few/** }, limits: [few] }
  - { match: { path: /paced }, limits: [paced] }
tests:
";

/// What differs in the one test that `requests` make.
fn differences(requests: &str) -> String {
    let text = format!(
        "{POLICY}  - name: it\n    defaults: {{ ip: 203.0.113.9 }}\n    requests:\n{requests}"
    );
    let read = file::read("p.yaml", &text, &Surroundings::new(Path::new(".")));
    let read = read.unwrap_or_else(|report| panic!("{}", report.render()));
    let policy = Policy::compile(read.settings).expect("it compiles");
    let differences = run(policy, &read.tests[0]).expect("the store answers");
    differences.iter().map(ToString::to_string).collect()
}

#[test]
fn what_is_as_expected_says_nothing() {
    let found = differences(
        "
      - { path: /few/a, repeat: 2, expect: { decision: admit, remaining: { few: 0 }, route: 0 } }
      - { path: /few/a, expect: { decision: refuse, refused_by: [few], retry_after: 1s } }
      - { path: /few/a, cost: 0, expect: { decision: admit, retry_after_us: 0, delay_us: 0 } }
      - { path: /few/a, after: 1s, expect: { admitted: 1, refused: 0 } }
      - { path: /paced, repeat: 3, expect: { admitted: 3, delayed: 2 } }
      - { path: /paced, expect: { decision: delay, delay: 3s } }
      - { path: /few/a, cost: 3, expect: { retry_after: never } }
      - { path: /other, expect: { decision: admit, route: null } }
",
    );
    assert_eq!(found, "");
}

#[test]
fn what_differs_is_shown_as_a_diff() {
    let found = differences(
        "
      - path: /few/a
        repeat: 4
        expect: { decision: admit, refused_by: [], remaining: { few: 1, paced: 1 }, admitted: 4 }
      - path: /paced
        expect: { decision: refuse, delay: 1s, retry_after: 2s, route: null, delayed: 1 }
",
    );
    insta::assert_snapshot!(found, @r"
    request 3 of 4: GET /few/a from 203.0.113.9 at 2026-01-01T00:00:00Z
      - decision: admit
      + decision: refuse, by [few]
      - refused_by: []
      + refused_by: [few]
    after 4 requests
      - remaining of few: 1
      + remaining of few: 0
      - remaining of paced: 1
      + remaining of paced: the limit was not asked
      - admitted: 4
      + admitted: 2
    GET /paced from 203.0.113.9 at 2026-01-01T00:00:00Z
      - decision: refuse
      + decision: admit
      - retry_after: 2s
      + retry_after: not refused
      - delay: 1s
      + delay: 0s
      - route: none
      + route: 1
    after 1 request
      - delayed: 1
      + delayed: 0
    ");
}

#[test]
fn answers_that_do_not_count_are_given_back() {
    let text = "
limits:
  failures: { key: [ip], sliding_log: { limit: 1, window: 1m }, charge_when: { status: [401] } }
routes: [{ match: { path: /** }, limits: [failures] }]
tests:
  - name: it
    defaults: { ip: 203.0.113.9, duration: 1s }
    requests:
      - { status: 200, expect: { decision: admit } }
      - { at: 999ms, status: 200, expect: { decision: refuse } }
      - { at: 1s, status: 401, expect: { decision: admit } }
      - { at: 60s, expect: { decision: refuse } }
";
    let read = file::read("p.yaml", text, &Surroundings::new(Path::new("."))).expect("it reads");
    let policy = Policy::compile(read.settings).expect("it compiles");
    assert_eq!(run(policy, &read.tests[0]), Ok(Vec::new()));
}
