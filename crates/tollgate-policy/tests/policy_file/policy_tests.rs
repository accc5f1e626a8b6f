//! The `tests:` section: what it means, and what is wrong in it.

use tollgate_core::{Micros, Timestamp};
use tollgate_policy::file::{
    self, Expect, ExpectedDecision, ExpectedRetry, Surroundings, TestCase,
};

use super::{errors, meaning};

const START: u64 = 1_767_225_600_000_000;

fn policy(tests: &str) -> String {
    format!(
        "limits: {{ api: {{ key: [ip], sliding_window: {{ limit: 5, window: 1m }} }} }}\n\
         routes: [{{ limits: [api] }}]\ntests:\n{tests}"
    )
}

fn cases(tests: &str) -> Vec<TestCase> {
    meaning(&policy(tests)).tests
}

#[test]
fn a_flood_in_three_lines() {
    let cases = cases(
        "- name: flood\n  requests:\n\
         \x20 - { repeat: 30, every: 2s, ip: \"203.0.113.{n}\", path: \"/x?n={n}\", expect: { admitted: 5, refused: 25 } }\n\
         \x20 - { after: 1s, expect: { decision: refuse, refused_by: api, retry_after: 59s, remaining: { api: 0 } } }\n",
    );
    let case = &cases[0];
    assert_eq!((case.name.as_str(), case.place.line, case.steps.len()), ("flood", 4, 2));
    let requests: Vec<_> = case.steps[0].requests().collect();
    assert_eq!(requests.len(), 30);
    assert_eq!(requests[29].time, Timestamp::from_micros(START + 58_000_000));
    assert_eq!(requests[29].ip, Some("203.0.113.29".parse().unwrap()));
    assert_eq!((requests[7].path.as_str(), requests[7].method.as_str()), ("/x?n=7", "GET"));
    assert_eq!(case.steps[0].expect.admitted, Some(5));
    assert_eq!(case.steps[1].time, Timestamp::from_micros(START + 59_000_000));
    assert_eq!(
        case.steps[1].expect,
        Expect {
            decision: Some(ExpectedDecision::Refuse),
            refused_by: Some(vec!["api".to_owned()]),
            retry_after: Some(ExpectedRetry::After(Micros::from_secs(59))),
            remaining: vec![("api".to_owned(), 0)],
            ..Expect::default()
        }
    );
}

#[test]
fn everything_a_request_may_say() {
    let cases = cases(
        "- name: all\n  start: 2026-03-01T00:00:00Z\n\
         \x20 defaults: { ip: 192.0.2.1, headers: { X-A: a, X-B: b }, status: 401 }\n  requests:\n\
         \x20 - { time: 1772323200.25, method: POST, path: /login, headers: { x-a: own }, basic: ada,\n\
         \x20     body: hello, cost: 3, status: 200, duration: 0.3, expect: { delay: 250ms, route: 0 } }\n\
         \x20 - { at: 10s, duration: 300ms, expect: { retry_after: never, route: } }\n",
    );
    let step = &cases[0].steps[0];
    let request = step.request(0);
    assert_eq!(request.time, Timestamp::from_micros(1_772_323_200_250_000));
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/login"));
    let headers: Vec<(&str, &str)> =
        request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let basic = ("authorization", "Basic YWRhOnRvbGxnYXRl");
    assert_eq!(headers, [("x-b", "b"), ("x-a", "own"), basic]);
    assert_eq!((request.body.as_deref(), request.cost), (Some("hello"), Some(3)));
    assert_eq!((request.status, request.duration), (200, Micros::new(300_000)));
    assert_eq!(step.expect.delay, Some(Micros::new(250_000)));
    assert_eq!(step.expect.route, Some(Some(0)));
    let second = cases[0].steps[1].request(0);
    assert_eq!(second.time, Timestamp::from_micros(1_772_323_210_000_000));
    assert_eq!((second.status, second.duration), (401, Micros::new(300_000)));
    assert_eq!(cases[0].steps[1].expect.retry_after, Some(ExpectedRetry::Never));
    assert_eq!(cases[0].steps[1].expect.route, Some(None));
}

