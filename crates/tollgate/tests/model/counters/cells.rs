//! Windows cut in cells that are aligned to the epoch: the fixed window and the sliding one.

use super::{Counter, RequestId};
use crate::model::rational::{Rat, ratio, whole};

/// All charges of a key, each with its time.
pub(crate) struct Cells {
    limit: u64,
    /// A cell's length in microseconds.
    cell: i64,
    /// How many cells count whole: the current one and those before it.
    whole_cells: i64,
    /// Whether the cell before those counts by the share of it that is still inside the window.
    slides: bool,
    taken: Vec<Taken>,
}

struct Taken {
    request: RequestId,
    at: i64,
    units: Rat,
}

impl Cells {
    /// A fixed window of that many microseconds.
    pub(crate) fn fixed(limit: u64, window: i64) -> Self {
        Self { limit, cell: window, whole_cells: 1, slides: false, taken: Vec::new() }
    }

    /// A sliding window of that many microseconds, in that many cells.
    pub(crate) fn sliding(limit: u64, window: i64, cells: i64) -> Self {
        assert_eq!(window % cells, 0, "a window divides by its cells");
        Self { limit, cell: window / cells, whole_cells: cells, slides: true, taken: Vec::new() }
    }

    /// By how many cells a charge lies behind.
    fn age(&self, at: i64, now: i64) -> i64 {
        now.div_euclid(self.cell) - at.div_euclid(self.cell)
    }

    /// The share of a charge that still counts.
    fn share(&self, at: i64, now: i64) -> Rat {
        let age = self.age(at, now);
        if age < self.whole_cells {
            whole(1)
        } else if age == self.whole_cells && self.slides {
            whole(1) - ratio(now.rem_euclid(self.cell), self.cell)
        } else {
            whole(0)
        }
    }

    /// When a charge stops counting.
    fn forgotten_at(&self, at: i64) -> i64 {
        let cells = self.whole_cells + i64::from(self.slides);
        (at.div_euclid(self.cell) + cells) * self.cell
    }
}

impl Counter for Cells {
    fn capacity(&self) -> Rat {
        whole(self.limit)
    }

    fn level(&self, now: i64) -> Rat {
        let counted = self
            .taken
            .iter()
            .fold(whole(0), |sum, taken| sum + &taken.units * self.share(taken.at, now));
        whole(self.limit) - counted
    }

    fn take(&mut self, request: RequestId, units: &Rat, now: i64) {
        let (cell, longest) = (self.cell, self.whole_cells + 1);
        self.taken.retain(|taken| now.div_euclid(cell) - taken.at.div_euclid(cell) <= longest);
        if *units > whole(0) {
            self.taken.push(Taken { request, at: now, units: units.clone() });
        }
    }

    fn give_back(&mut self, request: RequestId, _now: i64) {
        self.taken.retain(|taken| taken.request != request);
    }

    fn reset(&self, now: i64) -> Rat {
        let last = self.taken.iter().map(|taken| self.forgotten_at(taken.at)).max();
        whole(last.map_or(0, |end| (end - now).max(0)))
    }
}
