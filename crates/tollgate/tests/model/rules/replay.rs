//! A trace, line by line, on a clock that it drives.

use std::collections::BTreeMap;

use super::bucket::Bucket;
use super::build;
use super::decide::{Ask, Outcome, decide};
use super::keys::{Part, class_and_key, cost};
use crate::model::counters::Calendar;
use crate::model::policy::Policy;
use crate::model::trace::{Decision, Request, Verdict};

/// A limit's place, its class's place, and who is counted.
type Key = (usize, usize, Vec<Part>);

/// A policy and all that was counted under it.
pub(crate) struct Replay {
    policy: Policy,
    calendars: BTreeMap<(usize, usize), Option<Calendar>>,
    buckets: BTreeMap<Key, Bucket>,
    /// Charges that wait for their status; in the order of their requests.
    due: Vec<Due>,
    /// Times of the first and the latest request.
    clock: Option<(i64, i64)>,
    lines: usize,
}

/// A charge that is given back when its status arrives.
struct Due {
    at: i64,
    request: usize,
    key: Key,
}

impl Replay {
    /// Nothing counted yet.
    pub(crate) fn new(policy: &Policy) -> Self {
        let calendars = policy.limits.iter().enumerate().flat_map(|(place, limit)| {
            let classes = limit.classes.iter().enumerate();
            classes.map(move |(class, of)| {
                ((place, class), of.algorithm.as_ref().and_then(build::calendar))
            })
        });
        Self {
            calendars: calendars.collect(),
            policy: policy.clone(),
            buckets: BTreeMap::new(),
            due: Vec::new(),
            clock: None,
            lines: 0,
        }
    }

    /// Decides the next line.
    pub(crate) fn next(&mut self, request: &Request) -> Decision {
        let (first, latest) = self.clock.unwrap_or((request.time, request.time));
        let now = request.time.max(latest);
        self.clock = Some((first, now));
        self.lines += 1;
        self.give_back_until(now);
        let Some(place) =
            self.policy.routes.iter().position(|route| matches(&route.path, &request.path))
        else {
            return Decision { verdict: Verdict::Admit, route: None, limits: Vec::new() };
        };
        let keys = self.keys(place, request, first, now);
        let duration = request.duration.unwrap_or(0);
        let cost = cost(&self.policy.routes[place], request);
        let ask = Ask { request: self.lines, cost, now, duration };
        let mut taken: Vec<(Key, Bucket)> =
            keys.iter().map(|key| self.buckets.remove_entry(key).expect("made above")).collect();
        let mut buckets: Vec<&mut Bucket> = taken.iter_mut().map(|(_, bucket)| bucket).collect();
        let outcome = decide(&mut buckets, ask);
        self.await_status(&taken, &outcome, ask, request.status.unwrap_or(200));
        self.buckets.extend(taken);
        Decision { verdict: outcome.verdict, route: Some(place), limits: outcome.reports }
    }

    /// Who is asked, in the route's order; unknown ones are made.
    fn keys(&mut self, route: usize, request: &Request, first: i64, now: i64) -> Vec<Key> {
        let mut keys = Vec::new();
        for &place in &self.policy.routes[route].limits {
            let limit = &self.policy.limits[place];
            let Some((class, parts)) = class_and_key(limit, request) else { continue };
            let key = (place, class, parts);
            self.buckets.entry(key.clone()).or_insert_with(|| {
                let algorithm = limit.classes[class]
                    .algorithm
                    .clone()
                    .expect("an unlimited class is not asked");
                let calendar = self.calendars[&(place, class)].as_ref();
                let counter = build::counter(&algorithm, calendar, first, now);
                Bucket { limit: limit.clone(), algorithm, counter }
            });
            keys.push(key);
        }
        keys
    }

    fn await_status(&mut self, asked: &[(Key, Bucket)], outcome: &Outcome, ask: Ask, status: u16) {
        let delay = match outcome.verdict {
            Verdict::Admit => 0,
            Verdict::Delay(delay) => delay,
            Verdict::Refuse { .. } => return,
        };
        for ((key, bucket), charged) in asked.iter().zip(&outcome.charged) {
            if *charged && bucket.gives_back(status) {
                let at = ask.now + delay + ask.duration;
                self.due.push(Due { at, request: ask.request, key: key.clone() });
            }
        }
    }

    /// Statuses that arrive at `now` come before its requests.
    fn give_back_until(&mut self, now: i64) {
        self.due.sort_by_key(|due| (due.at, due.request));
        let later = self.due.partition_point(|due| due.at <= now);
        for due in self.due.drain(..later) {
            let bucket = self.buckets.get_mut(&due.key).expect("it was charged");
            bucket.counter.give_back(due.request, due.at);
        }
    }
}

/// `/name` is that path, `/name/**` is it and all below.
fn matches(pattern: &str, path: &str) -> bool {
    match pattern.strip_suffix("/**") {
        Some(above) => {
            path == above || path.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'))
        }
        None => path == pattern,
    }
}
