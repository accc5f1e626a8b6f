//! The engine on the memory store: several limits, reloads, modes, the end of a request.

mod calendar;
mod sources;

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use tollgate_core::{Micros, Retry};
use tollgate_store::MemoryStore;

use super::*;
use crate::testing::{Request, at, engine, policy, settings};
use crate::{Charges, CompileError, Ends, Facts, Place, Verdict};

/// The memory store answers at once.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the memory store waits"),
    }
}

fn one_limit(limit: &str) -> String {
    format!("limits:\n  one: {limit}\nroutes:\n  - {{ limits: [one] }}\n")
}

fn get() -> Request {
    Request::get("/")
}

fn remaining(decision: &crate::Decision) -> Vec<u64> {
    decision.limits.iter().map(|report| report.standing.remaining).collect()
}

fn seconds(count: u64) -> Retry {
    Retry::After(Micros::from_secs(count))
}

#[test]
fn mul_01_a_refused_request_takes_nothing() {
    let engine = engine(
        "
limits:
  minute: { key: [ip], token_bucket: { rate: 10/m } }
  half-hour: { key: [ip], token_bucket: { rate: 30 per 30m } }
routes:
  - { limits: [minute, half-hour] }
",
    );
    let passed = (0..31).filter(|_| get().passes(&engine, 0)).count();
    assert_eq!(passed, 10);
    let decision = get().decide_at(&engine, at(0));
    assert_eq!(remaining(&decision), [0, 20]);
    let refused: Vec<_> = decision.refused_by().map(|report| report.name.as_str()).collect();
    assert_eq!(refused, ["minute"]);
    assert_eq!(decision.deciding().map(|report| report.name.as_str()), Some("minute"));
}

#[test]
fn mul_03_an_oversize_request_burns_nothing() {
    for limit in [
        "{ key: [ip], token_bucket: { rate: 10/m } }",
        "{ key: [ip], leaky_bucket: { rate: 10/m, burst: 9, nodelay: true } }",
        "{ key: [ip], fixed_window: { limit: 10, window: 1m } }",
        "{ key: [ip], sliding_window: { limit: 10, window: 1m, cells: 6 } }",
        "{ key: [ip], sliding_log: { limit: 10, window: 1m } }",
        "{ key: [ip], quota: { limit: 10, every: day } }",
        "{ key: [ip], concurrency: { limit: 10, ttl: 1m } }",
    ] {
        let engine = engine(&one_limit(limit));
        let call = |cost| {
            let decision = get().cost(cost).decide_at(&engine, at(0));
            (decision.verdict == Verdict::Admit, remaining(&decision)[0])
        };
        assert_eq!([call(8), call(5), call(1)], [(true, 2), (false, 2), (true, 1)], "{limit}");
    }
}

#[test]
fn mul_05_refusals_do_not_hide_a_raised_quota() {
    let quota = |limit: u32| {
        one_limit(&format!("{{ key: [ip], quota: {{ limit: {limit}, every: day }} }}"))
    };
    let engine = engine(&quota(10));
    assert_eq!((0..20).filter(|_| get().passes(&engine, 0)).count(), 10);
    engine.reload(policy(&quota(20)), at(1));
    assert_eq!((0..10).filter(|_| get().passes(&engine, 2)).count(), 10);
    assert_eq!(remaining(&get().decide_at(&engine, at(3))), [0]);
}

#[test]
fn cal_02_and_06_quotas_reset_with_the_calendar() {
    let day = |zone: &str, limit: u32| {
        engine(&one_limit(&format!(
            "{{ key: [ip], quota: {{ limit: {limit}, every: day, time_zone: {zone} }} }}"
        )))
    };
    let moment = |text: &str| {
        let moment: jiff::Timestamp = text.parse().expect("a moment");
        Timestamp::from_micros(moment.as_microsecond() as u64)
    };
    for (now, wait) in [("2026-03-08T05:30:00Z", 81_000), ("2026-11-01T04:00:00Z", 90_000)] {
        let engine = day("America/New_York", 100);
        assert_eq!(get().cost(100).decide_at(&engine, moment(now)).verdict, Verdict::Admit);
        let decision = get().decide_at(&engine, moment(now));
        assert_eq!(decision.verdict, Verdict::Refuse(seconds(wait)));
        let window = decision.limits[0].window.expect("a day");
        assert_eq!(window, Micros::from_secs(if wait == 81_000 { 82_800 } else { 90_000 }));
    }
    let engine = day("UTC", 10);
    assert_eq!(
        get().cost(10).decide_at(&engine, moment("2026-09-08T18:00:00Z")).verdict,
        Verdict::Admit
    );
    let start = moment("2026-09-09T00:05:00Z").as_micros();
    let call =
        |n: u64| get().decide_at(&engine, Timestamp::from_micros(start + n * 20_000_000)).verdict;
    assert_eq!((0..15).filter(|n| call(*n) == Verdict::Admit).count(), 10);
}

