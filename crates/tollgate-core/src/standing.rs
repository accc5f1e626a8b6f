//! How a key stands, without asking for anything.

use crate::{Limit, Period, Standing, State, Timestamp};

impl Limit {
    /// How `state` stands at `now`. `period` is the one around `now`, needed by a quota.
    ///
    /// # Panics
    /// Where a quota comes without its period.
    #[must_use]
    pub fn standing(&self, state: &State, period: Option<Period>, now: Timestamp) -> Standing {
        let _ = (state, period, now);
        unimplemented!("follows at once")
    }

    /// Whether forgetting `state` at `now` would give its key nothing: it counts nothing any more.
    ///
    /// `period` is the latest known, for a quota; without one a quota that counts anything is not fresh.
    #[must_use]
    pub fn is_fresh(&self, state: &State, period: Option<Period>, now: Timestamp) -> bool {
        let _ = (state, period, now);
        unimplemented!("follows at once")
    }
}
