//! One cell: the one before it weighs by its share that is still inside.

use super::{SlidingWindowPlan, View};
use crate::allowance::Used;
use crate::kept::{Kept, Pair, Slot};
use crate::moment::{Checked, Commit, Moment, Taken};
use crate::{Charged, Outcome, Standing, State};

impl SlidingWindowPlan {
    pub(crate) fn tidy_pair(&self, state: &mut State, at: Moment<'_>) -> bool {
        let mut pair: Pair = state.get().unwrap_or_default();
        let clamped = self.move_on(&mut pair, at);
        state.set(pair);
        clamped
    }

    /// Moves the counts to now's cell.
    #[inline]
    fn move_on(&self, pair: &mut Pair, at: Moment<'_>) -> bool {
        let now = at.now / self.cell;
        let clamped = self.is_wrong(pair.cell, at);
        match now.saturating_sub(pair.cell) {
            0 => {}
            1 => (pair.previous, pair.current) = (pair.current, 0),
            _ => (pair.previous, pair.current) = (0, 0),
        }
        pair.cell = if clamped { now } else { now.max(pair.cell) };
        clamped
    }

    #[inline]
    fn used_pair(&self, pair: &Pair, at: Moment<'_>) -> Used {
        self.used(pair.cell, pair.previous, pair.current, at)
    }

    #[inline]
    pub(crate) fn check_pair(&self, state: &mut impl Kept, cost: u64, at: Moment<'_>) -> Checked {
        let mut pair: Pair = state.get().unwrap_or_default();
        let clamped = self.move_on(&mut pair, at);
        state.set(pair);
        Checked::at_once(self.allowance.refuses(self.used_pair(&pair, at), cost), clamped)
    }

    #[inline]
    pub(crate) fn commit_pair(
        &self,
        state: &mut impl Kept,
        at: Moment<'_>,
        what: &Commit,
        outcome: &mut Outcome,
    ) {
        let mut pair: Pair = state.get().unwrap_or_default();
        let mut used = self.used_pair(&pair, at);
        if what.take {
            let units = self.allowance.take(used, what.cost);
            used = Used { down: used.down + units, up: used.up + units };
            pair.current += units;
            state.set(pair);
            outcome.took(Taken::units(units, at.now.max(pair.cell * self.cell)));
        }
        if what.retry {
            let view = View { newest: pair.cell, counts: &[pair.previous, pair.current] };
            outcome.retry = self.retry(&view, used, what.cost, at);
        }
        outcome.standing = self.standing_until(self.end_of(&pair), pair.cell, used, at);
    }

    /// When the newest of what was counted counts no more.
    #[inline]
    fn end_of(&self, pair: &Pair) -> Option<u64> {
        let newest = pair.cell + u64::from(pair.current > 0);
        (pair.previous > 0 || pair.current > 0).then_some((newest + 1) * self.cell)
    }

    pub(crate) fn influence_end_of_pair(&self, state: &State) -> Option<u64> {
        self.end_of(&state.get()?)
    }

    pub(crate) fn standing_pair(&self, state: &State, at: Moment<'_>) -> Standing {
        let pair: Pair = state.get().unwrap_or_default();
        self.standing_until(self.end_of(&pair), pair.cell, self.used_pair(&pair, at), at)
    }

    /// Cells only move on, so what was charged at or after the newest cell's start is in it.
    pub(crate) fn give_back_pair(&self, state: &mut State, charged: &Charged, keep: u64) -> bool {
        let Some(mut pair): Option<Pair> = state.get() else { return false };
        let count = match pair.cell.saturating_sub(charged.at.as_micros() / self.cell) {
            0 => &mut pair.current,
            1 => &mut pair.previous,
            _ => return false,
        };
        let before = *count;
        *count = before.saturating_sub(charged.units.saturating_sub(keep));
        let changed = *count != before;
        state.set(pair);
        changed
    }
}
