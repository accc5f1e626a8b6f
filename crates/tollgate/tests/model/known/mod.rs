//! Cases with known answers: the model itself is checked with them before anything is compared with it.

mod buckets;
mod calendars;
mod several;
mod windows;

use super::policy::{Algorithm, Burst, Class, Cost, Limit, Missing, Policy, Rate, Route, Span};
use super::rules::Replay;
use super::trace::{Decision, Request, Verdict};

const SECOND: i64 = 1_000_000;

/// One limit for everybody.
fn limit(name: &str, algorithm: Algorithm) -> Limit {
    Limit {
        name: name.to_owned(),
        key: Vec::new(),
        by_plan: false,
        classes: vec![Class { name: None, algorithm: Some(algorithm) }],
        missing: Missing::Default,
        shadow: false,
        count_refused: false,
        overdraw: false,
        max_debt: None,
        charge_when: None,
    }
}

/// A replay of those limits on one route.
fn replay(limits: Vec<Limit>) -> Replay {
    let route =
        Route { path: "/".to_owned(), limits: (0..limits.len()).collect(), cost: Cost::Default };
    Replay::new(&Policy { limits, routes: vec![route] })
}

fn span(micros: i64) -> Span {
    Span { micros, text: String::new() }
}

fn rate(count: u64, per_micros: i64) -> Rate {
    Rate { count, per_micros, text: String::new() }
}

fn token_bucket(count: u64, per_micros: i64, burst: u64) -> Algorithm {
    Algorithm::TokenBucket {
        rate: rate(count, per_micros),
        burst: Burst::Units(burst),
        starts_empty: false,
    }
}

fn at(time: i64, cost: u64) -> Request {
    Request { time, path: "/".to_owned(), cost: Some(cost), ..Request::default() }
}

/// How many of so many requests of cost 1 pass.
fn passing(replay: &mut Replay, requests: usize, time: i64) -> usize {
    (0..requests).filter(|_| passes(&replay.next(&at(time, 1)))).count()
}

fn passes(decision: &Decision) -> bool {
    !matches!(decision.verdict, Verdict::Refuse { .. })
}

fn remaining(decision: &Decision) -> Vec<u64> {
    decision.limits.iter().map(|report| report.remaining).collect()
}

/// The retry time of a refusal.
fn retry(decision: &Decision) -> Option<i64> {
    match &decision.verdict {
        Verdict::Refuse { retry_after, .. } => *retry_after,
        passed => panic!("refused was expected, not {passed:?}"),
    }
}
