//! Taking all of a call's charges or none.

use tollgate_core::Timestamp;

use super::MemoryStore;
use super::attempt::{Again, Decided, attempt};
use super::hash::KeyHash;
use super::plan::{Ask, Plan, Redirected};
use crate::{Call, ChargeOutcome, Source, StoreError, StoreOutcome, Taken};

/// How often a newcomer looks for room before it goes to the overflow bucket: others may take the room that it made.
pub(crate) const PATIENCE: usize = 8;

impl MemoryStore {
    /// [`Store::charge_all`](crate::Store::charge_all), at once.
    ///
    /// # Errors
    /// [`StoreError::UnknownLimit`], [`StoreError::MissingPeriod`], [`StoreError::OutOfMemory`].
    pub fn charge_all_now(&self, call: &Call<'_>) -> Result<StoreOutcome, StoreError> {
        let mut answer = StoreOutcome::default();
        self.charge_all_into_now(call, &mut answer)?;
        Ok(answer)
    }

    /// [`Store::charge_all_into`](crate::Store::charge_all_into), at once.
    ///
    /// # Errors
    /// As [`MemoryStore::charge_all_now`].
    pub fn charge_all_into_now(
        &self,
        call: &Call<'_>,
        answer: &mut StoreOutcome,
    ) -> Result<(), StoreError> {
        let mut redirected = Redirected::new();
        let mut searches = 0;
        loop {
            let registry = self.registry.load();
            let mut plan = Plan::default();
            plan.fill(&registry, &self.hasher, call, &redirected)?;
            let again = loop {
                match attempt(&mut plan, call, &self.tickets) {
                    Ok(decided) => {
                        tell(&plan, call.now, &decided, answer);
                        return Ok(());
                    }
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

/// Writes the answer.
#[inline]
fn tell(plan: &Plan<'_>, now: Timestamp, decided: &Decided, answer: &mut StoreOutcome) {
    answer.decision = decided.decision;
    answer.now = now;
    answer.limits.clear();
    answer.receipt.taken.clear();
    for (place, index) in plan.of_charge.iter().enumerate() {
        let ask = &plan.asks[*index as usize];
        answer.limits.push(ChargeOutcome { outcome: ask.outcome, source: Source::Store });
        // Those that were added to an earlier one share its entry.
        let charged = ask.outcome.charged(decided.ticket).filter(|_| ask.place == place);
        let Some(charged) = charged else { continue };
        let room = &ask.counter.room;
        if room.is_full() {
            room.frees_at(now.as_micros().saturating_add(ask.outcome.standing.reset.get()));
        }
        let (limit, key) = (ask.counter.id, ask.key.to_u128());
        let (period, source) = (ask.period, Source::Store);
        answer.receipt.taken.push(Taken { place, limit, key, charged, period, source });
    }
}
