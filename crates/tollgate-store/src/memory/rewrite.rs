//! Writing what is known of a key from elsewhere.

use std::sync::Arc;

use smallvec::SmallVec;
use tollgate_core::{Limit, State, Timestamp};

use super::MemoryStore;
use super::after::Changed;
use super::counter::{Counter, Moved};
use super::hash::KeyHash;
use super::make_room::make_room;
use crate::{LimitId, StoreError};

impl MemoryStore {
    /// The store's own name of a key.
    pub(crate) fn name_of(&self, key: &[u8]) -> KeyHash {
        self.hasher.hash_bytes(key)
    }

    /// Rewrites one key's state; `rewrite` says whether there is anything to write. `false`: the key is not remembered and
    /// there is no room for it. The overflow bucket is left alone, for what is told of one key is not true of all.
    pub(crate) fn rewrite_now(
        &self,
        limit: LimitId,
        key: KeyHash,
        now: Timestamp,
        rewrite: impl Fn(&Limit, &mut State) -> bool,
    ) -> Result<bool, StoreError> {
        let mut searched = false;
        loop {
            let registry = self.registry.load();
            let counter = registry.get(limit)?;
            match counter.change(key, now, &|counter: &Counter, state: &mut State| {
                rewrite(&counter.limit, state)
            }) {
                Ok(Changed::Done) => return Ok(true),
                Ok(Changed::NoRoom) if searched => return Ok(false),
                Ok(Changed::NoRoom) => {
                    let room = &counter.room;
                    let classes: SmallVec<[&Arc<Counter>; 4]> =
                        registry.all().filter(|c| Arc::ptr_eq(&c.room, room)).collect();
                    if !make_room(&classes, room, now, &[key]) {
                        return Ok(false);
                    }
                    searched = true;
                }
                Err(Moved) => {}
            }
        }
    }
}
