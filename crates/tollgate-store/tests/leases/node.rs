//! A node with leased limits on a real server.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tollgate_core::{Algorithm, Burst, FixedWindow, Limit, Micros, Rate, Rules, TokenBucket};
use tollgate_store::{
    Call, Charge, Clock, Definition, LimitId, OnStoreFailure, RedisOptions, RedisStore, Shape,
    SharedStore, Sharing, Store, StoreOutcome, SyncMode, SystemClock,
};

/// No test waits longer for anything but what it waits for in vain.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// So many units in a window that no test sees the end of.
pub(crate) fn window(units: u64) -> Algorithm {
    Algorithm::FixedWindow(FixedWindow { limit: units, window: Micros::from_secs(365 * 86_400) })
}

pub(crate) fn bucket(a_second: u64, burst: u64) -> Algorithm {
    let rate = Rate { count: a_second, per: Micros::from_secs(1) };
    Algorithm::TokenBucket(TokenBucket { rate, burst: Burst::Units(burst), empty_at: None })
}

fn definitions(limits: &[(Algorithm, SyncMode)]) -> Vec<Definition> {
    let definition = |(place, (algorithm, sync)): (usize, &(Algorithm, SyncMode))| Definition {
        name: format!("limit {place}").into(),
        class: None,
        limit: Limit::new(algorithm.clone(), Rules::default()).expect("a limit"),
        shape: Shape(String::new()),
        max_keys: 1000,
        // Who is not answered is refused, so that no node adds anything of its own.
        sharing: Sharing {
            sync: *sync,
            on_store_failure: OnStoreFailure::Refuse,
            ..Sharing::default()
        },
    };
    limits.iter().enumerate().map(definition).collect()
}

/// One node, which takes one unit of each limit for each request.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) store: SharedStore,
    clock: Arc<SystemClock>,
    ids: Arc<[LimitId]>,
}

impl Node {
    pub(crate) fn start(url: &str, limits: &[(Algorithm, SyncMode)]) -> Node {
        let clock = Arc::new(SystemClock::new());
        let mut options = RedisOptions::from_url(url).expect("a URL");
        // A loaded machine is no reason to fail.
        options.budget = PATIENCE;
        let store = SharedStore::start(&options, clock.clone()).expect("a store");
        runtime().block_on(store.ready(PATIENCE)).expect("a connection");
        let ids = store.define(&definitions(limits), clock.now()).into();
        Node { store, clock, ids }
    }

    /// A reload: the same limits under other parameters.
    pub(crate) fn redefine(&self, limits: &[(Algorithm, SyncMode)]) {
        let ids = self.store.define(&definitions(limits), self.clock.now());
        assert_eq!(*ids, *self.ids, "they keep their names");
    }

    pub(crate) async fn request(&self) -> StoreOutcome {
        let charge = |limit: &LimitId| Charge { limit: *limit, key: b"key", cost: 1, period: None };
        let charges: Vec<Charge<'_>> = self.ids.iter().map(charge).collect();
        let call = Call { charges: &charges, now: self.clock.now(), hold: None };
        self.store.charge_all(&call).await.expect("a decision")
    }

    pub(crate) async fn admits(&self) -> bool {
        self.request().await.decision.admitted
    }

    /// Units in hand.
    pub(crate) fn in_hand(&self) -> u64 {
        self.store.observed().leases.in_hand
    }
}

/// What the server has left of each limit.
pub(crate) fn left(url: &str, limits: &[(Algorithm, SyncMode)]) -> Vec<u64> {
    let mut options = RedisOptions::from_url(url).expect("a URL");
    options.budget = PATIENCE;
    let store = RedisStore::start(&options).expect("a store");
    let runtime = runtime();
    runtime.block_on(store.ready(PATIENCE)).expect("a connection");
    let now = SystemClock::new().now();
    let ids = store.define(&definitions(limits), now);
    let left = |limit: LimitId| {
        let charge = Charge { limit, key: b"key", cost: 0, period: None };
        runtime.block_on(store.peek(&charge, now)).expect("an answer").remaining
    };
    ids.into_iter().map(left).collect()
}
