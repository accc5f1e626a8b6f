//! What every algorithm is told of the decision, and what it answers to a charge.

use crate::{Micros, Period, Retry, Timestamp};

/// When, and for a quota in which period.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment<'a> {
    /// Microseconds since the epoch.
    pub(crate) now: u64,
    pub(crate) period: Option<&'a Period>,
}

impl<'a> Moment<'a> {
    #[inline]
    pub(crate) fn new(now: Timestamp, period: Option<&'a Period>) -> Moment<'a> {
        Moment { now: now.as_micros(), period }
    }

    /// From now until `end`; nothing where that has passed.
    #[inline]
    pub(crate) fn until(self, end: u64) -> Micros {
        Micros::new(end.saturating_sub(self.now))
    }
}

/// What a decision is known by in logs and slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket {
    pub(crate) number: u64,
    /// How long a slot is held from now, where that is known beforehand.
    pub(crate) held: Option<u64>,
}

/// What a charge really took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) units: u64,
    /// Ticks beyond whole units.
    pub(crate) fraction: u64,
    /// The moment under which it was taken.
    pub(crate) at: u64,
}

impl Taken {
    pub(crate) const fn units(units: u64, at: u64) -> Taken {
        Taken { units, fraction: 0, at }
    }

    pub(crate) const fn is_nothing(&self) -> bool {
        self.units == 0 && self.fraction == 0
    }
}

/// What a limit says before anything is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checked {
    pub(crate) refused: bool,
    /// How long the request waits before it leaves, if it is admitted.
    pub(crate) wait: Micros,
    /// A wrong clock's state was cut.
    pub(crate) clamped: bool,
}

impl Checked {
    pub(crate) const fn at_once(refused: bool, clamped: bool) -> Checked {
        Checked { refused, wait: Micros::ZERO, clamped }
    }
}

/// What is to be done once all limits have been heard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Commit {
    pub(crate) cost: u64,
    /// Take the cost, or as much of it as the deepest debt allows.
    pub(crate) take: bool,
    /// Say when the cost would be admitted, after that.
    pub(crate) retry: bool,
    pub(crate) ticket: Ticket,
}

/// Admitted now, or not asked.
pub(crate) const AT_ONCE: Retry = Retry::After(Micros::ZERO);
