//! Where counts live. One written contract, [`Store`]; the memory store is the embedded default.
//!
//! A store decides how to be atomic; the arithmetic is `tollgate_core`'s.

mod clock;
mod contract;
mod error;
mod limiter;
mod memory;
#[cfg(feature = "redis")]
mod redis;
mod registry;
#[cfg(feature = "redis")]
mod shared;
mod sharing;
#[cfg(feature = "redis")]
pub mod tls;

pub use clock::{
    CachedClock, Clock, ManualClock, Stopwatch, SystemClock, Uptime, monotonic_micros,
};
pub use contract::{
    Call, Charge, ChargeOutcome, Definition, LimitId, Receipt, Shape, Store, StoreOutcome, Taken,
};
pub use error::{StoreError, Trouble};
pub use limiter::{DirectLimiter, KeyedLimiter, Refused, UnsupportedLimit};
pub use memory::{MemoryOptions, MemoryStore, Usage};
#[cfg(feature = "redis")]
pub use redis::{
    Credentials, Endpoint, RedisObserved, RedisOptions, RedisOptionsError, RedisStore, Secret,
    ServersObserved, Topology, Unsupported,
};
#[cfg(feature = "redis")]
pub use shared::{BreakerState, LATENCY_BOUNDS, LeasesObserved, NodeObserved, SharedStore};
pub use sharing::{OnStoreFailure, Sharing, Source, SyncMode};
#[cfg(feature = "redis")]
pub use tls::{Identity, TlsOptions, Trust};

/// Counts of a memory store in a file, so that a restart gives no second quota.
pub mod snapshot {
    pub use crate::memory::snapshot::{
        Found, Restored, SnapshotError, SnapshotFile, SnapshotFileError, Written,
    };
}
