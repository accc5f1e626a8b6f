//! Several cells: the newer ones count whole, the oldest weighs by its share that is still inside.

use alloc::boxed::Box;
use alloc::vec;

use super::{SlidingWindowPlan, View};
use crate::allowance::Used;
use crate::moment::{Checked, Commit, Moment, Taken};
use crate::state::Cells;
use crate::{Charged, Outcome, Standing, State};

/// The counts of a state; those of no cell where nothing was ever counted.
fn view(state: &State) -> View<'_> {
    match state {
        State::Cells(cells) => View { newest: cells.cell, counts: &cells.counts },
        _ => View { newest: 0, counts: &[] },
    }
}

impl SlidingWindowPlan {
    /// Moves the counts to now's cell.
    pub(crate) fn tidy_cells(&self, state: &mut State, at: Moment<'_>) -> bool {
        let now = at.now / self.cell;
        match state {
            State::Cells(cells) if cells.counts.len() as u64 == self.cells + 1 => {
                let clamped = self.is_wrong(cells.cell, at);
                shift(&mut cells.counts, now.saturating_sub(cells.cell));
                cells.cell = if clamped { now } else { now.max(cells.cell) };
                clamped
            }
            _ => {
                *state = State::Fresh;
                false
            }
        }
    }

    fn used_cells(&self, view: &View<'_>, at: Moment<'_>) -> Used {
        match view.counts {
            [oldest, rest @ ..] => self.used(view.newest, *oldest, rest.iter().sum(), at),
            [] => Used::exactly(0),
        }
    }

    pub(crate) fn check_cells(&self, state: &mut State, cost: u64, at: Moment<'_>) -> Checked {
        let clamped = self.tidy_cells(state, at);
        Checked::at_once(self.allowance.refuses(self.used_cells(&view(state), at), cost), clamped)
    }

    pub(crate) fn commit_cells(
        &self,
        state: &mut State,
        at: Moment<'_>,
        what: &Commit,
        outcome: &mut Outcome,
    ) {
        let mut used = self.used_cells(&view(state), at);
        if what.take {
            let units = self.allowance.take(used, what.cost);
            used = Used { down: used.down + units, up: used.up + units };
            outcome.took(self.take(state, units, at));
        }
        if what.retry {
            outcome.retry = self.retry(&view(state), used, what.cost, at);
        }
        outcome.standing = self.standing_with(state, used, at);
    }

    /// Adds `units` to the newest cell.
    fn take(&self, state: &mut State, units: u64, at: Moment<'_>) -> Taken {
        let newest = match state {
            _ if units == 0 => at.now / self.cell,
            State::Cells(cells) => {
                *newest_of(&mut cells.counts) += units;
                cells.cell
            }
            _ => {
                let mut counts = vec![0; self.cells as usize + 1].into_boxed_slice();
                *newest_of(&mut counts) = units;
                let cell = at.now / self.cell;
                *state = State::Cells(Box::new(Cells { cell, counts }));
                cell
            }
        };
        Taken::units(units, at.now.max(newest * self.cell))
    }

    /// Cells only move on, so what was charged at or after the newest cell's start is in it.
    pub(crate) fn give_back_cells(&self, state: &mut State, charged: &Charged, keep: u64) -> bool {
        let State::Cells(cells) = state else { return false };
        let age = cells.cell.saturating_sub(charged.at.as_micros() / self.cell);
        let age = usize::try_from(age).unwrap_or(usize::MAX);
        let Some(count) = cells.counts.iter_mut().rev().nth(age) else { return false };
        let before = *count;
        *count = before.saturating_sub(charged.units.saturating_sub(keep));
        *count != before
    }

    /// When the newest of what was counted counts no more.
    pub(crate) fn influence_end_of_cells(&self, state: &State) -> Option<u64> {
        let View { newest, counts } = view(state);
        let place = counts.iter().rposition(|count| *count > 0)?;
        Some((newest + place as u64 + 1) * self.cell)
    }

    pub(crate) fn standing_cells(&self, state: &State, at: Moment<'_>) -> Standing {
        self.standing_with(state, self.used_cells(&view(state), at), at)
    }

    fn standing_with(&self, state: &State, used: Used, at: Moment<'_>) -> Standing {
        let end = self.influence_end_of_cells(state);
        self.standing_until(end, view(state).newest, used, at)
    }
}

/// Lets `by` cells pass.
fn shift(counts: &mut [u64], by: u64) {
    let by = usize::try_from(by).map_or(counts.len(), |by| by.min(counts.len()));
    counts.copy_within(by.., 0);
    let kept = counts.len() - by;
    counts[kept..].fill(0);
}

/// The newest cell's count: a window has at least two counts.
fn newest_of(counts: &mut [u64]) -> &mut u64 {
    let last = counts.len() - 1;
    &mut counts[last]
}