#[test]
fn mistakes() {
    for (request, words) in [
        ("{ repeat: 0 }", "write 1 to"),
        ("{ repeat: 300, ip: \"192.0.2.{n}\" }", "`192.0.2.299` is no address"),
        ("{ ip: here }", "`here` is no address"),
        ("{ time: 5, at: 5s }", "a request comes at one time"),
        ("{ time: 5, expect: { limit: api, refused_by: api } }", "says the same as `limit`"),
        ("{ time: 1.1234567 }", "no time"),
        ("{ time: yesterday }", "no time"),
        ("{ status: 99 }", "100 to 599"),
        ("{ expect: { decision: denied } }", "`admit`, `delay`, `refuse`"),
        ("{ expect: { refused_by: [apy] } }", "did you mean `api`?"),
        ("{ expect: { remaining: { apy: 1 } } }", "did you mean `api`?"),
        ("{ expect: { remaning: 1 } }", "did you mean `remaining`?"),
    ] {
        let found = errors(&policy(&format!("- name: a\n  requests:\n  - {request}\n")));
        assert_eq!(found.len(), 1, "{found:#?} of {request}");
        assert!(found[0].contains(words), "{words:?} not in {found:#?}");
        assert!(found[0].starts_with("6:"), "{found:#?}");
    }
    let twice = "- { name: a, requests: [] }\n- { name: a, requests: [] }\n";
    assert!(errors(&policy(twice))[0].contains("two tests are named `a`"));
}

#[test]
fn a_request_before_the_one_above() {
    let found = errors(&policy("- requests:\n  - { time: 5 }\n  - { time: 4.5 }\n"));
    assert!(found[0].starts_with("6:7 this is before the request above"), "{found:#?}");
    let found = errors(&policy("- start: 2026-01-01T00:00:00Z\n  requests:\n  - { time: 5 }\n"));
    assert!(found[0].starts_with("6:7 this is before the request above"), "{found:#?}");
}

/// Requests as trace lines have them, and expectations in the words of decision lines.
#[test]
fn the_words_of_a_trace_will_do() {
    let cases = cases(
        "- requests:\n\
         \x20 - { time: 0, ip: 192.0.2.1, expect: admit }\n\
         \x20 - { time: 1.5, headers: { x-a: 5 }, expect: { decision: refuse, limit: api, retry_after_us: 58500000 } }\n\
         \x20 - { after: 0.5, expect: { decision: delay, delay_us: 7 } }\n\
         \x20 - { after: 0, expect: { retry_after_us: null, refused_by: [] } }\n\
         \x20 - { at: 1m, expect: { retry_after: 0.25 } }\n",
    );
    let case = &cases[0];
    assert_eq!((case.name.as_str(), case.start), ("line 4", Timestamp::EPOCH));
    let times: Vec<u64> = case.steps.iter().map(|step| step.time.as_micros()).collect();
    assert_eq!(times, [0, 1_500_000, 2_000_000, 2_000_000, 60_000_000]);
    let expect = |step: usize| &case.steps[step].expect;
    let after = |micros| Some(ExpectedRetry::After(Micros::new(micros)));
    assert_eq!(expect(0).decision, Some(ExpectedDecision::Admit));
    assert_eq!(expect(1).refused_by, Some(vec!["api".to_owned()]));
    assert_eq!(expect(1).retry_after, after(58_500_000));
    assert_eq!(expect(2).delay, Some(Micros::new(7)));
    assert_eq!(expect(3).retry_after, Some(ExpectedRetry::Never));
    assert_eq!(expect(3).refused_by, Some(Vec::new()));
    assert_eq!(expect(4).retry_after, after(250_000));
}

#[test]
fn tests_in_a_file_of_their_own() {
    let settings = meaning(&policy("  []\n")).settings;
    let world = Surroundings::new(".");
    let read = |text: &str| file::read_tests("t.yaml", text, &settings, &world);
    let fine = "tests: [{ name: a, requests: [{ expect: { refused_by: [api] } }] }]\n";
    assert_eq!(read(fine).unwrap().len(), 1);
    let wrong = read("tests: [{ name: a, requests: [{ expect: { refused_by: [other] } }] }]\n");
    assert!(wrong.unwrap_err().to_string().contains("there is no limit `other`"));
    assert!(read("routes: []\n").is_err());
}
