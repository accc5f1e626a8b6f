//! A reload: what was counted under the old parameters, under the new ones.

use crate::{Limit, State, Timestamp};

impl Limit {
    /// `state` of `old`, as this limit goes on with it from `now`.
    ///
    /// Counts of windows, logs, quotas and slots stay as they are. A bucket's level becomes the smaller of itself and the
    /// new capacity, and a full one stays full; a fraction that the new ticks cannot hold is rounded down, never in the
    /// caller's favour. Another algorithm, window or number of cells begins fresh.
    #[must_use]
    pub fn carry_over(&self, old: &Limit, state: State, now: Timestamp) -> State {
        let _ = (old, state, now);
        unimplemented!("follows at once")
    }
}
