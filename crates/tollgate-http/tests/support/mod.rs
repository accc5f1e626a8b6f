//! Limits that really count, and what is said of them on the wire.
#![allow(dead_code, reason = "each test file uses its part")]

use std::sync::Arc;

use http::HeaderMap;
use tollgate_core::{
    Algorithm, Asked, Burst, Concurrency, FixedWindow, Limit, Micros, Outcome, Rate, Retry, Rules,
    SlidingWindow, Standing, State, Timestamp, TokenBucket, step,
};
use tollgate_http::{Answer, Responder};
use tollgate_policy::settings::{
    Answers, Class, HeaderFamily, IdentityRef, LimitSettings, Missing, Refusal, ResetForm,
};
use tollgate_policy::{Decision, LimitReport, Verdict};
use tollgate_store::{OnStoreFailure, Source, SyncMode};

/// 2026-11-30 00:00:00 UTC.
pub(crate) const MIDNIGHT: u64 = 1_796_000_000 - 1_796_000_000 % 86_400;

/// A moment, in microseconds after midnight.
pub(crate) fn at(micros: u64) -> Timestamp {
    Timestamp::from_micros(MIDNIGHT * 1_000_000 + micros)
}

/// A moment, in seconds since the epoch.
pub(crate) fn unix(seconds: u64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

/// `count` units every `per`, at most `burst` at once, full at first.
pub(crate) fn bucket(count: u64, per: Micros, burst: u64) -> Algorithm {
    let rate = Rate { count, per };
    Algorithm::TokenBucket(TokenBucket { rate, burst: Burst::Units(burst), empty_at: None })
}

pub(crate) fn fixed(limit: u64, window: Micros) -> Algorithm {
    Algorithm::FixedWindow(FixedWindow { limit, window })
}

pub(crate) fn sliding(limit: u64, window: Micros) -> Algorithm {
    Algorithm::SlidingWindow(SlidingWindow { limit, window, cells: 1 })
}

pub(crate) fn slots(limit: u64) -> Algorithm {
    Algorithm::Concurrency(Concurrency { limit, ttl: Micros::from_secs(60) })
}

/// A limit's settings, with nothing out of the ordinary.
pub(crate) fn settings(name: &str, algorithm: Algorithm) -> LimitSettings {
    LimitSettings {
        name: Arc::from(name),
        key: vec![IdentityRef::Ip],
        by: None,
        classes: vec![Class { name: None, algorithm: Some(algorithm), calendar: None }],
        rules: Rules::default(),
        charge_when: None,
        missing: Missing::Ip,
        refusal: Refusal { status: 429, title: None, detail: None },
        max_keys: 1000,
        sync: SyncMode::Exact,
        on_store_failure: OnStoreFailure::Share,
    }
}

/// What the policy file's defaults are.
pub(crate) fn default_answers() -> Answers {
    Answers {
        headers: vec![HeaderFamily::Ietf, HeaderFamily::XRateLimit],
        reset: ResetForm::Epoch,
        retry_jitter: 0,
    }
}

/// The limits of one route and one key under each.
pub(crate) struct Route {
    pub(crate) answers: Answers,
    pub(crate) limits: Vec<LimitSettings>,
    states: Vec<State>,
}

impl Route {
    pub(crate) fn new(limits: Vec<LimitSettings>) -> Route {
        let states = limits.iter().map(|_| State::default()).collect();
        Route { answers: default_answers(), limits, states }
    }

    pub(crate) fn of(name: &str, algorithm: Algorithm) -> Route {
        Route::new(vec![settings(name, algorithm)])
    }

    pub(crate) fn responder(&self) -> Responder {
        Responder::new(&self.answers, &self.limits)
    }

    /// Asks all limits for `cost` at `now`.
    pub(crate) fn ask(&mut self, now: Timestamp, cost: u64) -> Decision {
        let compiled: Vec<Limit> = self.limits.iter().map(compile).collect();
        let mut asked: Vec<Asked<'_>> = compiled
            .iter()
            .zip(&mut self.states)
            .map(|(limit, state)| Asked { limit, state, cost, period: None })
            .collect();
        let mut outcomes = vec![nothing(); asked.len()];
        let decision = step(&mut asked, now, 1, None, &mut outcomes);
        let verdict = match (decision.admitted, decision.delay) {
            (false, _) => Verdict::Refuse(decision.retry),
            (true, Micros::ZERO) => Verdict::Admit,
            (true, delay) => Verdict::Delay(delay),
        };
        let reports = self.limits.iter().zip(outcomes).enumerate();
        let limits =
            reports.map(|(place, (limit, outcome))| report(place, limit, cost, &outcome)).collect();
        Decision { verdict, judged: verdict, route: Some(0), limits, now, taken: Vec::new() }
    }

    /// Takes `cost` from one limit alone, as another route would.
    pub(crate) fn take(&mut self, place: usize, now: Timestamp, cost: u64) {
        let limit = compile(&self.limits[place]);
        let state = &mut self.states[place];
        let mut asked = [Asked { limit: &limit, state, cost, period: None }];
        let decision = step(&mut asked, now, 1, None, &mut [nothing()]);
        assert!(decision.admitted, "the test takes what is there");
    }

    /// Asks `times` times at once for one unit; the last decision.
    pub(crate) fn ask_times(&mut self, now: Timestamp, times: usize) -> Decision {
        (1..times).for_each(|_| drop(self.ask(now, 1)));
        self.ask(now, 1)
    }

    pub(crate) fn refuse(&self, decision: &Decision) -> Answer {
        self.responder().refuse(decision, 0)
    }

    pub(crate) fn described(&self, decision: &Decision) -> HeaderMap {
        let mut headers = HeaderMap::new();
        self.responder().describe(decision, 0, &mut headers);
        headers
    }
}

fn compile(limit: &LimitSettings) -> Limit {
    let algorithm = limit.classes[0].algorithm.clone().expect("the tests' limits are limits");
    Limit::new(algorithm, limit.rules.clone()).expect("the tests' limits are sound")
}

fn nothing() -> Outcome {
    let zero = Micros::ZERO;
    Outcome {
        refused: false,
        wait: zero,
        retry: Retry::After(zero),
        units: 0,
        fraction: 0,
        at: Timestamp::EPOCH,
        changed: false,
        standing: Standing::default(),
    }
}

fn report(place: usize, limit: &LimitSettings, cost: u64, outcome: &Outcome) -> LimitReport {
    let (quota, window) = match limit.classes[0].algorithm.as_ref().expect("a limit") {
        Algorithm::TokenBucket(TokenBucket { rate, burst: Burst::Units(burst), .. }) => {
            (*burst, Some(Micros::new(burst * rate.per.get() / rate.count.max(1))))
        }
        Algorithm::FixedWindow(fixed) => (fixed.limit, Some(fixed.window)),
        Algorithm::SlidingWindow(sliding) => (sliding.limit, Some(sliding.window)),
        Algorithm::Concurrency(slots) => (slots.limit, None),
        other => panic!("no test counts by {other:?}"),
    };
    LimitReport {
        limit: place,
        name: (&*limit.name).into(),
        class: None,
        cost,
        refused: outcome.refused,
        shadow: limit.rules.shadow,
        retry: outcome.retry,
        wait: outcome.wait,
        quota,
        window,
        standing: outcome.standing,
        source: Source::Store,
        unavailable: false,
    }
}

/// A field's value; empty where it is absent.
pub(crate) fn field<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).map_or("", |value| value.to_str().expect("fields are ASCII"))
}

/// A problem's body.
pub(crate) fn body(answer: &Answer) -> serde_json::Value {
    serde_json::from_slice(&answer.body).expect("a body is JSON")
}

/// An answer as it stands on the wire, fields in the order of their names.
pub(crate) fn wire(answer: &Answer) -> String {
    let mut lines: Vec<String> = answer
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().expect("fields are ASCII")))
        .collect();
    lines.sort();
    let body = serde_json::to_string_pretty(&body(answer)).expect("JSON is text");
    format!("{}\n{}\n\n{body}\n", answer.status, lines.join("\n"))
}
