//! What every algorithm is told of the decision, and what it answers to a charge.

use crate::{Micros, Period, Timestamp};

/// When, and for a quota in which period.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// Microseconds since the epoch.
    pub(crate) now: u64,
    pub(crate) period: Option<Period>,
}

impl Moment {
    pub(crate) fn new(now: Timestamp, period: Option<Period>) -> Moment {
        Moment { now: now.as_micros(), period }
    }

    /// From now until `end`; nothing where that has passed.
    pub(crate) fn until(&self, end: u64) -> Micros {
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
