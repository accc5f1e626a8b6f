//! A level that grows by the rate up to the capacity, and that admissions take from.

use super::{Counter, RequestId};
use crate::model::rational::{Rat, from_zero, whole};

/// A token bucket.
pub(crate) struct TokenBucket {
    /// Units a microsecond; above zero unless the capacity is zero.
    rate: Rat,
    capacity: Rat,
    level: Rat,
    /// When the level was that.
    at: i64,
    taken: Vec<Taken>,
}

struct Taken {
    request: RequestId,
    at: i64,
    units: Rat,
}

impl TokenBucket {
    /// A bucket that holds `level` at `at`.
    pub(crate) fn new(rate: Rat, capacity: Rat, level: Rat, at: i64) -> Self {
        Self { rate, capacity, level, at, taken: Vec::new() }
    }

    /// How long until it is full, in microseconds.
    fn missing(&self, now: i64) -> Rat {
        let units = &self.capacity - self.level(now);
        if units == whole(0) { units } else { units / &self.rate }
    }
}

impl Counter for TokenBucket {
    fn capacity(&self) -> Rat {
        self.capacity.clone()
    }

    fn level(&self, now: i64) -> Rat {
        (&self.level + &self.rate * whole(now - self.at)).min(self.capacity.clone())
    }

    fn take(&mut self, request: RequestId, units: &Rat, now: i64) {
        self.level = self.level(now) - units;
        self.at = now;
        self.taken.push(Taken { request, at: now, units: units.clone() });
    }

    fn give_back(&mut self, request: RequestId, now: i64) {
        let Some(place) = self.taken.iter().position(|taken| taken.request == request) else {
            return;
        };
        let taken = self.taken.remove(place);
        if taken.units == whole(0) {
            return;
        }
        let lost = (taken.units / &self.rate).min(self.missing(now));
        let time = from_zero(lost - whole(now - taken.at));
        self.level = self.level(now) + time * &self.rate;
        self.at = now;
    }

    fn reset(&self, now: i64) -> Rat {
        self.missing(now)
    }

    fn counts_whole_units(&self) -> bool {
        false
    }
}
