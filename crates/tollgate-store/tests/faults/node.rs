//! One node with three limits on the shared store.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::runtime::{Builder, Runtime};
use tollgate_core::{Algorithm, Limit, Period, Quota, Rules, Timestamp};
use tollgate_store::{
    Call, Charge, Definition, LimitId, OnStoreFailure, RedisOptions, RedisStore, Shape,
    SharedStore, Sharing, Store, StoreError, StoreOutcome, SystemClock,
};

/// The limits, narrow to wide. Each has one key.
pub(crate) const LIMITS: [&str; 3] = ["user", "tenant", "global"];

/// No test waits longer for anything but what it waits for in vain.
const PATIENCE: Duration = Duration::from_secs(20);

/// A node that takes one unit of each limit for each request.
#[derive(Clone)]
pub(crate) struct Node<S> {
    pub(crate) store: S,
    ids: Arc<[LimitId]>,
    allowed: u64,
    period: Period,
}

impl Node<RedisStore> {
    /// A node on the store at `url`, which allows so many requests within days.
    pub(crate) fn start(url: &str, allowed: u64) -> Node<RedisStore> {
        Node::within(url, options(url).budget, allowed)
    }

    /// The same, with a budget of its own.
    pub(crate) fn within(url: &str, budget: Duration, allowed: u64) -> Node<RedisStore> {
        let options = RedisOptions { budget, ..options(url) };
        let store = RedisStore::start(&options).expect("a store");
        let node = Node::of(store, allowed, OnStoreFailure::default());
        node.ready();
        node
    }

    #[track_caller]
    pub(crate) fn ready(&self) {
        runtime().block_on(self.store.ready(PATIENCE)).expect("a connection");
    }
}

impl Node<SharedStore> {
    /// A node that goes on by itself while the store is away.
    pub(crate) fn share(
        url: &str,
        allowed: u64,
        on_store_failure: OnStoreFailure,
    ) -> Node<SharedStore> {
        Node::share_within(url, options(url).budget, allowed, on_store_failure)
    }

    /// The same, with a budget of its own.
    pub(crate) fn share_within(
        url: &str,
        budget: Duration,
        allowed: u64,
        on_store_failure: OnStoreFailure,
    ) -> Node<SharedStore> {
        let options = RedisOptions { budget, ..options(url) };
        let store = SharedStore::start(&options, Arc::new(SystemClock::new())).expect("a store");
        runtime().block_on(store.ready(PATIENCE)).expect("a connection");
        Node::of(store, allowed, on_store_failure)
    }
}

impl<S: Store> Node<S> {
    fn of(store: S, allowed: u64, on_store_failure: OnStoreFailure) -> Node<S> {
        // Counts of a quota change by charges alone, not by time: what they say is what was charged.
        let limit = Limit::new(Algorithm::Quota(Quota { limit: allowed }), Rules::default());
        let limit = limit.expect("a limit");
        let definitions: Vec<Definition> = LIMITS
            .iter()
            .map(|&name| Definition {
                name: name.into(),
                class: None,
                limit: limit.clone(),
                shape: Shape("quota".to_owned()),
                max_keys: 1000,
                sharing: Sharing { on_store_failure, ..Sharing::default() },
            })
            .collect();
        let ids = store.define(&definitions, now()).into();
        // The same for all nodes of a test, whenever they start.
        let day = now().as_micros() / 86_400_000_000;
        let bound = |day: u64| Timestamp::from_micros(day * 86_400_000_000);
        Node { store, ids, allowed, period: Period { start: bound(day - 1), end: bound(day + 2) } }
    }

    /// One request.
    pub(crate) async fn request(&self) -> Result<StoreOutcome, StoreError> {
        let charges: Vec<Charge<'_>> =
            self.ids.iter().map(|&limit| self.charge(limit, 1)).collect();
        self.store.charge_all(&Call { charges: &charges, now: now(), hold: None }).await
    }

    /// What the store has counted for each limit. Retried: the store may be busy with what the test does to it.
    #[track_caller]
    pub(crate) fn counted(&self) -> [u64; LIMITS.len()] {
        std::array::from_fn(|place| {
            let charge = self.charge(self.ids[place], 0);
            let begun = SystemTime::now();
            loop {
                match runtime().block_on(self.store.peek(&charge, now())) {
                    Ok(standing) => return self.allowed - standing.remaining,
                    Err(error) => {
                        let waited = begun.elapsed().unwrap_or_default();
                        assert!(waited < PATIENCE, "no standing: {error}");
                        std::thread::sleep(Duration::from_millis(20));
                    }
                }
            }
        })
    }

    fn charge(&self, limit: LimitId, cost: u64) -> Charge<'_> {
        Charge { limit, key: b"the only one", cost, period: Some(self.period) }
    }
}

fn options(url: &str) -> RedisOptions {
    let mut options = RedisOptions::from_url(url).expect("a URL");
    options.secret.0 = b"a secret of the tests".to_vec();
    options
}

/// Whether a request passes.
pub(crate) fn is_admitted(outcome: &StoreOutcome) -> bool {
    outcome.decision.admitted
}

pub(crate) fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime")
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    Timestamp::from_micros(u64::try_from(since.as_micros()).expect("before the year 500,000"))
}
