//! After the decision: giving back, charging more, releasing.

use crate::moment::{Checked, Commit, Moment, Taken, Ticket};
use crate::plan::Plan;
use crate::{Charged, Limit, Outcome, Period, State, Timestamp};

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
    /// ```
    /// use tollgate_core::{Algorithm, Asked, FixedWindow, Limit, Micros, Outcome, Rules, State, Timestamp, step};
    ///
    /// let spec = FixedWindow { limit: 10, window: Micros::from_secs(60) };
    /// let limit = Limit::new(Algorithm::FixedWindow(spec), Rules::default())?;
    /// let (mut state, now, ticket) = (State::Fresh, Timestamp::EPOCH, 1);
    /// let mut outcomes = [Outcome::default()];
    /// let asked = Asked { limit: &limit, state: &mut state, cost: 8, period: None };
    /// step(&mut [asked], now, ticket, None, &mut outcomes);
    ///
    /// // It turned out to cost 3: five come back.
    /// let charged = outcomes[0].charged(ticket).expect("8 units were taken");
    /// assert!(limit.settle(&mut state, &charged, 3, None, now));
    /// assert_eq!(limit.standing(&state, None, now).remaining, 7);
    /// # Ok::<(), tollgate_core::SpecError>(())
    /// ```
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
        let at = Moment::new(now, period.as_ref());
        if units < charged.units || (units == charged.units && charged.fraction > 0) {
            return self.plan().give_back(state, charged, units, at);
        }
        let more = units - charged.units;
        more > 0 && self.charge_more(state, charged, more, at)
    }

    fn charge_more(&self, state: &mut State, charged: &Charged, more: u64, at: Moment<'_>) -> bool {
        let plan = self.plan();
        let clamped = plan.tidy(state, at);
        let ticket = Ticket { number: charged.ticket, held: None };
        let what = Commit { cost: more, take: true, retry: false, ticket };
        let now = Timestamp::from_micros(at.now);
        let mut outcome = Outcome::begun(Checked::at_once(false, clamped), now);
        match plan {
            Plan::Bucket(plan) => {
                outcome.took(plan.0.charge_more(state, more, charged.fraction, at))
            }
            Plan::WideBucket(plan) => {
                outcome.took(plan.charge_more(state, more, charged.fraction, at))
            }
            Plan::Concurrency(plan) => {
                outcome.took(Taken::units(plan.widen(state, charged, more), at.now));
            }
            plan => plan.commit(state, at, &what, &mut outcome),
        }
        outcome.changed
    }

    /// Frees the slot that `charged` holds and says whether `state` changed; nothing happens where it has ended, or where
    /// this is no concurrency limit.
    pub fn release(&self, state: &mut State, charged: &Charged, now: Timestamp) -> bool {
        match self.plan() {
            Plan::Concurrency(plan) => {
                plan.tidy(state, Moment::new(now, None));
                // The whole slot, also where it was widened since.
                plan.give_back(state, &Charged { units: u64::MAX, ..*charged }, 0)
            }
            _ => false,
        }
    }
}
