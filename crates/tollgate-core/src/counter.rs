//! One count in one frame of time: what fixed windows and quotas share.

use crate::allowance::{Allowance, Used};
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

/// The frame's start and its count. Only for a state that was tidied.
fn read(state: &State) -> (u64, u64) {
    match state {
        State::Count { start, count } => (*start, *count),
        _ => (0, 0),
    }
}

impl<F: Frame> Counter<F> {
    /// Moves the count to now's frame: a past one is forgotten; one that is next stands still, since no frame reopens; one
    /// further ahead was written by a wrong clock and is counted as now's.
    #[inline]
    pub(crate) fn tidy(&self, state: &mut State, at: Moment<'_>) -> bool {
        let frame = self.frame.around(at);
        let (now_start, now_end) = (frame.start.as_micros(), frame.end.as_micros());
        match state {
            State::Count { start, .. } if *start > now_end => {
                *start = now_start;
                true
            }
            State::Count { start, .. } if *start >= now_start => false,
            _ => {
                *state = State::Count { start: now_start, count: 0 };
                false
            }
        }
    }

    #[inline]
    pub(crate) fn check(&self, state: &mut State, cost: u64, at: Moment<'_>) -> Checked {
        let clamped = self.tidy(state, at);
        Checked::at_once(self.allowance.refuses(Used::exactly(read(state).1), cost), clamped)
    }

    #[inline]
    pub(crate) fn commit(
        &self,
        state: &mut State,
        at: Moment<'_>,
        what: &Commit,
        outcome: &mut Outcome,
    ) {
        if what.take {
            outcome.took(self.take(state, what.cost, at));
        }
        if what.retry {
            outcome.retry = self.retry(state, what.cost, at);
        }
        outcome.standing = self.standing(state, at);
    }

    fn retry(&self, state: &State, cost: u64, at: Moment<'_>) -> Retry {
        let (start, count) = read(state);
        if self.allowance.never(cost) {
            Retry::Never
        } else if self.allowance.refuses(Used::exactly(count), cost) {
            Retry::After(at.until(self.frame.end(start, at)))
        } else {
            AT_ONCE
        }
    }

    #[inline]
    pub(crate) fn take(&self, state: &mut State, cost: u64, at: Moment<'_>) -> Taken {
        let State::Count { start, count } = state else { return Taken::units(0, at.now) };
        let units = self.allowance.take(Used::exactly(*count), cost);
        *count += units;
        Taken::units(units, at.now.max(*start))
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

    #[inline]
    pub(crate) fn standing(&self, state: &State, at: Moment<'_>) -> Standing {
        let (start, count) = read(state);
        let remaining = self.allowance.remaining(Used::exactly(count));
        let left = if count > 0 { at.until(self.frame.end(start, at)) } else { Micros::ZERO };
        Standing { remaining, reset: left, next: left }
    }
}
