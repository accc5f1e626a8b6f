//! What a step says, of each limit and of the request.

use crate::moment::{AT_ONCE, Checked, Taken};
use crate::{Charged, Micros, Timestamp};

/// When the same request would be admitted, if nothing else came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Retry {
    /// After this span: refused one microsecond before, admitted at it. Zero where that is not known (concurrency).
    After(Micros),
    /// Never, whatever the wait.
    Never,
}

impl Default for Retry {
    /// At once.
    fn default() -> Retry {
        Retry::After(Micros::ZERO)
    }
}

/// How a key stands under a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The largest cost that would be admitted now.
    pub remaining: u64,
    /// Until the state is as fresh as new.
    pub reset: Micros,
    /// Until `remaining` grows (windows: to the next edge); zero where nothing is counted.
    pub next: Micros,
}

/// What one limit says of a request. The default says nothing yet: it is there to be written over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// It refuses (for a shadow limit: it would).
    pub refused: bool,
    /// How long it makes the request wait; zero unless a leaky bucket with delay that admits.
    pub wait: Micros,
    /// When it would admit; `After(ZERO)` where it admits now.
    pub retry: Retry,
    /// Units really taken from it (after a clamp of debt, what was really taken, rounded down).
    pub units: u64,
    /// What a clamp of a bucket's debt took beyond whole units, in parts of a unit that the limit alone can read.
    pub fraction: u64,
    /// The moment under which it was taken: now, or where a clock stepped back, the moment at which the state stands still.
    pub at: Timestamp,
    /// The state must be written back: it was charged, or a wrong clock's state was clamped.
    pub changed: bool,
    /// How the key stands after the decision.
    pub standing: Standing,
}

impl Outcome {
    /// What is said while nothing is known yet but this.
    #[inline]
    pub(crate) fn begun(checked: Checked, now: Timestamp) -> Outcome {
        let Checked { refused, wait, clamped: changed } = checked;
        let standing = Standing::default();
        Outcome { refused, wait, retry: AT_ONCE, units: 0, fraction: 0, at: now, changed, standing }
    }

    #[inline]
    pub(crate) fn took(&mut self, taken: Taken) {
        if !taken.is_nothing() {
            self.units = taken.units;
            self.fraction = taken.fraction;
            self.at = Timestamp::from_micros(taken.at);
            self.changed = true;
        }
    }

    /// What to keep in order to [`settle`](crate::Limit::settle) or [`release`](crate::Limit::release) it later; `ticket`
    /// is the one that [`step`](crate::step) was given. `None` where nothing was taken.
    #[must_use]
    #[inline]
    pub fn charged(&self, ticket: u64) -> Option<Charged> {
        let Outcome { units, fraction, at, .. } = *self;
        (units > 0 || fraction > 0).then_some(Charged { units, fraction, at, ticket })
    }
}

/// What all the limits of a request say together. The default says nothing yet: it is there to be written over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// No enforced limit refuses.
    pub admitted: bool,
    /// The longest of the waits where admitted.
    pub delay: Micros,
    /// The longest of the retry times where refused, else `After(ZERO)`.
    pub retry: Retry,
}
