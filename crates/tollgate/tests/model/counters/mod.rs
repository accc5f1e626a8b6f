//! The algorithms: what one key of one limit remembers, and what follows from it.

mod calendar;
mod cells;
mod concurrency;
mod leaky_bucket;
mod periods;
mod sliding_log;
mod token_bucket;

pub(crate) use calendar::Calendar;
pub(crate) use cells::Cells;
pub(crate) use concurrency::Slots;
pub(crate) use leaky_bucket::LeakyBucket;
pub(crate) use periods::Periods;
pub(crate) use sliding_log::SlidingLog;
pub(crate) use token_bucket::TokenBucket;

use super::rational::{Rat, from_zero, whole};

/// A request's place in the trace: what a charge is given back by.
pub(crate) type RequestId = usize;

/// What one key of one limit remembers. Times never step back.
pub(crate) trait Counter {
    /// The most that it could ever admit at once.
    fn capacity(&self) -> Rat;

    /// What is left at `now`; below zero in debt.
    fn level(&self, now: i64) -> Rat;

    /// Whether a request of that cost passes.
    fn admits(&self, cost: u64, now: i64) -> bool {
        self.level(now) >= whole(cost)
    }

    /// How long a request that passes waits, in microseconds.
    fn wait(&self, _now: i64) -> Rat {
        whole(0)
    }

    /// Takes units, not asking whether they are there.
    fn take(&mut self, request: RequestId, units: &Rat, now: i64);

    /// Gives back what a request took.
    fn give_back(&mut self, request: RequestId, now: i64);

    /// How long until nothing is counted any more, in microseconds.
    fn reset(&self, now: i64) -> Rat;

    /// Whether only whole units can be taken.
    fn counts_whole_units(&self) -> bool {
        true
    }

    /// Takes the cost, but goes no deeper into debt than `debt`.
    fn take_into_debt(&mut self, request: RequestId, cost: u64, debt: &Rat, now: i64) {
        let room = from_zero(self.level(now) + debt);
        let room = if self.counts_whole_units() { room.floor() } else { room };
        self.take(request, &whole(cost).min(room), now);
    }

    /// When a slot that is taken now would end, for those that hold any: told before `take`.
    fn slot_ends_at(&mut self, _end: i64) {}

    /// Whether it is not known when room comes back.
    fn frees_at_unknown_times(&self) -> bool {
        false
    }
}
