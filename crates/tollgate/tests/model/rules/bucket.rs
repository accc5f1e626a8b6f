//! One limit asked about one key: the rules that stand around the algorithms.

use crate::model::counters::{Counter, RequestId};
use crate::model::policy::{Algorithm, Limit};
use crate::model::rational::{ceil_micros, floor_from_zero, whole};
use crate::model::trace::Report;

/// The state of one key of one class of one limit.
pub(crate) struct Bucket {
    pub(crate) limit: Limit,
    pub(crate) algorithm: Algorithm,
    pub(crate) counter: Box<dyn Counter>,
}

impl Bucket {
    /// Whether a request of that cost passes this limit.
    pub(crate) fn admits(&self, cost: u64, now: i64) -> bool {
        if self.counter.capacity() == whole(0) {
            return false;
        }
        if self.limit.overdraw {
            let level = self.counter.level(now);
            return level > whole(0) || cost == 0 && level == whole(0);
        }
        self.counter.admits(cost, now)
    }

    /// Microseconds until the request passes if nothing else comes; `None` is never. It passes at once where it is 0,
    /// or where it is not known when.
    pub(crate) fn retry_after(&self, cost: u64, now: i64) -> Option<i64> {
        let capacity = self.counter.capacity();
        if capacity == whole(0) || !self.limit.overdraw && whole(cost) > capacity {
            return None;
        }
        if self.counter.frees_at_unknown_times() || self.admits(cost, now) {
            return Some(0);
        }
        // The first microsecond at which it passes: what passes once goes on passing, and as new it passes.
        let (mut refused, mut passes) = (0, self.reset(now));
        assert!(
            self.admits(cost, now + passes),
            "a limit as fresh as new admits what it could ever admit"
        );
        while passes - refused > 1 {
            let middle = refused + (passes - refused) / 2;
            if self.admits(cost, now + middle) { passes = middle } else { refused = middle }
        }
        Some(passes)
    }

    /// Takes for a request that was admitted.
    pub(crate) fn take_admitted(&mut self, request: RequestId, cost: u64, now: i64) {
        if self.limit.overdraw {
            self.take_into_debt(request, cost, now);
        } else {
            self.counter.take(request, &whole(cost), now);
        }
    }

    /// Takes for a request that was refused, where this limit takes for those.
    pub(crate) fn take_refused(
        &mut self,
        request: RequestId,
        cost: u64,
        refused_by_this: bool,
        now: i64,
    ) {
        if self.limit.count_refused || self.limit.overdraw && refused_by_this {
            self.take_into_debt(request, cost, now);
        }
    }

    /// A limit of 0 refuses everything for ever: it has nothing to count.
    fn take_into_debt(&mut self, request: RequestId, cost: u64, now: i64) {
        if self.counter.capacity() == whole(0) {
            return;
        }
        let debt = self.limit.max_debt.map_or_else(|| self.counter.capacity(), whole);
        self.counter.take_into_debt(request, cost, &debt, now);
    }

    /// The largest cost that would be admitted.
    fn remaining(&self, now: i64) -> u64 {
        match &self.algorithm {
            _ if self.counter.capacity() == whole(0) => 0,
            Algorithm::LeakyBucket { nodelay: false, .. } if !self.admits(0, now) => 0,
            _ => floor_from_zero(&self.counter.level(now)),
        }
    }

    fn reset(&self, now: i64) -> i64 {
        ceil_micros(&self.counter.reset(now))
    }

    /// What a decision line says of this limit.
    pub(crate) fn report(&self, admitted: bool, now: i64) -> Report {
        Report {
            name: self.limit.name.clone(),
            remaining: self.remaining(now),
            reset: self.reset(now),
            would_refuse: self.limit.shadow.then_some(!admitted),
        }
    }

    /// Whether a request's charge is given back once its status is known.
    pub(crate) fn gives_back(&self, status: u16) -> bool {
        self.limit.charge_when.as_ref().is_some_and(|statuses| !statuses.contains(&status))
    }

    /// Microseconds that a slot is held at most.
    pub(crate) fn ttl(&self) -> Option<i64> {
        match &self.algorithm {
            Algorithm::Concurrency { ttl, .. } => Some(ttl.micros),
            _ => None,
        }
    }
}
