//! By when a decision must have its answer.

use std::time::Duration;

use crate::Stopwatch;

/// The end of a time budget, which several calls of one decision share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    begun: Stopwatch,
    budget: Duration,
}

impl Deadline {
    /// `budget` from now on.
    pub(crate) fn within(budget: Duration) -> Deadline {
        Deadline { begun: Stopwatch::start(), budget }
    }

    /// What is left; zero once it is over.
    pub(crate) fn remaining(&self) -> Duration {
        self.budget.saturating_sub(Duration::from_nanos(self.begun.nanos()))
    }
}
