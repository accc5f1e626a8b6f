//! States that come from outside the process: which of them a limit's arithmetic can go on with.

use crate::bucket::Bucket;
use crate::kept::Slot;
use crate::plan::Plan;
use crate::sliding_window::SlidingWindowPlan;
use crate::state::Log;
use crate::word::Word;
use crate::{Limit, State, Timestamp};

/// A count is at most this: a limit and its debt are counted together in 62 bits.
const MOST: u64 = 1 << 62;

/// Units of a log, and so its entries.
const MOST_LOGGED: u64 = 10_000;

const LAST: u64 = Timestamp::MAX.as_micros();

impl Limit {
    /// Whether `state`, which was kept outside of this process, is one that this limit could have come to, now or under
    /// parameters that a reload changed. Of any other the arithmetic might leave its words.
    ///
    /// Slots never are: whoever held them is gone.
    ///
    /// ```
    /// use tollgate_core::{Algorithm, Limit, Quota, Rules, State};
    ///
    /// let limit = Limit::new(Algorithm::Quota(Quota { limit: 10 }), Rules::default())?;
    /// assert!(limit.accepts(&State::Count { start: 1_767_225_600_000_000, count: 7 }));
    /// assert!(!limit.accepts(&State::Count { start: u64::MAX, count: 7 }));
    /// assert!(!limit.accepts(&State::Bucket(7)));
    /// # Ok::<(), tollgate_core::SpecError>(())
    /// ```
    #[must_use]
    pub fn accepts(&self, state: &State) -> bool {
        match (self.plan(), state) {
            (_, State::Fresh) => true,
            (Plan::Bucket(plan), _) => plan.0.accepts(state),
            (Plan::WideBucket(plan), _) => plan.accepts(state),
            (Plan::FixedWindow(_) | Plan::Quota(_), State::Count { start, count }) => {
                *start <= LAST && *count <= MOST
            }
            (Plan::SlidingPair(plan), State::Pair { cell, previous, current }) => {
                plan.accepts(*cell, &[*previous, *current])
            }
            (Plan::SlidingCells(plan), State::Cells(cells)) => {
                plan.accepts(cells.cell, &cells.counts)
            }
            (Plan::SlidingLog(_), State::Log(log)) => accepts_log(log),
            _ => false,
        }
    }
}

impl<W: Word> Bucket<W> {
    /// No charge leads further ahead than capacity and debt.
    fn accepts(&self, state: &impl Slot<W>) -> bool {
        state.get().is_some_and(|word| word <= self.ticks(LAST) + self.ceiling)
    }
}

impl SlidingWindowPlan {
    /// The cells that count whole are never charged beyond the most, and each of them was one of those once.
    fn accepts(&self, newest: u64, counts: &[u64]) -> bool {
        let Some((oldest, whole)) = counts.split_first() else { return false };
        let sum = whole.iter().try_fold(0_u64, |sum, count| sum.checked_add(*count));
        let start = newest.checked_mul(self.cell);
        counts.len() as u64 == self.cells + 1
            && start.is_some_and(|start| start <= LAST)
            && sum.is_some_and(|sum| sum <= MOST)
            && *oldest <= MOST
    }
}

fn accepts_log(log: &Log) -> bool {
    let sum = log.entries.iter().try_fold(0_u64, |sum, entry| sum.checked_add(entry.units));
    log.entries.iter().all(|entry| entry.at <= LAST && entry.units > 0)
        && log.entries.iter().is_sorted_by_key(|entry| entry.at)
        && sum.is_some_and(|sum| sum == log.total && sum <= MOST_LOGGED)
}
