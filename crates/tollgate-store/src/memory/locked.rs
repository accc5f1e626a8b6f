//! Counts in maps under locks, for states too large for a line of the table.

use std::collections::HashMap;

use parking_lot::{Mutex, MutexGuard};
use tollgate_core::State;

use super::hash::{Hashed, KeyHash};

/// Sharded maps.
#[derive(Debug)]
pub(crate) struct Locked {
    shards: Box<[Mutex<Shard>]>,
}

/// One map.
#[derive(Debug)]
pub(crate) struct Shard {
    /// Where it stands in the life of its counts.
    pub(crate) stage: Stage,
    /// Keys and their states.
    pub(crate) keys: HashMap<u128, State, Hashed>,
}

/// A reload moves counts shard by shard, from the old parameters to the new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Its counts are still with the predecessor.
    Awaiting,
    /// Its counts are here.
    Here,
    /// Its counts are with the successor.
    Moved,
}

impl Locked {
    /// Empty maps, `shards` of them (a power of two).
    pub(crate) fn new(shards: usize, stage: Stage) -> Locked {
        let shard = || Mutex::new(Shard { stage, keys: HashMap::with_hasher(Hashed::default()) });
        Locked { shards: (0..shards).map(|_| shard()).collect() }
    }

    /// How many maps there are.
    pub(crate) fn shards(&self) -> usize {
        self.shards.len()
    }

    /// In which map a key is.
    pub(crate) fn shard_of(&self, key: KeyHash) -> usize {
        key.shard(self.shards.len())
    }

    /// Locks one map.
    pub(crate) fn lock(&self, shard: usize) -> MutexGuard<'_, Shard> {
        self.shards[shard].lock()
    }
}

impl Shard {
    /// The keys that take room: all but the overflow bucket.
    pub(crate) fn counted(&self) -> usize {
        self.keys.len() - usize::from(self.keys.contains_key(&KeyHash::OVERFLOW.stored()))
    }
}
