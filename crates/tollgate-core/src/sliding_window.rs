//! Sliding windows in cells: the newest cells count whole, the oldest by the share of it that is still inside.
//!
//! With E the estimate, admissions ask whether E + cost <= limit; as limit and cost are whole, E rounded up decides exactly.

use alloc::boxed::Box;
use alloc::vec;

use crate::allowance::{Allowance, Used};
use crate::moment::{AT_ONCE, Checked, Commit, Moment, Taken};
use crate::spec_error::checked_span;
use crate::state::Cells;
use crate::{Charged, Micros, Outcome, Retry, Rules, SlidingWindow, SpecError, Standing, State};

/// A compiled sliding window.
#[derive(Clone, Debug)]
pub(crate) struct SlidingWindowPlan {
    pub(crate) allowance: Allowance,
    /// The length of a cell in microseconds.
    pub(crate) cell: u64,
    pub(crate) cells: u64,
}

/// The counts of a state that was tidied: oldest first; empty where nothing was ever counted.
struct View<'a> {
    /// Index of the newest cell.
    newest: u64,
    counts: &'a [u64],
    /// How far the moment is into the newest cell; 0 where a clock stepped back before it.
    offset: u64,
}

pub(crate) fn compile(spec: &SlidingWindow, rules: &Rules) -> Result<SlidingWindowPlan, SpecError> {
    let window = checked_span("window", spec.window)?;
    if !(1..=100).contains(&spec.cells) {
        return Err(SpecError::Cells { cells: spec.cells });
    }
    let cells = u64::from(spec.cells);
    if !window.is_multiple_of(cells) {
        return Err(SpecError::UnevenCells { window, cells: spec.cells });
    }
    let allowance = Allowance::new(spec.limit, rules)?;
    Ok(SlidingWindowPlan { allowance, cell: window / cells, cells })
}

impl SlidingWindowPlan {
    /// Moves the counts to now's cell. Cells ahead of now, by a window at most, stand still; further ahead they were written
    /// by a wrong clock and are counted as now's.
    #[inline]
    pub(crate) fn tidy(&self, state: &mut State, at: Moment<'_>) -> bool {
        let current = at.now / self.cell;
        let window = self.cell * self.cells;
        let wrong = |newest: u64| (newest * self.cell).saturating_sub(at.now) > window;
        match state {
            State::Pair { cell, previous, current: units } => {
                let clamped = wrong(*cell);
                match current.saturating_sub(*cell) {
                    0 => {}
                    1 => (*previous, *units) = (*units, 0),
                    _ => (*previous, *units) = (0, 0),
                }
                *cell = if clamped { current } else { current.max(*cell) };
                clamped
            }
            State::Cells(cells) if cells.counts.len() as u64 == self.cells + 1 => {
                let clamped = wrong(cells.cell);
                shift(&mut cells.counts, current.saturating_sub(cells.cell));
                cells.cell = if clamped { current } else { current.max(cells.cell) };
                clamped
            }
            _ => {
                *state = if self.cells == 1 {
                    State::Pair { cell: current, previous: 0, current: 0 }
                } else {
                    State::Fresh
                };
                false
            }
        }
    }

