//! What a node counts of its own doing, for metrics.

use std::sync::atomic::{AtomicU64, Ordering};

use super::breaker::BreakerState;
use super::lease::LeasesObserved;
use crate::{Source, Trouble};

/// Upper bounds of the histogram of the store's latency, in microseconds; what is beyond the last has a place of its own.
pub const LATENCY_BOUNDS: [u64; 11] =
    [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 20_000, 50_000, 100_000, 250_000];

/// What a node counted since it began, and how it stands now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeObserved {
    /// Whether the shared store is away, so that `on_store_failure` holds.
    pub degraded: bool,
    /// The breaker in front of it.
    pub breaker: BreakerState,
    /// Nodes that count together, this one among them, as far as it knows.
    pub live_nodes: u32,
    /// Whose word the outcomes were, one for each charge of each decision.
    pub outcomes: Vec<(Source, u64)>,
    /// Errors of the shared store by kind. Calls that the breaker held back are among them.
    pub errors: Vec<(Trouble, u64)>,
    /// Answered decisions by the time that the store took: one count for each of [`LATENCY_BOUNDS`], and one beyond.
    pub latency: [u64; LATENCY_BOUNDS.len() + 1],
    /// The sum of these times, in microseconds.
    pub latency_sum: u64,
    /// What `sync: leased` did.
    pub leases: LeasesObserved,
    /// Units that `sync: estimate` admitted beyond the limit, as the sum showed later.
    pub overshoot: u64,
    /// Keys with charges that the store has yet to be told of: admitted while it was away.
    pub unreconciled_keys: usize,
    /// Units charged to the store after it came back.
    pub reconciled: u64,
    /// Units that it was not told of: no room to remember them, or no answer when they were told.
    pub unreconciled: u64,
}

/// Counters of a node.
#[derive(Debug, Default)]
pub(super) struct Counters {
    outcomes: [AtomicU64; SOURCES.len()],
    errors: [AtomicU64; TROUBLES.len()],
    latency: [AtomicU64; LATENCY_BOUNDS.len() + 1],
    latency_sum: AtomicU64,
    pub(super) overshoot: AtomicU64,
    pub(super) reconciled: AtomicU64,
    pub(super) unreconciled: AtomicU64,
}

const SOURCES: [Source; 8] = [
    Source::Store,
    Source::Lease,
    Source::Estimate,
    Source::Share,
    Source::Node,
    Source::Exhausted,
    Source::Failure,
    Source::Unasked,
];

const TROUBLES: [Trouble; 13] = [
    Trouble::TimedOut,
    Trouble::Disconnected,
    Trouble::Interrupted,
    Trouble::Crowded,
    Trouble::Loading,
    Trouble::ReadOnly,
    Trouble::Full,
    Trouble::NotSaving,
    Trouble::ClusterDown,
    Trouble::Busy,
    Trouble::Denied,
    Trouble::Unexpected,
    Trouble::BreakerOpen,
];

impl Counters {
    pub(super) fn outcome(&self, source: Source) {
        self.outcomes[source as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn error(&self, trouble: Trouble) {
        self.errors[trouble as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// The store answered after so many microseconds.
    pub(super) fn answered(&self, micros: u64) {
        let place = LATENCY_BOUNDS.partition_point(|bound| *bound < micros);
        self.latency[place].fetch_add(1, Ordering::Relaxed);
        self.latency_sum.fetch_add(micros, Ordering::Relaxed);
    }

    pub(super) fn outcomes(&self) -> Vec<(Source, u64)> {
        SOURCES.into_iter().zip(self.outcomes.iter().map(read)).collect()
    }

    pub(super) fn errors(&self) -> Vec<(Trouble, u64)> {
        TROUBLES.into_iter().zip(self.errors.iter().map(read)).collect()
    }

    pub(super) fn latency(&self) -> ([u64; LATENCY_BOUNDS.len() + 1], u64) {
        (std::array::from_fn(|place| read(&self.latency[place])), read(&self.latency_sum))
    }
}

pub(super) fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_own_counter() {
        for (place, source) in SOURCES.into_iter().enumerate() {
            assert_eq!(source as usize, place);
        }
        for (place, trouble) in TROUBLES.into_iter().enumerate() {
            assert_eq!(trouble as usize, place);
        }
    }

    #[test]
    fn a_time_belongs_to_the_first_bound_that_is_not_below_it() {
        let counters = Counters::default();
        for micros in [0, 100, 101, 250_000, 250_001] {
            counters.answered(micros);
        }
        let (latency, sum) = counters.latency();
        assert_eq!(latency, [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
        assert_eq!(sum, 500_202);
    }
}
