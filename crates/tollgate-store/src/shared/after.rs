//! After a decision: each charge is settled where it was taken. And looking at a key, or forgetting it.

use std::sync::atomic::Ordering;

use tollgate_core::{Standing, Timestamp};

use super::Node;
use super::limits::Held;
use super::remote::Remote;
use crate::memory::KeyHash;
use crate::{Charge, LimitId, Source, StoreError, Taken};

/// Where something was taken.
enum Taker {
    Local(LimitId),
    Shared(LimitId),
    Nobody,
}

fn taker(held: &Held, source: Source) -> Result<Taker, StoreError> {
    Ok(match source {
        Source::Store | Source::Lease => {
            Taker::Shared(held.remote.ok_or(StoreError::UnknownLimit(held.id))?)
        }
        Source::Estimate | Source::Share | Source::Node => Taker::Local(held.id),
        Source::Failure => Taker::Local(held.away),
        Source::Exhausted | Source::Unasked => Taker::Nobody,
    })
}

impl<R: Remote> Node<R> {
    /// [`Store::settle`](crate::Store::settle).
    pub(super) async fn settle_one(
        &self,
        taken: Taken,
        units: u64,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let now = self.shared_time(now);
        let held = self.limits.load().get(taken.limit)?.clone();
        match taker(&held, taken.source)? {
            Taker::Local(limit) => {
                self.settle_untold(&taken, units, now);
                self.local.settle_now(Taken { limit, ..taken }, units, now)
            }
            Taker::Shared(limit) => {
                if units < taken.charged.units {
                    held.gives_back.store(true, Ordering::Relaxed);
                }
                let permit = self.enter(now)?;
                self.ask(permit, self.remote.settle(Taken { limit, ..taken }, units, now)).await
            }
            Taker::Nobody => Ok(()),
        }
    }

    /// Corrects what the shared store has yet to be told of.
    fn settle_untold(&self, taken: &Taken, units: u64, now: Timestamp) {
        let (key, charged) = (KeyHash::from_u128(taken.key), &taken.charged);
        match taken.source {
            Source::Estimate => self.unreported.settle(taken.limit, key, charged, units),
            Source::Failure => self.unreconciled.settle(taken.limit, key, charged, units, now),
            _ => {}
        }
    }

    /// [`Store::release`](crate::Store::release).
    pub(super) async fn release_one(&self, taken: Taken, now: Timestamp) -> Result<(), StoreError> {
        let now = self.shared_time(now);
        let held = self.limits.load().get(taken.limit)?.clone();
        match taker(&held, taken.source)? {
            Taker::Local(limit) => self.local.release_now(Taken { limit, ..taken }, now),
            Taker::Shared(limit) => {
                let permit = self.enter(now)?;
                self.ask(permit, self.remote.release(Taken { limit, ..taken }, now)).await
            }
            Taker::Nobody => Ok(()),
        }
    }

    /// [`Store::peek`](crate::Store::peek): the node's own word where it decides by itself, else the shared store's.
    pub(super) async fn look(
        &self,
        charge: &Charge<'_>,
        now: Timestamp,
    ) -> Result<Standing, StoreError> {
        let now = self.shared_time(now);
        let held = self.limits.load().get(charge.limit)?.clone();
        if held.near().is_some() {
            return self.local.peek_now(charge, now);
        }
        let limit = held.remote.ok_or(StoreError::UnknownLimit(held.id))?;
        let permit = self.enter(now)?;
        self.ask(permit, self.remote.peek(&Charge { limit, ..*charge }, now)).await
    }

    /// [`Store::reset`](crate::Store::reset): here and in the shared store. Other nodes that know the key to be exhausted
    /// find out within seconds; those that have a share of it, or a copy of the sum, go on with that.
    pub(super) async fn forget(&self, limit: LimitId, key: &[u8]) -> Result<(), StoreError> {
        let held = self.limits.load().get(limit)?.clone();
        let local = self.local.name_of(key);
        self.local.reset_now(held.id, key)?;
        self.local.reset_now(held.away, key)?;
        self.exhausted.forget(held.id, local);
        self.unreported.forget(held.id, local);
        self.unreconciled.forget(held.id, local);
        let Some(remote) = held.remote else { return Ok(()) };
        let permit = self.enter(self.now())?;
        self.ask(permit, self.remote.reset(remote, key)).await?;
        // Decisions that were on their way may have told of it once more.
        self.exhausted.forget(held.id, local);
        Ok(())
    }
}
