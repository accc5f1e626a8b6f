//! The memory store: the embedded default.

use tollgate_core::{Standing, Timestamp};

use crate::{Call, Charge, Definition, LimitId, Store, StoreError, StoreOutcome, Taken};

/// How a memory store behaves.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct MemoryOptions {
    /// Never evict and never use an overflow bucket (a replay).
    pub unbounded: bool,
}

/// Counts in this process's memory.
#[derive(Debug, Default)]
pub struct MemoryStore {}

impl MemoryStore {
    /// A store without limits yet.
    #[must_use]
    pub fn new(options: MemoryOptions) -> MemoryStore {
        let _ = options;
        MemoryStore {}
    }

    /// [`Store::charge_all`], at once.
    ///
    /// # Errors
    /// [`StoreError::UnknownLimit`].
    pub fn charge_all_now(&self, call: &Call<'_>) -> Result<StoreOutcome, StoreError> {
        let _ = call;
        unimplemented!("the store's first commit")
    }
}

impl Store for MemoryStore {
    fn define(&self, definitions: &[Definition], now: Timestamp) -> Vec<LimitId> {
        let _ = (definitions, now);
        unimplemented!("the store's first commit")
    }

    async fn charge_all(&self, call: &Call<'_>) -> Result<StoreOutcome, StoreError> {
        self.charge_all_now(call)
    }

    async fn settle(&self, taken: Taken, units: u64, now: Timestamp) -> Result<(), StoreError> {
        let _ = (taken, units, now);
        unimplemented!("the store's first commit")
    }

    async fn release(&self, taken: Taken, now: Timestamp) -> Result<(), StoreError> {
        let _ = (taken, now);
        unimplemented!("the store's first commit")
    }

    async fn peek(&self, charge: &Charge<'_>, now: Timestamp) -> Result<Standing, StoreError> {
        let _ = (charge, now);
        unimplemented!("the store's first commit")
    }

    async fn reset(&self, limit: LimitId, key: &[u8]) -> Result<(), StoreError> {
        let _ = (limit, key);
        unimplemented!("the store's first commit")
    }
}
