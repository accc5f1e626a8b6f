//! The behaviour suite, with every limit counted by the server, and with every limit counted by the node.

use std::sync::Arc;
use std::time::Duration;

use tollgate_core::{Standing, Timestamp};
use tollgate_store::{
    Call, Charge, Definition, LimitId, ManualClock, RedisOptions, SharedStore, Sharing, Store,
    StoreError, StoreOutcome, SyncMode, Taken,
};

use crate::behaviour::behaviours;
use crate::servers::{Program, Server};

/// A node and its server, which end together.
struct Hosted {
    store: SharedStore,
    server: Server,
    sync: SyncMode,
}

impl Hosted {
    /// A node whose limits are all counted so. The caller's clock counts.
    fn new(sync: SyncMode) -> Option<Hosted> {
        let server = Server::start(&Program::redis()?);
        let mut options = RedisOptions::from_url(&server.url()).expect("a URL");
        // A busy machine is no reason to fail.
        options.budget = Duration::from_secs(20);
        options.virtual_time = true;
        let clock = Arc::new(ManualClock::new(crate::behaviour::world::seconds(0)));
        let store = SharedStore::start(&options, clock).expect("a store");
        crate::behaviour::world::run(async {
            store.ready(Duration::from_secs(20)).await.expect("a connection");
        });
        Some(Hosted { store, server, sync })
    }
}

impl Drop for Hosted {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.server.assert_every_key_expires();
        }
    }
}

impl Store for Hosted {
    fn define(&self, definitions: &[Definition], now: Timestamp) -> Vec<LimitId> {
        let sharing = Sharing { sync: self.sync, ..Sharing::default() };
        let definitions: Vec<_> = definitions
            .iter()
            .map(|definition| Definition { sharing, ..definition.clone() })
            .collect();
        self.store.define(&definitions, now)
    }

    async fn charge_all(&self, call: &Call<'_>) -> Result<StoreOutcome, StoreError> {
        self.store.charge_all(call).await
    }

    async fn settle(&self, taken: Taken, units: u64, now: Timestamp) -> Result<(), StoreError> {
        self.store.settle(taken, units, now).await
    }

    async fn release(&self, taken: Taken, now: Timestamp) -> Result<(), StoreError> {
        self.store.release(taken, now).await
    }

    async fn peek(&self, charge: &Charge<'_>, now: Timestamp) -> Result<Standing, StoreError> {
        self.store.peek(charge, now).await
    }

    async fn reset(&self, limit: LimitId, key: &[u8]) -> Result<(), StoreError> {
        self.store.reset(limit, key).await
    }
}

mod exact {
    use super::*;

    fn store() -> Option<Hosted> {
        Hosted::new(SyncMode::Exact)
    }

    behaviours!(store);
}

mod share_of_one {
    use super::*;

    fn store() -> Option<Hosted> {
        Hosted::new(SyncMode::Share)
    }

    behaviours!(store);
}
