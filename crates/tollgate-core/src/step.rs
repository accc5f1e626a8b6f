//! The one entry that steps several limits all or nothing.

use crate::moment::{AT_ONCE, Checked, Commit, Moment, Ticket};
use crate::{Decision, Limit, Micros, Outcome, Period, State, Timestamp};

/// One limit asked for one key.
#[derive(Debug)]
pub struct Asked<'a> {
    /// The limit.
    pub limit: &'a Limit,
    /// What is remembered of the key; written in place. To be kept where [`Outcome::changed`]; where not, it differs from
    /// what it was at most by what counts no more.
    pub state: &'a mut State,
    /// Units asked; 0 asks without taking.
    pub cost: u64,
    /// The period around now; needed by a quota, ignored by others.
    pub period: Option<Period>,
}

/// Steps `asked` at `now`: all are checked, then all are charged or none (and what section 5 of the design says of
/// `count_refused`, `overdraw` and shadow limits). Charges with equal limit and key are one entry with the sum of their costs.
///
/// `ticket` names what this decision takes (see [`Charged`](crate::Charged)). `hold` is how long a slot will be held
/// after the request leaves, where that is known beforehand (a replay); `None` holds it until released, `ttl` at the latest.
/// `outcomes` gets one entry for each of `asked`, in order.
///
/// ```
/// use tollgate_core::{
///     Algorithm, Asked, FixedWindow, Limit, Micros, Outcome, Retry, Rules, SlidingLog, State, Timestamp, step,
/// };
///
/// let window = Micros::from_secs(60);
/// let narrow = Algorithm::SlidingLog(SlidingLog { limit: 1, window });
/// let wide = Algorithm::FixedWindow(FixedWindow { limit: 100, window });
/// let narrow = Limit::new(narrow, Rules::default())?;
/// let wide = Limit::new(wide, Rules::default())?;
/// let (mut user, mut tenant) = (State::Fresh, State::Fresh);
/// let mut ask = |now| {
///     let mut asked = [
///         Asked { limit: &narrow, state: &mut user, cost: 1, period: None },
///         Asked { limit: &wide, state: &mut tenant, cost: 1, period: None },
///     ];
///     let mut outcomes = [Outcome::default(); 2];
///     (step(&mut asked, Timestamp::from_micros(now), now, None, &mut outcomes), outcomes)
/// };
///
/// assert!(ask(7_000_000).0.admitted);
/// let (refusal, outcomes) = ask(8_000_000);
/// assert_eq!(refusal.retry, Retry::After(Micros::from_secs(59)));
/// // The tenant's limit would admit, so it is not named, and nothing was taken from it.
/// assert!(outcomes[0].refused && !outcomes[1].refused);
/// assert_eq!(outcomes[1].standing.remaining, 99);
/// # Ok::<(), tollgate_core::SpecError>(())
/// ```
///
/// # Panics
/// Where `outcomes` is shorter than `asked`, or a quota comes without its period.
pub fn step(
    asked: &mut [Asked<'_>],
    now: Timestamp,
    ticket: u64,
    hold: Option<Micros>,
    outcomes: &mut [Outcome],
) -> Decision {
    let outcomes = &mut outcomes[..asked.len()];
    let mut decision = Decision { admitted: true, delay: Micros::ZERO, retry: AT_ONCE };
    for (ask, outcome) in asked.iter_mut().zip(outcomes.iter_mut()) {
        *outcome = Outcome::begun(ask.check(now), now);
        if !ask.limit.rules().shadow {
            decision.admitted &= !outcome.refused;
            decision.delay = decision.delay.max(outcome.wait);
        }
    }
    if !decision.admitted {
        decision.delay = Micros::ZERO;
    }
    let held = hold.map(|hold| decision.delay.get().saturating_add(hold.get()));
    let ticket = Ticket { number: ticket, held };
    for (ask, outcome) in asked.iter_mut().zip(outcomes.iter_mut()) {
        ask.commit(decision.admitted, now, ticket, outcome);
        if !decision.admitted && !ask.limit.rules().shadow {
            decision.retry = decision.retry.max(outcome.retry);
        }
    }
    decision
}

impl Asked<'_> {
    /// What the limit alone says; nothing is taken yet.
    #[inline]
    fn check(&mut self, now: Timestamp) -> Checked {
        let at = Moment::new(now, self.period.as_ref());
        self.limit.plan().check(self.state, self.cost, at)
    }

    /// Takes what this limit's rules say, and tells how it then stands.
    #[inline]
    fn commit(&mut self, admitted: bool, now: Timestamp, ticket: Ticket, outcome: &mut Outcome) {
        let (rules, refused) = (self.limit.rules(), outcome.refused);
        let take = (admitted && !refused) || rules.count_refused || (rules.overdraw && refused);
        let retry = refused || (!admitted && rules.count_refused);
        let what = Commit { cost: self.cost, take, retry, ticket };
        let at = Moment::new(now, self.period.as_ref());
        self.limit.plan().commit(self.state, at, &what, outcome);
        if !admitted {
            outcome.wait = Micros::ZERO;
        }
    }
}
