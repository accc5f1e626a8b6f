//! How a key stands, without asking for anything.

use crate::moment::Moment;
use crate::plan::Plan;
use crate::{Limit, Period, Standing, State, Timestamp};

impl Limit {
    /// How `state` stands at `now`. `period` is the one around `now`, needed by a quota.
    ///
    /// # Panics
    /// Where a quota comes without its period.
    #[must_use]
    pub fn standing(&self, state: &State, period: Option<Period>, now: Timestamp) -> Standing {
        let at = Moment::new(now, period.as_ref());
        let mut state = state.clone();
        self.plan().tidy(&mut state, at);
        self.plan().standing(&state, at)
    }

    /// Whether forgetting `state` at `now` would give its key nothing: it counts nothing any more.
    ///
    /// `period` is the latest known, for a quota; without one a quota that counts anything is not fresh.
    #[must_use]
    pub fn is_fresh(&self, state: &State, period: Option<Period>, now: Timestamp) -> bool {
        let at = Moment::new(now, period.as_ref());
        let is_over = |end: u64| end <= at.now;
        match (self.plan(), state) {
            (_, State::Fresh) | (Plan::Closed, _) => true,
            (Plan::Bucket(plan), _) => plan.0.is_fresh(state, at),
            (Plan::WideBucket(plan), _) => plan.is_fresh(state, at),
            (Plan::FixedWindow(plan), State::Count { start, count }) => {
                *count == 0 || is_over(start + plan.frame.window)
            }
            (Plan::Quota(_), State::Count { start, count }) => {
                *count == 0 || period.is_some_and(|period| period.start.as_micros() > *start)
            }
            (Plan::SlidingLog(plan), State::Log(log)) => {
                log.entries.back().is_none_or(|entry| is_over(entry.at + plan.window))
            }
            (Plan::Concurrency(_), State::Slots(slots)) => {
                slots.held.last_key_value().is_none_or(|((end, _), _)| is_over(*end))
            }
            (Plan::SlidingPair(plan), _) => plan.influence_end_of_pair(state).is_none_or(is_over),
            (Plan::SlidingCells(plan), _) => plan.influence_end_of_cells(state).is_none_or(is_over),
            _ => true,
        }
    }
}