    fn view<'a>(&self, state: &'a State, pair: &'a mut [u64; 2], at: Moment<'_>) -> View<'a> {
        let (newest, counts): (u64, &[u64]) = match state {
            State::Pair { cell, previous, current } => {
                *pair = [*previous, *current];
                (*cell, pair)
            }
            State::Cells(cells) => (cells.cell, &cells.counts),
            _ => (at.now / self.cell, &[]),
        };
        View { newest, counts, offset: at.now.saturating_sub(newest * self.cell) }
    }

    #[inline]
    fn used(&self, state: &State, at: Moment<'_>) -> Used {
        let (newest, oldest, whole) = match state {
            State::Pair { cell, previous, current } => (*cell, *previous, *current),
            State::Cells(cells) => {
                let whole = cells.counts.iter().skip(1).sum();
                (cells.cell, cells.counts.first().copied().unwrap_or(0), whole)
            }
            _ => return Used::exactly(0),
        };
        let offset = at.now.saturating_sub(newest * self.cell);
        let (share, rest) = share(oldest, self.cell - offset, self.cell);
        Used { down: whole + share, up: whole + share + u64::from(rest) }
    }

    #[inline]
    pub(crate) fn check(&self, state: &mut State, cost: u64, at: Moment<'_>) -> Checked {
        let clamped = self.tidy(state, at);
        Checked::at_once(self.allowance.refuses(self.used(state, at), cost), clamped)
    }

    #[inline]
    pub(crate) fn commit(
        &self,
        state: &mut State,
        at: Moment<'_>,
        what: &Commit,
        outcome: &mut Outcome,
    ) {
        let mut used = self.used(state, at);
        if what.take {
            let units = self.allowance.take(used, what.cost);
            used = Used { down: used.down + units, up: used.up + units };
            outcome.took(self.take(state, units, at));
        }
        if what.retry {
            outcome.retry = self.retry(state, used, what.cost, at);
        }
        outcome.standing = self.standing_with(state, used, at);
    }

    fn retry(&self, state: &State, used: Used, cost: u64, at: Moment<'_>) -> Retry {
        if self.allowance.never(cost) {
            Retry::Never
        } else if self.allowance.refuses(used, cost) {
            let mut pair = [0; 2];
            Retry::After(at.until(self.first_fit(&self.view(state, &mut pair, at), cost)))
        } else {
            AT_ONCE
        }
    }

    /// The first moment at which `cost` is admitted, cell by cell: with `whole` and `oldest` as they will be, solves
    /// whole * cell + oldest * inside <= budget * cell for `inside`, the part of the oldest cell that still counts.
    fn first_fit(&self, view: &View<'_>, cost: u64) -> u64 {
        let above_zero = self.allowance.asks_above_zero(cost);
        let budget = if above_zero { self.allowance.limit } else { self.allowance.limit - cost };
        let mut whole: u64 = view.counts.iter().skip(1).sum();
        for (ahead, oldest) in view.counts.iter().enumerate() {
            let start = (view.newest + ahead as u64) * self.cell;
            let earliest = if ahead == 0 { view.offset } else { 0 };
            if let Some(offset) = self.first_offset(whole, *oldest, budget, above_zero) {
                return start + offset.max(earliest);
            }
            whole -= view.counts.get(ahead + 1).copied().unwrap_or(0);
        }
        // Behind the last counted cell nothing counts any more.
        (view.newest + view.counts.len() as u64) * self.cell
    }

    /// The first offset into a cell at which its estimate is within `budget` (with `strictly`: below it), if there is one.
    fn first_offset(&self, whole: u64, oldest: u64, budget: u64, strictly: bool) -> Option<u64> {
        let left = u128::from(budget.checked_sub(whole)?) * u128::from(self.cell);
        let left = left.checked_sub(u128::from(strictly))?;
        let inside = match u128::from(oldest) {
            0 => self.cell,
            oldest => (left / oldest).min(u128::from(self.cell)) as u64,
        };
        (inside > 0).then(|| self.cell - inside)
    }

    /// Adds `units` to the newest cell.
    #[inline]
    fn take(&self, state: &mut State, units: u64, at: Moment<'_>) -> Taken {
        let newest = match state {
            State::Pair { cell, current, .. } => {
                *current += units;
                *cell
            }
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
    pub(crate) fn give_back(&self, state: &mut State, charged: &Charged, keep: u64) -> bool {
        let cell = charged.at.as_micros() / self.cell;
        let count = match state {
            State::Pair { cell: newest, previous, current } => match newest.saturating_sub(cell) {
                0 => Some(current),
                1 => Some(previous),
                _ => None,
            },
            State::Cells(cells) => {
                let age = cells.cell.saturating_sub(cell);
                cells.counts.iter_mut().rev().nth(usize::try_from(age).unwrap_or(usize::MAX))
            }
            _ => None,
        };
        let Some(count) = count else { return false };
        let before = *count;
        *count = before.saturating_sub(charged.units.saturating_sub(keep));
        *count != before
    }

    /// When the newest of what was counted counts no more.
    #[inline]
    pub(crate) fn influence_end(&self, state: &State) -> Option<u64> {
        let (newest, place) = match state {
            State::Pair { previous: 0, current: 0, .. } => None,
            State::Pair { cell, current, .. } => Some((*cell, u64::from(*current > 0))),
            State::Cells(cells) => {
                let place = cells.counts.iter().rposition(|count| *count > 0);
                place.map(|place| (cells.cell, place as u64))
            }
            _ => None,
        }?;
        Some((newest + place + 1) * self.cell)
    }

    pub(crate) fn standing(&self, state: &State, at: Moment<'_>) -> Standing {
        self.standing_with(state, self.used(state, at), at)
    }

    #[inline]
    fn standing_with(&self, state: &State, used: Used, at: Moment<'_>) -> Standing {
        let remaining = self.allowance.remaining(used);
        let Some(end) = self.influence_end(state) else {
            return Standing { remaining, reset: Micros::ZERO, next: Micros::ZERO };
        };
        let newest = match state {
            State::Pair { cell, .. } => *cell,
            State::Cells(cells) => cells.cell,
            _ => 0,
        };
        Standing { remaining, reset: at.until(end), next: at.until((newest + 1) * self.cell) }
    }
}

/// `count` times `part` of `whole`, rounded down, and whether there is a rest.
#[inline]
fn share(count: u64, part: u64, whole: u64) -> (u64, bool) {
    if count == 0 {
        return (0, false);
    }
    let product = u128::from(count) * u128::from(part);
    match u64::try_from(product) {
        Ok(product) => (product / whole, product % whole != 0),
        Err(_) => {
            let whole = u128::from(whole);
            ((product / whole) as u64, product % whole != 0)
        }
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
