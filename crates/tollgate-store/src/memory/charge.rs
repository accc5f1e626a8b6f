//! Taking all of a call's charges or none.

use smallvec::SmallVec;
use tollgate_core::{Asked, Decision, Outcome, State, Timestamp, step};

use super::MemoryStore;
use super::attempt::{Again, attempt};
use super::hash::KeyHash;
use super::plan::{Ask, Plan, Redirected};
use crate::limiter::UNDECIDED;
use crate::{Call, ChargeOutcome, Receipt, Source, StoreError, StoreOutcome, Taken};

/// How often a newcomer looks for room before it goes to the overflow bucket: others may take the room that it made.
pub(crate) const PATIENCE: usize = 8;

/// What was decided, by distinct key.
pub(crate) struct Decided {
    pub(crate) decision: Decision,
    pub(crate) outcomes: SmallVec<[Outcome; 4]>,
    /// The ticket it was decided under.
    pub(crate) ticket: u64,
}

impl MemoryStore {
    /// [`Store::charge_all`](crate::Store::charge_all), at once.
    ///
    /// # Errors
    /// [`StoreError::UnknownLimit`], [`StoreError::MissingPeriod`], [`StoreError::OutOfMemory`].
    pub fn charge_all_now(&self, call: &Call<'_>) -> Result<StoreOutcome, StoreError> {
        let mut redirected = Redirected::new();
        let mut searches = 0;
        loop {
            let registry = self.registry.load();
            let plan = Plan::new(&registry, &self.hasher, call, &redirected)?;
            let again = loop {
                match attempt(&plan.asks, call, &self.tickets) {
                    Ok(decided) => return Ok(answer(&plan, call.now, &decided)),
                    Err(Again::Changed) => {}
                    Err(again) => break again,
                }
            };
            match again {
                Again::Changed | Again::Moved => {}
                Again::Full(index) => {
                    searches += 1;
                    let patient = searches <= PATIENCE;
                    if !(patient && self.make_room_for(&registry, &plan.asks, index, call.now)) {
                        redirect(&plan.asks[index], &mut redirected)?;
                        searches = 0;
                    }
                }
            }
        }
    }
}

/// Sends a newcomer to the overflow bucket of its limit.
fn redirect(ask: &Ask<'_>, redirected: &mut Redirected) -> Result<(), StoreError> {
    if ask.key == KeyHash::OVERFLOW {
        return Err(StoreError::OutOfMemory(ask.counter.id));
    }
    ask.counter.room.count_overflow();
    redirected.push((ask.counter.id, ask.key));
    Ok(())
}

/// Runs the arithmetic over `states`.
#[inline]
pub(crate) fn step_all(
    asks: &[Ask<'_>],
    states: &mut [State],
    call: &Call<'_>,
    ticket: u64,
) -> Decided {
    let mut outcomes: SmallVec<[Outcome; 4]> = SmallVec::new();
    let mut asked: SmallVec<[Asked<'_>; 4]> = SmallVec::new();
    for (ask, state) in asks.iter().zip(states) {
        let Ask { cost, period, .. } = *ask;
        ask.counter.saw(period);
        outcomes.push(UNDECIDED);
        asked.push(Asked { limit: &ask.counter.limit, state, cost, period });
    }
    let decision = step(&mut asked, call.now, ticket, call.hold, &mut outcomes);
    Decided { decision, outcomes, ticket }
}

#[inline]
fn answer(plan: &Plan<'_>, now: Timestamp, decided: &Decided) -> StoreOutcome {
    let Decided { decision, outcomes, ticket } = decided;
    let mut limits = SmallVec::new();
    for index in &plan.of_charge {
        limits.push(ChargeOutcome { outcome: outcomes[*index as usize], source: Source::Store });
    }
    let mut receipt = Receipt::default();
    for (ask, outcome) in plan.asks.iter().zip(outcomes) {
        let Some(charged) = outcome.charged(*ticket) else { continue };
        let room = &ask.counter.room;
        if room.is_full() {
            room.frees_at(now.as_micros().saturating_add(outcome.standing.reset.get()));
        }
        let (limit, key) = (ask.counter.id, ask.key.to_u128());
        receipt.taken.push(Taken {
            place: ask.place,
            limit,
            key,
            charged,
            period: ask.period,
            source: Source::Store,
        });
    }
    StoreOutcome { decision: *decision, limits, receipt, now }
}