#[test]
fn cal_04_a_quota_over_a_midnight_that_is_not_there() {
    let engine = engine(&one_limit(
        "{ key: [ip], quota: { limit: 1, every: day, time_zone: America/Santiago } }",
    ));
    let moment = |seconds: u64| Timestamp::from_micros((1_788_667_198 + seconds) * 1_000_000);
    assert_eq!(get().decide_at(&engine, moment(0)).verdict, Verdict::Admit);
    assert_eq!(get().decide_at(&engine, moment(1)).verdict, Verdict::Refuse(seconds(1)));
    assert_eq!(get().decide_at(&engine, moment(2)).verdict, Verdict::Admit);
}

#[test]
fn rel_01_a_reload_refills_nothing() {
    let yaml = one_limit("{ key: [ip], token_bucket: { rate: 1 per 10s, burst: 10 } }");
    let engine = engine(&yaml);
    assert_eq!((0..10).filter(|_| get().passes(&engine, 0)).count(), 10);
    for second in 1..=3 {
        assert_eq!(engine.reload(policy(&yaml), at(second)), second + 1);
        assert!(!get().passes(&engine, second));
    }
    assert!(get().passes(&engine, 10));
}

#[test]
fn rel_03_remaining_is_never_above_the_new_limit() {
    let quota = |limit: u32| {
        one_limit(&format!("{{ key: [ip], quota: {{ limit: {limit}, every: day }} }}"))
    };
    let engine = engine(&quota(5_000_000));
    assert_eq!(get().cost(35).decide_at(&engine, at(0)).verdict, Verdict::Admit);
    engine.reload(policy(&quota(10)), at(1));
    let decision = get().decide_at(&engine, at(1));
    assert!(matches!(decision.verdict, Verdict::Refuse(_)));
    assert_eq!((remaining(&decision)[0], decision.limits[0].quota), (0, 10));
}

#[test]
fn rel_06_two_limits_of_one_name_are_refused() {
    let mut twice =
        settings(&one_limit("{ key: [ip], fixed_window: { limit: 6945, window: 60s } }"));
    twice.limits.push(twice.limits[0].clone());
    let CompileError { problems } = Policy::compile(twice).expect_err("twice");
    assert_eq!(problems[0].place, Place::Limit(1));
    let engine = engine(&one_limit("{ key: [ip], fixed_window: { limit: 6945, window: 60s } }"));
    engine.reload(
        policy(&one_limit("{ key: [ip], fixed_window: { limit: 70, window: 60s } }")),
        at(0),
    );
    let decision = get().decide_at(&engine, at(0));
    assert_eq!(decision.limits.len(), 1);
    assert_eq!((decision.limits[0].quota, remaining(&decision)[0]), (70, 69));
}

#[test]
fn rel_08_a_policy_that_is_wrong_changes_nothing() {
    let engine = engine(&one_limit("{ key: [ip], fixed_window: { limit: 10, window: 60s } }"));
    let mut wrong =
        settings(&one_limit("{ key: [ip], fixed_window: { limit: 100, window: 60s } }"));
    wrong.routes[0].limits = vec![0, 0, 7];
    wrong.limits[0].key = vec![crate::settings::IdentityRef::Declared(3)];
    let error = Policy::compile(wrong).expect_err("three mistakes");
    assert_eq!(error.problems.len(), 3, "{error}");
    assert_eq!(engine.version(), 1);
    assert_eq!(get().decide_at(&engine, at(0)).limits[0].quota, 10);
}

#[test]
fn a_changed_shape_begins_fresh_and_a_kept_one_does_not() {
    let before = "identity: { u: { header: x-u, from: anyone } }\nlimits:\n  one: { key: [u], fixed_window: { limit: 5, window: 1m } }\nroutes:\n  - { limits: [one] }\n";
    let cases = [
        (before.replace("limit: 5", "limit: 4"), 2),
        (before.replace("window: 1m", "window: 60s"), 3),
        (before.replace("window: 1m", "window: 2m"), 4),
        (before.replace("key: [u]", "key: []"), 4),
        (
            before
                .replace("header: x-u", "header: x-v")
                .replace("key: [u]", "key: [u], missing: share"),
            4,
        ),
        (before.replace("fixed_window", "sliding_window"), 4),
    ];
    for (after, left) in cases {
        let engine = engine(before);
        let call = || get().header("x-u", "a").decide_at(&engine, at(0));
        assert_eq!(remaining(&call()), [4]);
        engine.reload(policy(&after), at(0));
        assert_eq!(remaining(&call()), [left], "{after}");
    }
}

