//! After a decision: settling, releasing, and looking at a key or forgetting it.

use tollgate_core::{Algorithm, Standing, State, Timestamp};

use super::MemoryStore;
use super::counter::{Counter, Counts, Moved};
use super::hash::KeyHash;
use crate::{Charge, LimitId, StoreError, Taken};

/// A change of one state; it says whether there was one.
pub(super) trait Change: Fn(&Counter, &mut State) -> bool {}
impl<F: Fn(&Counter, &mut State) -> bool> Change for F {}

/// How a change of one key ended.
pub(super) enum Changed {
    /// It is made, or there was none to make.
    Done,
    /// The key is not remembered, and there is no room for it.
    NoRoom,
}

impl MemoryStore {
    /// [`Store::settle`](crate::Store::settle), at once.
    ///
    /// # Errors
    /// [`StoreError::UnknownLimit`], [`StoreError::OutOfMemory`].
    pub fn settle_now(&self, taken: Taken, units: u64, now: Timestamp) -> Result<(), StoreError> {
        self.change(taken.limit, KeyHash::from_u128(taken.key), now, |counter, state| {
            let period = counter.period.at(now).or(taken.period);
            counter.limit.settle(state, &taken.charged, units, period, now)
        })
    }

    /// [`Store::release`](crate::Store::release), at once.
    ///
    /// # Errors
    /// [`StoreError::UnknownLimit`].
    pub fn release_now(&self, taken: Taken, now: Timestamp) -> Result<(), StoreError> {
        self.change(taken.limit, KeyHash::from_u128(taken.key), now, |counter, state| {
            counter.limit.release(state, &taken.charged, now)
        })
    }

    /// [`Store::peek`](crate::Store::peek), at once.
    ///
    /// # Errors
    /// [`StoreError::UnknownLimit`], [`StoreError::MissingPeriod`].
    pub fn peek_now(&self, charge: &Charge<'_>, now: Timestamp) -> Result<Standing, StoreError> {
        let key = self.hasher.hash_bytes(charge.key);
        loop {
            let registry = self.registry.load();
            let counter = registry.get(charge.limit)?;
            let quota = matches!(counter.limit.algorithm(), Algorithm::Quota(_));
            if quota && charge.period.is_none() {
                return Err(StoreError::MissingPeriod(charge.limit));
            }
            if let Ok(standing) = counter.standing(key, charge, now) {
                return Ok(standing);
            }
        }
    }

    /// [`Store::reset`](crate::Store::reset), at once.
    ///
    /// # Errors
    /// [`StoreError::UnknownLimit`].
    pub fn reset_now(&self, limit: LimitId, key: &[u8]) -> Result<(), StoreError> {
        let key = self.hasher.hash_bytes(key);
        loop {
            let registry = self.registry.load();
            if registry.get(limit)?.forget(key).is_ok() {
                return Ok(());
            }
        }
    }

    /// Changes one key's state. A key that is not remembered is fresh, and remembered only if that changes it; where there
    /// is no room for it then, the overflow bucket is changed in its place.
    fn change(
        &self,
        limit: LimitId,
        key: KeyHash,
        now: Timestamp,
        change: impl Change,
    ) -> Result<(), StoreError> {
        let mut key = key;
        loop {
            let registry = self.registry.load();
            match registry.get(limit)?.change(key, now, &change) {
                Ok(Changed::Done) => return Ok(()),
                Ok(Changed::NoRoom) if key == KeyHash::OVERFLOW => {
                    return Err(StoreError::OutOfMemory(limit));
                }
                Ok(Changed::NoRoom) => key = KeyHash::OVERFLOW,
                Err(Moved) => {}
            }
        }
    }
}

impl Counter {
    fn standing(
        &self,
        key: KeyHash,
        charge: &Charge<'_>,
        now: Timestamp,
    ) -> Result<Standing, Moved> {
        let standing = |state: &State| self.limit.standing(state, charge.period, now);
        match &self.counts {
            Counts::Table(table) => Ok(standing(&self.state(&self.look(table, key)?))),
            Counts::Locked(locked) => {
                let shard = self.lock(locked, locked.shard_of(key))?;
                Ok(standing(shard.keys.get(&key.stored()).unwrap_or(&State::Fresh)))
            }
        }
    }

    fn forget(&self, key: KeyHash) -> Result<(), Moved> {
        let forgotten = match &self.counts {
            Counts::Table(table) => loop {
                let look = self.look(table, key)?;
                if !look.is_present() || table.remove(&look) {
                    break look.is_present();
                }
            },
            Counts::Locked(locked) => {
                let mut shard = self.lock(locked, locked.shard_of(key))?;
                shard.keys.remove(&key.stored()).is_some()
            }
        };
        self.room.leave(usize::from(forgotten));
        Ok(())
    }

    pub(super) fn change(
        &self,
        key: KeyHash,
        now: Timestamp,
        change: &impl Change,
    ) -> Result<Changed, Moved> {
        match &self.counts {
            Counts::Table(table) => loop {
                let look = self.look(table, key)?;
                let mut state = self.state(&look);
                if !change(self, &mut state) {
                    return Ok(Changed::Done);
                }
                if look.is_present() {
                    if table.replace(&look, self.limit.encode(&state)) {
                        self.tell_room(&state, now);
                        return Ok(Changed::Done);
                    }
                } else if !self.enters(key) || !self.insert(table, key, now)? {
                    return Ok(Changed::NoRoom);
                }
            },
            Counts::Locked(locked) => {
                let mut shard = self.lock(locked, locked.shard_of(key))?;
                if let Some(state) = shard.keys.get_mut(&key.stored()) {
                    if change(self, state) {
                        self.tell_room(state, now);
                    }
                    return Ok(Changed::Done);
                }
                let mut state = State::Fresh;
                if !change(self, &mut state) {
                    return Ok(Changed::Done);
                }
                if !self.enters(key) {
                    return Ok(Changed::NoRoom);
                }
                self.tell_room(&state, now);
                shard.keys.insert(key.stored(), state);
                Ok(Changed::Done)
            }
        }
    }

    fn enters(&self, key: KeyHash) -> bool {
        key == KeyHash::OVERFLOW || self.room.enter()
    }

    /// A change may have a key fresh sooner than a search for room saw.
    fn tell_room(&self, state: &State, now: Timestamp) {
        if self.room.is_full() {
            self.room.frees_at(self.fresh_at(state, now).unwrap_or(0));
        }
    }
}
