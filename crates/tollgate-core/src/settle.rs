//! After the decision: giving back, charging more, releasing.

use crate::{Charged, Limit, Period, State, Timestamp};

impl Limit {
    /// Corrects what was `charged` to `units`, once the true cost is known, and says whether `state` changed.
    ///
    /// Fewer units are given back: in a window, log, quota or slot exactly, in its own cell, entry, period or slot, if
    /// that still counts. A bucket gets back at t what was charged at s as exactly max(0, min(g*T, missing) - (t - s)) of
    /// its time, since it may have been full in between. More units are charged at `now` as `overdraw` charges: the debt
    /// stays within `max_debt`, or one capacity. 0 gives all back.
    ///
    /// `period` is the one around `now`, needed by a quota.
    ///
    /// # Panics
    /// Where a quota is charged more without its period.
    pub fn settle(
        &self,
        state: &mut State,
        charged: &Charged,
        units: u64,
        period: Option<Period>,
        now: Timestamp,
    ) -> bool {
        let _ = (state, charged, units, period, now);
        unimplemented!("follows at once")
    }

    /// Frees the slot that `charged` holds and says whether `state` changed; nothing happens where it has ended, or where
    /// this is no concurrency limit.
    pub fn release(&self, state: &mut State, charged: &Charged, now: Timestamp) -> bool {
        let _ = (state, charged, now);
        unimplemented!("follows at once")
    }
}
