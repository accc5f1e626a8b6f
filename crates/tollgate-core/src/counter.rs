//! One count in one frame of time: what fixed windows and quotas share.

use crate::allowance::{Allowance, Used};
use crate::kept::{Count, Kept, Slot};
use crate::moment::{AT_ONCE, Checked, Commit, Moment, Taken};
use crate::{Charged, Micros, Outcome, Period, Retry, Standing, State};

/// How time is cut into frames.
pub(crate) trait Frame {
    /// The frame around now.
    fn around(&self, at: Moment<'_>) -> Period;
    /// The end of the frame that begins at `start`, which is the one around now, or a later one where a clock stepped back.
    fn end(&self, start: u64, at: Moment<'_>) -> u64;
}

/// A compiled fixed window or quota.
#[derive(Clone, Debug)]
pub(crate) struct Counter<F> {
    pub(crate) frame: F,
    pub(crate) allowance: Allowance,
}

impl<F: Frame> Counter<F> {
    pub(crate) fn tidy(&self, state: &mut State, at: Moment<'_>) -> bool {
        let mut count = state.get().unwrap_or_default();
        let clamped = self.move_on(&mut count, at);
        state.set(count);
        clamped
    }

    /// Moves the count to now's frame: a past one is forgotten; one that is next stands still, since no frame reopens; one
    /// further ahead was written by a wrong clock and is counted as now's.
    #[inline]
    fn move_on(&self, state: &mut Count, at: Moment<'_>) -> bool {
        let frame = self.frame.around(at);
        let (now_start, now_end) = (frame.start.as_micros(), frame.end.as_micros());
        let clamped = state.start > now_end;
        if clamped {
            state.start = now_start;
        } else if state.start < now_start {
            *state = Count { start: now_start, count: 0 };
        }
        clamped
    }

    #[inline]
    pub(crate) fn check(&self, state: &mut impl Kept, cost: u64, at: Moment<'_>) -> Checked {
        let mut count: Count = state.get().unwrap_or_default();
        let clamped = self.move_on(&mut count, at);
        state.set(count);
        Checked::at_once(self.allowance.refuses(Used::exactly(count.count), cost), clamped)
    }

    #[inline]
    pub(crate) fn commit(
        &self,
        state: &mut impl Kept,
        at: Moment<'_>,
        what: &Commit,
        outcome: &mut Outcome,
    ) {
        let mut count: Count = state.get().unwrap_or_default();
        if what.take {
            let units = self.allowance.take(Used::exactly(count.count), what.cost);
            count.count += units;
            state.set(count);
            outcome.took(Taken::units(units, at.now.max(count.start)));
        }
        if what.retry {
            outcome.retry = self.retry(count, what.cost, at);
        }
        outcome.standing = self.standing_of(count, at);
    }

    fn retry(&self, Count { start, count }: Count, cost: u64, at: Moment<'_>) -> Retry {
        if self.allowance.never(cost) {
            Retry::Never
        } else if self.allowance.refuses(Used::exactly(count), cost) {
            Retry::After(at.until(self.frame.end(start, at)))
        } else {
            AT_ONCE
        }
    }

    /// Frames only move on, so what was charged at or after the state's start is in the state's frame.
    pub(crate) fn give_back(&self, state: &mut State, charged: &Charged, keep: u64) -> bool {
        match state {
            State::Count { start, count } if *start <= charged.at.as_micros() => {
                let before = *count;
                *count = before.saturating_sub(charged.units.saturating_sub(keep));
                *count != before
            }
            _ => false,
        }
    }

    pub(crate) fn standing(&self, state: &State, at: Moment<'_>) -> Standing {
        self.standing_of(state.get().unwrap_or_default(), at)
    }

    #[inline]
    fn standing_of(&self, Count { start, count }: Count, at: Moment<'_>) -> Standing {
        let remaining = self.allowance.remaining(Used::exactly(count));
        let left = if count > 0 { at.until(self.frame.end(start, at)) } else { Micros::ZERO };
        Standing { remaining, reset: left, next: left }
    }
}
