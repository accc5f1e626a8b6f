//! States as plain words, for tables that keep millions of them.

use crate::plan::Plan;
use crate::{Limit, State};

/// How many 64-bit words hold any state of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Words {
    /// One: a bucket of ordinary parameters.
    One,
    /// Two: wide buckets, fixed windows, quotas, and sliding windows of one cell whose counts fit 32 bits.
    Two,
    /// No fixed number: keep the [`State`] itself.
    Boxed,
}

impl Limit {
    /// How many words hold a state of this limit.
    #[must_use]
    pub fn words(&self) -> Words {
        match self.plan() {
            Plan::Closed | Plan::Bucket(_) => Words::One,
            Plan::WideBucket(_) | Plan::FixedWindow(_) | Plan::Quota(_) => Words::Two,
            Plan::SlidingWindow(plan)
                if plan.cells == 1 && u32::try_from(plan.allowance.most).is_ok() =>
            {
                Words::Two
            }
            Plan::SlidingWindow(_) | Plan::SlidingLog(_) | Plan::Concurrency(_) => Words::Boxed,
        }
    }

    /// `state` as words; the second is 0 where [`Limit::words`] is one. Nothing is lost, but for the difference between
    /// [`State::Fresh`] and a state that is as fresh as that. Not for [`Words::Boxed`]: there it is all zeros.
    #[must_use]
    #[inline]
    pub fn encode(&self, state: &State) -> [u64; 2] {
        match (self.plan(), state) {
            (Plan::Bucket(_), State::Bucket(word)) => [*word, 0],
            (Plan::Bucket(plan), _) => [plan.0.fresh, 0],
            (Plan::WideBucket(_), State::WideBucket(word)) => halves(*word),
            (Plan::WideBucket(plan), _) => halves(plan.fresh),
            (Plan::FixedWindow(_) | Plan::Quota(_), State::Count { start, count }) => {
                [*start, *count]
            }
            (Plan::SlidingWindow(_), State::Pair { cell, previous, current }) => {
                [*cell, narrow(*previous) << 32 | narrow(*current)]
            }
            _ => [0, 0],
        }
    }

    /// The state that [`Limit::encode`] wrote. [`Limit::encode`] of [`State::Fresh`] is what an unknown key starts with.
    #[must_use]
    #[inline]
    pub fn decode(&self, words: [u64; 2]) -> State {
        let [first, second] = words;
        match self.plan() {
            Plan::Bucket(_) => State::Bucket(first),
            Plan::WideBucket(_) => State::WideBucket(u128::from(first) | u128::from(second) << 64),
            Plan::FixedWindow(_) | Plan::Quota(_) => State::Count { start: first, count: second },
            Plan::SlidingWindow(plan) if plan.cells == 1 => State::Pair {
                cell: first,
                previous: second >> 32,
                current: second & u64::from(u32::MAX),
            },
            _ => State::Fresh,
        }
    }
}

fn halves(word: u128) -> [u64; 2] {
    [word as u64, (word >> 64) as u64]
}

/// Counts fit 32 bits, unless a reload has lowered the limit from beyond: then as many as there are refuse all the same.
fn narrow(count: u64) -> u64 {
    count.min(u64::from(u32::MAX))
}