#[test]
fn a_bucket_that_starts_empty_was_empty_when_first_loaded() {
    let yaml = |rate: &str| {
        one_limit(&format!(
            "{{ key: [ip], token_bucket: {{ rate: {rate}, burst: 100, initial: empty }} }}"
        ))
    };
    let engine = engine(&yaml("1/s"));
    assert!(!get().passes(&engine, 0));
    engine.reload(policy(&yaml("1/s")), at(30));
    let newcomer = get().client("192.0.2.1").decide_at(&engine, at(40));
    assert_eq!(remaining(&newcomer), [39]);
}

#[test]
fn modes() {
    let engine = engine(
        "
identity:
  user: { header: x-user, from: anyone }
limits:
  one: { key: [ip], token_bucket: { rate: 1/m } }
  who: { key: [user], missing: reject, token_bucket: { rate: 9/m } }
routes:
  - { match: { path: /who }, limits: [who] }
  - { limits: [one] }
",
    );
    engine.set_mode(Mode::Shadow);
    assert_eq!(get().decide_at(&engine, at(0)).judged, Verdict::Admit);
    let over = get().decide_at(&engine, at(0));
    assert_eq!((over.verdict, over.judged), (Verdict::Admit, Verdict::Refuse(seconds(60))));
    assert_eq!(over.refused_by().count(), 1);
    let unknown = Request::get("/who").decide_at(&engine, at(0));
    assert_eq!(
        (unknown.verdict, unknown.route, unknown.limits.len()),
        (Verdict::Admit, Some(0), 0)
    );
    engine.set_mode(Mode::Off);
    let off = get().decide_at(&engine, at(0));
    assert_eq!((off.judged, off.route, off.limits.len()), (Verdict::Admit, Some(1), 0));
    engine.set_mode(Mode::Enforce);
    assert!(!get().passes(&engine, 0));
    assert!(matches!(Request::get("/who").rule_at(&engine, at(0)), Ruling::Rejected(_)));
}

const LOGIN: &str = "
limits:
  one: { key: [ip], sliding_log: { limit: 2, window: 1m }, charge_when: { status: [401, 403] } }
routes:
  - { limits: [one] }
";

#[test]
fn charges_are_given_back_where_the_status_does_not_count() {
    let engine = engine(LOGIN);
    let call = || get().decide_at(&engine, at(0));
    let success = call();
    assert!(success.needs_settling());
    engine.settle_now(success, Some(200), at(1)).expect("a store");
    let failure = call();
    engine.settle_now(failure, Some(401), at(1)).expect("a store");
    let unknown = call();
    engine.settle_now(unknown, None, at(1)).expect("a store");
    let refused = call();
    assert!(matches!(refused.verdict, Verdict::Refuse(_)) && !refused.needs_settling());
}

/// A shadow limit's own refusal was once given back, because the request itself was admitted.
#[test]
fn a_shadow_limits_counted_refusal_stands() {
    let engine = engine(&one_limit(
        "{ key: [ip], shadow: true, count_refused: true, charge_when: { status: [401] }, fixed_window: { limit: 1, window: 1m } }",
    ));
    assert!(get().passes(&engine, 0));
    let over = get().decide_at(&engine, at(0));
    assert!(over.verdict == Verdict::Admit && over.limits[0].refused);
    assert!(!over.needs_settling(), "nothing of it is given back");
}

#[test]
fn a_decision_is_settled_by_the_policy_that_made_it() {
    let engine = engine(LOGIN);
    let decision = get().decide_at(&engine, at(0));
    // Now 200 counts and 401 does not; the decision was made before.
    engine.reload(policy(&LOGIN.replace("[401, 403]", "[200]")), at(1));
    at_once(engine.settle(decision, Some(200), at(2))).expect("a store");
    assert_eq!(remaining(&get().decide_at(&engine, at(3))), [1], "the first was given back");
}

#[test]
fn what_a_limit_held_ends_with_it() {
    let engine = engine(&one_limit("{ key: [ip], concurrency: { limit: 1, ttl: 1m } }"));
    let decision = get().decide_at(&engine, at(0));
    for _ in 0..2 {
        engine.reload(policy(&one_limit("{ key: [], token_bucket: { rate: 1/m } }")), at(1));
    }
    assert_eq!(engine.settle_now(decision, Some(200), at(2)), Ok(()));
}

#[test]
fn a_snapshot_decides_on_after_a_reload() {
    let engine = engine(&one_limit("{ key: [ip], fixed_window: { limit: 5, window: 1m } }"));
    let held = engine.policy();
    engine.reload(
        policy(&one_limit("{ key: [ip], fixed_window: { limit: 50, window: 1m } }")),
        at(0),
    );
    let decide = |facts: &Facts<'_>| at_once(engine.decide_under(&held, facts, at(0), None));
    let Ok(Ruling::Decided(decision)) = get().facts(decide) else { panic!("no decision") };
    assert_eq!((decision.limits[0].quota, held.version(), engine.version()), (5, 1, 2));
}

