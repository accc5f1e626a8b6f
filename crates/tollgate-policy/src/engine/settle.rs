//! The end of a request: what it took is kept, given back or freed.

use tollgate_core::{Micros, Timestamp};
use tollgate_store::{MemoryStore, Store, StoreError};

use super::Engine;
use crate::{Decision, Ends, Held};

/// What is to be done with one charge.
enum Step {
    GiveBack,
    Release,
    Nothing,
}

impl<S: Store> Engine<S> {
    /// Ends a request: gives back the charges whose `charge_when` does not count `status`, and frees its slots. `None`: no
    /// status ever came (client gone, time-out), so charges stay. It goes by the policy that decided, whatever was loaded
    /// meanwhile.
    ///
    /// # Errors
    /// [`StoreError`] where the store gives no answer; the rest is settled all the same, and the first error is returned.
    pub async fn settle(
        &self,
        decision: Decision,
        status: Option<u16>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut result = Ok(());
        for held in decision.taken {
            let step = at_end(&held.ends, status);
            result = result.and(self.end(held, step, now).await);
        }
        result
    }

    /// Takes a request back that was admitted with a delay and never ran: everything it took is given back, whatever the
    /// limits' rules, and its slots are freed. The gateway calls it when a client leaves while it waits. (A request that
    /// was admitted at once holds only what its end may change, and only that is given back.) What made it wait counts from
    /// the moment at which it would have left, because nothing of that can have been refilled before.
    ///
    /// # Errors
    /// [`StoreError`] where the store gives no answer; the rest is given back all the same, and the first error is returned.
    pub async fn withdraw(&self, decision: Decision, now: Timestamp) -> Result<(), StoreError> {
        let mut result = Ok(());
        for mut held in decision.taken {
            let step = before_start(&mut held);
            result = result.and(self.end(held, step, now).await);
        }
        result
    }

    async fn end(&self, held: Held, step: Step, now: Timestamp) -> Result<(), StoreError> {
        ended(match step {
            Step::GiveBack => self.store().settle(held.taken, 0, now).await,
            Step::Release => self.store().release(held.taken, now).await,
            Step::Nothing => Ok(()),
        })
    }
}

impl Engine<MemoryStore> {
    /// [`Engine::settle`], at once.
    ///
    /// # Errors
    /// [`StoreError`] where the store gives no answer; the rest is settled all the same, and the first error is returned.
    pub fn settle_now(
        &self,
        decision: Decision,
        status: Option<u16>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut result = Ok(());
        for held in decision.taken {
            result = result.and(ended(match at_end(&held.ends, status) {
                Step::GiveBack => self.store().settle_now(held.taken, 0, now),
                Step::Release => self.store().release_now(held.taken, now),
                Step::Nothing => Ok(()),
            }));
        }
        result
    }
}

/// A limit that reloads took away meanwhile counts nothing any more, so there is nothing to give back.
fn ended(answer: Result<(), StoreError>) -> Result<(), StoreError> {
    match answer {
        Err(StoreError::UnknownLimit(_)) => Ok(()),
        other => other,
    }
}

fn at_end(ends: &Ends, status: Option<u16>) -> Step {
    match (ends, status) {
        (Ends::Release, _) => Step::Release,
        (Ends::ChargeWhen(statuses), Some(status)) if !statuses.contains(&status) => Step::GiveBack,
        (Ends::ChargeWhen(_) | Ends::Stays, _) => Step::Nothing,
    }
}

fn before_start(held: &mut Held) -> Step {
    if held.ends == Ends::Release {
        return Step::Release;
    }
    if held.wait > Micros::ZERO {
        let at = held.taken.charged.at.as_micros().saturating_add(held.wait.get());
        held.taken.charged.at = Timestamp::from_micros(at);
    }
    Step::GiveBack
}
