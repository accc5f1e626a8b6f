//! The memory store: the embedded default.

mod after;
mod attempt;
mod backoff;
mod charge;
mod counter;
mod hash;
mod lines;
mod locked;
mod make_room;
mod period;
mod plan;
#[cfg(feature = "redis")]
mod rewrite;
mod room;
mod rooms;
mod shards;
pub(crate) mod snapshot;
mod sweep;
mod table;
mod take_over;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tollgate_core::{Standing, Timestamp};

use crate::registry::Registry;
use crate::{Call, Charge, Definition, LimitId, Store, StoreError, StoreOutcome, Taken};
pub(crate) use attempt::{Again, attempt};
pub(crate) use backoff::Backoff;
pub(crate) use charge::PATIENCE;
pub(crate) use counter::Counter;
pub(crate) use hash::{KeyHash, KeyHasher};
pub(crate) use make_room::make_room;
#[cfg(feature = "redis")]
pub(crate) use period::SeenPeriod;
pub(crate) use plan::{Ask, Plan};
pub(crate) use room::Room;
pub(crate) use table::{Home, Look, Table};

/// How a memory store behaves.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct MemoryOptions {
    /// Never evict and never use an overflow bucket (a replay).
    pub unbounded: bool,
}

impl MemoryOptions {
    /// What a replay asks for: no key is ever forgotten to make room.
    #[must_use]
    pub fn unbounded() -> MemoryOptions {
        MemoryOptions { unbounded: true }
    }
}

/// Counts in this process's memory.
///
/// Decisions over several keys are linearisable: each is as if it had happened alone, at one moment. A refusal takes
/// nothing. Nothing waits while it holds anything that another could wait for.
#[derive(Debug)]
pub struct MemoryStore {
    options: MemoryOptions,
    hasher: KeyHasher,
    registry: ArcSwap<Registry<Counter>>,
    /// One `define` at a time.
    defining: Mutex<()>,
    /// Names what a decision takes.
    tickets: AtomicU64,
    /// Where the sweep stands.
    sweep: Mutex<usize>,
}

/// How much a limit remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The limit's name.
    pub limit: Arc<str>,
    /// Keys remembered now, of all classes.
    pub keys: usize,
    /// Most keys remembered; `usize::MAX` where there is no bound.
    pub max_keys: usize,
    /// Keys forgotten to make room, since the limit was defined.
    pub evicted: u64,
    /// How often a newcomer was sent to the overflow bucket, since the limit was defined.
    pub overflowed: u64,
}

impl MemoryStore {
    /// A store without limits yet.
    #[must_use]
    pub fn new(options: MemoryOptions) -> MemoryStore {
        MemoryStore::of(options, KeyHasher::new(), Registry::default())
    }

    fn of(options: MemoryOptions, hasher: KeyHasher, registry: Registry<Counter>) -> MemoryStore {
        MemoryStore {
            options,
            hasher,
            registry: ArcSwap::from_pointee(registry),
            defining: Mutex::new(()),
            tickets: AtomicU64::new(0),
            sweep: Mutex::new(0),
        }
    }

    /// How much each limit remembers, by name.
    #[must_use]
    pub fn usage(&self) -> Vec<Usage> {
        let registry = self.registry.load();
        let rooms = registry.rooms().into_iter();
        rooms
            .map(|room| {
                let (evicted, overflowed) = room.counters();
                let (keys, max_keys) = (room.live(), room.max());
                Usage { limit: room.name.clone(), keys, max_keys, evicted, overflowed }
            })
            .collect()
    }
}

impl Default for MemoryStore {
    fn default() -> MemoryStore {
        MemoryStore::new(MemoryOptions::default())
    }
}

impl Store for MemoryStore {
    fn define(&self, definitions: &[Definition], now: Timestamp) -> Vec<LimitId> {
        let _one_at_a_time = self.defining.lock();
        let before = self.registry.load_full();
        let (next, ids) = before.define(definitions, now, self.options.unbounded);
        let next = Arc::new(next);
        self.registry.store(next.clone());
        // Calls take over the shards that they need; this takes over the rest.
        next.all().for_each(|counter| counter.take_over_all());
        ids
    }

    async fn charge_all(&self, call: &Call<'_>) -> Result<StoreOutcome, StoreError> {
        self.charge_all_now(call)
    }

    async fn charge_all_into(
        &self,
        call: &Call<'_>,
        answer: &mut StoreOutcome,
    ) -> Result<(), StoreError> {
        self.charge_all_into_now(call, answer)
    }

    async fn settle(&self, taken: Taken, units: u64, now: Timestamp) -> Result<(), StoreError> {
        self.settle_now(taken, units, now)
    }

    async fn release(&self, taken: Taken, now: Timestamp) -> Result<(), StoreError> {
        self.release_now(taken, now)
    }

    async fn peek(&self, charge: &Charge<'_>, now: Timestamp) -> Result<Standing, StoreError> {
        self.peek_now(charge, now)
    }

    async fn reset(&self, limit: LimitId, key: &[u8]) -> Result<(), StoreError> {
        self.reset_now(limit, key)
    }
}