#[test]
fn slots_are_freed_at_the_end() {
    let engine = engine(&one_limit("{ key: [ip], concurrency: { limit: 1, ttl: 1m } }"));
    let first = get().decide_at(&engine, at(0));
    assert_eq!(first.taken[0].ends, Ends::Release);
    assert!(!get().passes(&engine, 1));
    engine.settle_now(first, None, at(2)).expect("a store");
    assert!(get().passes(&engine, 2));
    // Where it is known how long a slot is held, it ends by itself.
    let hold = Some(Micros::from_secs(5));
    let decide =
        |facts: &Facts<'_>| engine.decide_now(facts, at(100), hold, &mut Charges::default());
    let Ok(Ruling::Decided(known)) = get().facts(decide) else { panic!("no decision") };
    assert!(!known.needs_settling());
    assert!(!get().passes(&engine, 104));
    assert!(get().passes(&engine, 105));
}

#[test]
fn a_request_that_waits_may_be_withdrawn() {
    let engine = engine(
        "
limits:
  queue: { key: [ip], leaky_bucket: { rate: 1/s, burst: 5 } }
  total: { key: [ip], fixed_window: { limit: 10, window: 1h } }
routes:
  - { limits: [queue, total] }
",
    );
    let wait = |seconds| Verdict::Delay(Micros::from_secs(seconds));
    assert_eq!(get().decide_at(&engine, at(0)).verdict, Verdict::Admit);
    let leaves = get().decide_at(&engine, at(0));
    assert_eq!(leaves.verdict, wait(1));
    assert!(!leaves.needs_settling() && leaves.taken.len() == 2);
    at_once(engine.withdraw(leaves, at(0))).expect("a store");
    let next = get().decide_at(&engine, at(0));
    assert_eq!((next.verdict, next.limits[1].standing.remaining), (wait(1), 8));
}

#[test]
fn shadow_limits_never_decide() {
    let engine = engine(
        "
limits:
  tried: { key: [ip], shadow: true, token_bucket: { rate: 1/m } }
  real:  { key: [ip], token_bucket: { rate: 3/m } }
routes:
  - { limits: [tried, real] }
",
    );
    assert!(get().passes(&engine, 0));
    let decision = get().decide_at(&engine, at(0));
    assert_eq!(decision.verdict, Verdict::Admit);
    assert!(decision.limits[0].refused && decision.limits[0].shadow);
    assert_eq!(decision.refused_by().count(), 0);
    assert_eq!(decision.deciding().map(|report| report.name.as_str()), Some("real"));
}

#[test]
fn a_set_of_threads_never_sees_half_a_policy() {
    // Each policy says the same number twice.
    let numbered = |number: u64| {
        let window = format!("{{ limit: {number}000000, window: 1h }}");
        policy(&one_limit(&format!(
            "{{ key: [ip], max_keys: {number}000000, fixed_window: {window} }}"
        )))
    };
    let engine = Engine::new(numbered(1), MemoryStore::default(), Mode::Enforce, at(0));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let engine = &engine;
            scope.spawn(move || {
                let request = get().client(&format!("192.0.2.{thread}"));
                for _ in 0..2_000 {
                    let held = engine.policy();
                    let decide =
                        |facts: &Facts<'_>| at_once(engine.decide_under(&held, facts, at(1), None));
                    match request.facts(decide) {
                        Ok(Ruling::Decided(decision)) => {
                            assert_eq!(
                                decision.limits[0].quota,
                                held.settings().limits[0].max_keys as u64
                            );
                        }
                        // Reloaded twice since: the store no longer knows the held policy.
                        Err(tollgate_store::StoreError::UnknownLimit(_)) => {
                            assert!(engine.version() > held.version() + 1)
                        }
                        other => panic!("{other:?}"),
                    }
                }
            });
        }
        for version in 2..50_u64 {
            engine.reload(numbered(version), at(1));
        }
    });
    assert_eq!(engine.version(), 49);
}

#[test]
fn a_memory_store_is_asked_at_once() {
    let engine: Engine<MemoryStore> =
        engine(&one_limit("{ key: [ip], token_bucket: { rate: 1/m } }"));
    let decide = |facts: &Facts<'_>| at_once(engine.decide(facts, at(0), None));
    let Ok(Ruling::Decided(decision)) = get().facts(decide) else { panic!("no decision") };
    assert_eq!(decision.verdict, Verdict::Admit);
    assert!(!get().passes(&engine, 0));
}
