//! Sliding windows in cells: the newest cells count whole, the oldest by the share of it that is still inside.
//!
//! With E the estimate, admissions ask whether E + cost <= limit; as limit and cost are whole, E rounded up decides exactly.

mod cells;
mod pair;

use crate::allowance::{Allowance, Used};
use crate::moment::{AT_ONCE, Moment};
use crate::plan::Plan;
use crate::spec_error::checked_span;
use crate::{Micros, Retry, Rules, SlidingWindow, SpecError, Standing};

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
}

pub(crate) fn compile(spec: &SlidingWindow, rules: &Rules) -> Result<Plan, SpecError> {
    let window = checked_span("window", spec.window)?;
    if !(1..=100).contains(&spec.cells) {
        return Err(SpecError::Cells { cells: spec.cells });
    }
    let cells = u64::from(spec.cells);
    if !window.is_multiple_of(cells) {
        return Err(SpecError::UnevenCells { window, cells: spec.cells });
    }
    let allowance = Allowance::new(spec.limit, rules)?;
    let plan = SlidingWindowPlan { allowance, cell: window / cells, cells };
    Ok(if cells == 1 { Plan::SlidingPair(plan) } else { Plan::SlidingCells(plan) })
}

impl SlidingWindowPlan {
    /// Whether counts whose newest cell is `newest` were written by a wrong clock: they are ahead of now by more than a
    /// window. Cells ahead by less stand still.
    #[inline]
    fn is_wrong(&self, newest: u64, at: Moment<'_>) -> bool {
        (newest * self.cell).saturating_sub(at.now) > self.cell * self.cells
    }

    /// The estimate from the `oldest` cell's units and those of the others, which count `whole`.
    #[inline]
    fn used(&self, newest: u64, oldest: u64, whole: u64, at: Moment<'_>) -> Used {
        let offset = at.now.saturating_sub(newest * self.cell);
        let (share, rest) = share(oldest, self.cell - offset, self.cell);
        Used { down: whole + share, up: whole + share + u64::from(rest) }
    }

    fn retry(&self, view: &View<'_>, used: Used, cost: u64, at: Moment<'_>) -> Retry {
        if self.allowance.never(cost) {
            Retry::Never
        } else if self.allowance.refuses(used, cost) {
            Retry::After(at.until(self.first_fit(view, cost, at)))
        } else {
            AT_ONCE
        }
    }

    /// The first moment at which `cost` is admitted, cell by cell: with `whole` and `oldest` as they will be, solves
    /// whole * cell + oldest * inside <= budget * cell for `inside`, the part of the oldest cell that still counts.
    fn first_fit(&self, view: &View<'_>, cost: u64, at: Moment<'_>) -> u64 {
        let above_zero = self.allowance.asks_above_zero(cost);
        let budget = if above_zero { self.allowance.limit } else { self.allowance.limit - cost };
        let mut whole: u64 = view.counts.iter().skip(1).sum();
        for (ahead, oldest) in view.counts.iter().enumerate() {
            let start = (view.newest + ahead as u64) * self.cell;
            let earliest = if ahead == 0 { at.now.saturating_sub(start) } else { 0 };
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

    /// How it stands where the newest of what was counted counts until `end`.
    #[inline]
    fn standing_until(
        &self,
        end: Option<u64>,
        newest: u64,
        used: Used,
        at: Moment<'_>,
    ) -> Standing {
        let remaining = self.allowance.remaining(used);
        let Some(end) = end else {
            return Standing { remaining, reset: Micros::ZERO, next: Micros::ZERO };
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
