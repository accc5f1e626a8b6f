//! The one entry that steps several limits all or nothing.

#[cfg(doc)]
use crate::Words;
use crate::kept::Kept;
use crate::moment::{AT_ONCE, Commit, Moment, Ticket};
use crate::{Decision, Limit, Micros, Outcome, Period, State, Timestamp};

/// One limit asked for one key. Its state is a [`State`], or for [`Checking`] and [`Committing`] also the words that
/// [`Limit::encode`] makes of one.
#[derive(Debug)]
pub struct Asked<'a, S = State> {
    /// The limit.
    pub limit: &'a Limit,
    /// What is remembered of the key; written in place. To be kept where [`Outcome::changed`]; where not, it differs from
    /// what it was at most by what counts no more.
    pub state: &'a mut S,
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
    let mut checking = Checking::at(now);
    for (ask, outcome) in asked.iter_mut().zip(outcomes.iter_mut()) {
        checking.check(ask, outcome);
    }
    let mut committing = checking.all_checked(ticket, hold);
    for (ask, outcome) in asked.iter_mut().zip(outcomes.iter_mut()) {
        committing.commit(ask, outcome);
    }
    committing.decision()
}

/// The first half of [`step`], one limit at a time, for those who keep limits, states and outcomes in places of their own:
/// each is checked, and nothing is taken yet.
#[derive(Debug)]
pub struct Checking {
    now: Timestamp,
    decision: Decision,
}

/// The second half of [`step`]: each limit that was checked is charged, or tells when it would be.
#[derive(Debug)]
pub struct Committing {
    now: Timestamp,
    decision: Decision,
    ticket: Ticket,
}

impl Checking {
    /// Nothing is checked yet.
    #[must_use]
    #[inline]
    pub fn at(now: Timestamp) -> Checking {
        Checking { now, decision: Decision { admitted: true, delay: Micros::ZERO, retry: AT_ONCE } }
    }

    /// Hears what a limit alone says.
    ///
    /// # Panics
    /// Where a quota comes without its period.
    #[inline]
    pub fn check(&mut self, asked: &mut Asked<'_>, outcome: &mut Outcome) {
        self.hear(asked, outcome);
    }

    /// [`Checking::check`] of a state that is in words. A limit whose states no words hold ([`Words::Boxed`]) refuses.
    ///
    /// # Panics
    /// As [`Checking::check`].
    #[inline]
    pub fn check_words(&mut self, asked: &mut Asked<'_, [u64; 2]>, outcome: &mut Outcome) {
        self.hear(asked, outcome);
    }

    #[inline(always)]
    fn hear(&mut self, asked: &mut Asked<'_, impl Kept>, outcome: &mut Outcome) {
        let at = Moment::new(self.now, asked.period.as_ref());
        let checked = asked.limit.plan().check(asked.state, asked.cost, at);
        *outcome = Outcome::begun(checked, self.now);
        if !asked.limit.rules().shadow {
            self.decision.admitted &= !outcome.refused;
            self.decision.delay = self.decision.delay.max(outcome.wait);
        }
    }

    /// All have been heard. `ticket` and `hold` are [`step`]'s.
    #[must_use]
    #[inline]
    pub fn all_checked(self, ticket: u64, hold: Option<Micros>) -> Committing {
        let Checking { now, mut decision } = self;
        if !decision.admitted {
            decision.delay = Micros::ZERO;
        }
        let held = hold.map(|hold| decision.delay.get().saturating_add(hold.get()));
        Committing { now, decision, ticket: Ticket { number: ticket, held } }
    }
}

impl Committing {
    /// Takes what the limit's rules say, and tells in `outcome`, which is [`Checking::check`]'s, how it then stands.
    ///
    /// # Panics
    /// Where a quota comes without its period.
    #[inline]
    pub fn commit(&mut self, asked: &mut Asked<'_>, outcome: &mut Outcome) {
        self.charge(asked, outcome);
    }

    /// [`Committing::commit`] of a state that is in words; see [`Checking::check_words`].
    ///
    /// # Panics
    /// As [`Committing::commit`].
    #[inline]
    pub fn commit_words(&mut self, asked: &mut Asked<'_, [u64; 2]>, outcome: &mut Outcome) {
        self.charge(asked, outcome);
    }

    #[inline(always)]
    fn charge(&mut self, asked: &mut Asked<'_, impl Kept>, outcome: &mut Outcome) {
        let (admitted, refused) = (self.decision.admitted, outcome.refused);
        let rules = asked.limit.rules();
        let take = (admitted && !refused) || rules.count_refused || (rules.overdraw && refused);
        let retry = refused || (!admitted && rules.count_refused);
        let what = Commit { cost: asked.cost, take, retry, ticket: self.ticket };
        let at = Moment::new(self.now, asked.period.as_ref());
        asked.limit.plan().commit(asked.state, at, &what, outcome);
        if !admitted {
            outcome.wait = Micros::ZERO;
            if !rules.shadow {
                self.decision.retry = self.decision.retry.max(outcome.retry);
            }
        }
    }

    /// What all say together.
    #[must_use]
    #[inline]
    pub fn decision(&self) -> Decision {
        self.decision
    }
}
