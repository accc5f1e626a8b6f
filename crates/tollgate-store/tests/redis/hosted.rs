//! A store with a server of its own.

use std::time::Duration;

use tokio::runtime::Builder;
use tollgate_core::{Standing, Timestamp};
use tollgate_store::{
    Call, Charge, Definition, LimitId, RedisOptions, RedisStore, Store, StoreError, StoreOutcome,
    Taken,
};

use crate::servers::{Program, Server};

/// A store and its server, which end together.
pub(crate) struct Hosted {
    pub(crate) store: RedisStore,
    pub(crate) server: Server,
}

impl Hosted {
    /// A store whose clock is the caller's.
    pub(crate) fn replay(program: &Program) -> Hosted {
        Hosted::with(program, |options| options.virtual_time = true)
    }

    /// A store with these options.
    pub(crate) fn with(program: &Program, set: impl FnOnce(&mut RedisOptions)) -> Hosted {
        let server = Server::start(program);
        let mut options = RedisOptions::from_url(&server.url()).expect("a URL");
        // A busy machine is no reason to fail.
        options.budget = Duration::from_secs(20);
        set(&mut options);
        let store = RedisStore::start(&options).expect("a store");
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(store.ready(Duration::from_secs(20))).expect("a connection");
        Hosted { store, server }
    }
}

impl Drop for Hosted {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.server.assert_every_key_expires();
            assert_eq!(self.store.observed().differing, 0, "scripts decide as the engine does");
        }
    }
}

impl Store for Hosted {
    fn define(&self, definitions: &[Definition], now: Timestamp) -> Vec<LimitId> {
        self.store.define(definitions, now)
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
