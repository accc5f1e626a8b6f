//! After a decision: settling, releasing, and looking at a key or forgetting it.

use tollgate_core::{Algorithm, Standing, State, Timestamp};

use super::MemoryStore;
use super::counter::Counter;
use super::hash::KeyHash;
use crate::{Charge, LimitId, StoreError, Taken};

impl MemoryStore {
    /// [`Store::settle`](crate::Store::settle), at once.
    ///
    /// # Errors
    /// [`StoreError::UnknownLimit`].
    pub fn settle_now(&self, taken: Taken, units: u64, now: Timestamp) -> Result<(), StoreError> {
        let key = KeyHash::from_u128(taken.key);
        self.revise(taken.limit, key, now, |counter, state| {
            let period = counter.period_at(now).or(taken.period);
            counter.limit.settle(state, &taken.charged, units, period, now)
        })
    }

    /// [`Store::release`](crate::Store::release), at once.
    ///
    /// # Errors
    /// [`StoreError::UnknownLimit`].
    pub fn release_now(&self, taken: Taken, now: Timestamp) -> Result<(), StoreError> {
        let key = KeyHash::from_u128(taken.key);
        self.revise(taken.limit, key, now, |counter, state| {
            counter.limit.release(state, &taken.charged, now)
        })
    }

    /// [`Store::peek`](crate::Store::peek), at once.
    ///
    /// # Errors
    /// [`StoreError::UnknownLimit`], [`StoreError::MissingPeriod`].
    pub fn peek_now(&self, charge: &Charge<'_>, now: Timestamp) -> Result<Standing, StoreError> {
        let key = self.hasher.hash(charge.key);
        loop {
            let registry = self.registry.load();
            let counter = registry.get(charge.limit)?;
            let quota = matches!(counter.limit.algorithm(), Algorithm::Quota(_));
            if quota && charge.period.is_none() {
                return Err(StoreError::MissingPeriod(charge.limit));
            }
            let shard = counter.locked.shard_of(key);
            let Some(shard) = counter.lock(shard) else { continue };
            let fresh = State::Fresh;
            let state = shard.keys.get(&key.to_u128()).unwrap_or(&fresh);
            return Ok(counter.limit.standing(state, charge.period, now));
        }
    }

    /// [`Store::reset`](crate::Store::reset), at once.
    ///
    /// # Errors
    /// [`StoreError::UnknownLimit`].
    pub fn reset_now(&self, limit: LimitId, key: &[u8]) -> Result<(), StoreError> {
        let key = self.hasher.hash(key);
        loop {
            let registry = self.registry.load();
            let counter = registry.get(limit)?;
            let shard = counter.locked.shard_of(key);
            let Some(mut shard) = counter.lock(shard) else { continue };
            if shard.keys.remove(&key.to_u128()).is_some() {
                counter.room.leave(1);
            }
            return Ok(());
        }
    }

    /// Changes one key's state in place. A key that is not remembered is fresh, and only remembered if that changes it.
    fn revise(
        &self,
        limit: LimitId,
        key: KeyHash,
        now: Timestamp,
        change: impl Fn(&Counter, &mut State) -> bool + Copy,
    ) -> Result<(), StoreError> {
        loop {
            let registry = self.registry.load();
            let counter = registry.get(limit)?;
            let shard = counter.locked.shard_of(key);
            let Some(mut shard) = counter.lock(shard) else { continue };
            if let Some(state) = shard.keys.get_mut(&key.to_u128()) {
                if change(counter, state) && counter.room.is_full() {
                    counter.room.frees_at(counter.fresh_at(state, now));
                }
                return Ok(());
            }
            let mut state = State::Fresh;
            if change(counter, &mut state) && state != State::Fresh {
                // Its key was forgotten meanwhile: the cost still counts, in the shared bucket where there is no room.
                if key == KeyHash::OVERFLOW || counter.room.enter() {
                    shard.keys.insert(key.to_u128(), state);
                    return Ok(());
                }
                drop(shard);
                return self.revise(limit, KeyHash::OVERFLOW, now, change);
            }
            return Ok(());
        }
    }
}
