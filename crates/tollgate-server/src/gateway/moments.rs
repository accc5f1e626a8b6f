//! By whose clock a decision's moments are. The waiting room goes by this process's.

use tollgate_core::Timestamp;
use tollgate_policy::{Decision, Held};

/// By whose clock a decision's moments are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moments {
    /// By this process's.
    Own,
    /// By a shared store's, or partly so. Its clock is another, so its moments are read as spans from the time at which this
    /// process heard of the decision: that is never too early.
    Heard(Timestamp),
}

impl Moments {
    /// When the request was decided, by this process's clock, in microseconds.
    pub(super) fn decided(self, decision: &Decision) -> u64 {
        match self {
            Moments::Own => decision.now.as_micros(),
            Moments::Heard(at) => at.as_micros(),
        }
    }

    /// Since when a charge counts, by this process's clock, in microseconds.
    pub(super) fn charged(self, held: &Held) -> u64 {
        match self {
            Moments::Own => held.taken.charged.at.as_micros(),
            Moments::Heard(at) => at.as_micros(),
        }
    }
}
