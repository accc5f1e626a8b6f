//! Where a gateway's counts live: in this process, or with other nodes.

use std::sync::Arc;
use std::time::Duration;

use tollgate_core::{Standing, Timestamp};
use tollgate_policy::settings::{StoreSettings, StoreSettingsError};
use tollgate_store::{
    Call, Charge, Clock, Definition, LimitId, MemoryOptions, MemoryStore, SharedStore, Store,
    StoreError, StoreOutcome, Taken, Usage,
};

/// How long a gateway waits for its shared store before it begins without it.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where a gateway's counts live.
#[derive(Debug)]
pub enum GatewayStore {
    /// In this process. It answers at once: a decision on it never waits.
    Memory(MemoryStore),
    /// With other nodes.
    Shared(SharedStore),
}

impl GatewayStore {
    /// Opens the store that a policy names. A memory store begins empty: `serve` is who reads and writes its snapshot. A shared store that cannot be reached is waited for a moment and then done without,
    /// until it is there: each limit's `on_store_failure` holds.
    ///
    /// # Errors
    /// Where the settings are wrong, or lack what this machine does not have.
    pub async fn open(
        settings: &StoreSettings,
        clock: Arc<dyn Clock>,
    ) -> Result<GatewayStore, StoreSettingsError> {
        let StoreSettings::Shared(settings) = settings else {
            return Ok(MemoryStore::new(MemoryOptions::default()).into());
        };
        let options = settings.redis_options()?;
        let store = SharedStore::start(&options, clock).map_err(StoreSettingsError::Options)?;
        if let Err(trouble) = store.ready(PATIENCE).await {
            tracing::warn!(
                %trouble,
                "the shared store is not there yet: the gateway begins without it, and each limit's on_store_failure holds"
            );
        }
        Ok(GatewayStore::Shared(store))
    }

    /// How much it remembers of each limit in this process, by name.
    #[must_use]
    pub fn usage(&self) -> Vec<Usage> {
        match self {
            GatewayStore::Memory(store) => store.usage(),
            GatewayStore::Shared(store) => store.usage(),
        }
    }

    /// Does a bounded piece of the sweep that forgets keys as fresh as new; `true` when a whole round is done.
    pub fn sweep(&self, now: Timestamp) -> bool {
        match self {
            GatewayStore::Memory(store) => store.sweep(now),
            GatewayStore::Shared(store) => store.sweep(now),
        }
    }

    /// Whether other nodes count with this one.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        matches!(self, GatewayStore::Shared(_))
    }
}

impl From<MemoryStore> for GatewayStore {
    fn from(store: MemoryStore) -> GatewayStore {
        GatewayStore::Memory(store)
    }
}

impl From<SharedStore> for GatewayStore {
    fn from(store: SharedStore) -> GatewayStore {
        GatewayStore::Shared(store)
    }
}

/// Memory answers in the first poll. What waits for a shared store has room of its own, so that a request in memory does not
/// carry it along.
impl Store for GatewayStore {
    fn define(&self, definitions: &[Definition], now: Timestamp) -> Vec<LimitId> {
        match self {
            GatewayStore::Memory(store) => store.define(definitions, now),
            GatewayStore::Shared(store) => store.define(definitions, now),
        }
    }

    async fn charge_all(&self, call: &Call<'_>) -> Result<StoreOutcome, StoreError> {
        match self {
            GatewayStore::Memory(store) => store.charge_all_now(call),
            GatewayStore::Shared(store) => Box::pin(store.charge_all(call)).await,
        }
    }

    async fn charge_all_into(
        &self,
        call: &Call<'_>,
        answer: &mut StoreOutcome,
    ) -> Result<(), StoreError> {
        match self {
            GatewayStore::Memory(store) => store.charge_all_into_now(call, answer),
            GatewayStore::Shared(store) => Box::pin(store.charge_all_into(call, answer)).await,
        }
    }

    async fn settle(&self, taken: Taken, units: u64, now: Timestamp) -> Result<(), StoreError> {
        match self {
            GatewayStore::Memory(store) => store.settle_now(taken, units, now),
            GatewayStore::Shared(store) => Box::pin(store.settle(taken, units, now)).await,
        }
    }

    async fn release(&self, taken: Taken, now: Timestamp) -> Result<(), StoreError> {
        match self {
            GatewayStore::Memory(store) => store.release_now(taken, now),
            GatewayStore::Shared(store) => Box::pin(store.release(taken, now)).await,
        }
    }

    async fn peek(&self, charge: &Charge<'_>, now: Timestamp) -> Result<Standing, StoreError> {
        match self {
            GatewayStore::Memory(store) => store.peek(charge, now).await,
            GatewayStore::Shared(store) => Box::pin(store.peek(charge, now)).await,
        }
    }

    async fn reset(&self, limit: LimitId, key: &[u8]) -> Result<(), StoreError> {
        match self {
            GatewayStore::Memory(store) => store.reset(limit, key).await,
            GatewayStore::Shared(store) => Box::pin(store.reset(limit, key)).await,
        }
    }
}
