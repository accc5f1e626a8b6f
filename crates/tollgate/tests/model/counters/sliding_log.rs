//! Every unit with the time at which it was taken.

use super::{Counter, RequestId};
use crate::model::rational::{Rat, whole};

/// A sliding log.
pub(crate) struct SlidingLog {
    limit: usize,
    /// In microseconds.
    window: i64,
    /// One entry a unit, oldest first.
    units: Vec<Unit>,
}

#[derive(Clone)]
struct Unit {
    request: RequestId,
    at: i64,
}

impl SlidingLog {
    /// An empty log.
    pub(crate) fn new(limit: u64, window: i64) -> Self {
        Self { limit: usize::try_from(limit).expect("10,000 at most"), window, units: Vec::new() }
    }

    /// A unit taken at s counts during [s, s + window).
    fn counts(&self, unit: &Unit, now: i64) -> bool {
        now < unit.at + self.window
    }
}

impl Counter for SlidingLog {
    fn capacity(&self) -> Rat {
        whole(self.limit)
    }

    fn level(&self, now: i64) -> Rat {
        let counted = self.units.iter().filter(|unit| self.counts(unit, now)).count();
        whole(self.limit) - whole(counted)
    }

    fn take(&mut self, request: RequestId, units: &Rat, now: i64) {
        let units = usize::try_from(units.to_integer()).expect("no more than the limit");
        self.units.extend(std::iter::repeat_n(Unit { request, at: now }, units));
        let too_many = self.units.len().saturating_sub(self.limit);
        self.units.drain(..too_many);
    }

    fn give_back(&mut self, request: RequestId, _now: i64) {
        self.units.retain(|unit| unit.request != request);
    }

    fn reset(&self, now: i64) -> Rat {
        let last = self.units.iter().map(|unit| unit.at + self.window).max();
        whole(last.map_or(0, |end| (end - now).max(0)))
    }

    /// A log has no debt: it keeps its newest `limit` units.
    fn take_into_debt(&mut self, request: RequestId, cost: u64, _debt: &Rat, now: i64) {
        self.take(request, &whole(cost).min(whole(self.limit)), now);
    }
}
