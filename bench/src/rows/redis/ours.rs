//! Ours: the shared store itself, over one connection, of which what it sends is recorded.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::runtime::{Builder, Runtime};
use tollgate_core::{
    Algorithm, Burst, LeakyBucket, Limit, Micros, Rate, Rules, SlidingWindow, Timestamp,
    TokenBucket,
};
use tollgate_store::{
    Call, Charge, Definition, LimitId, RedisOptions, RedisStore, Shape as StateShape, Sharing,
    Store,
};

use super::recorder::Recorder;
use super::server::Server;
use crate::keys::{Key, Order, key};

/// What is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One token bucket.
    Bucket,
    /// One sliding window.
    Window,
    /// One token bucket, of more than it holds.
    Refusing,
    /// A sliding window of users, a token bucket of 1,000 tenants, a leaky bucket of everybody.
    Layers,
    /// The same with a key of its own in each.
    Three,
}

/// The store with its limits.
pub struct Ours {
    runtime: Runtime,
    store: RedisStore,
    ids: Vec<LimitId>,
    shape: Shape,
    recorder: Recorder,
}

const MUCH: u64 = 1_000_000;

fn limits(shape: Shape) -> Vec<Algorithm> {
    let rate = Rate { count: 1000, per: Micros::from_secs(1) };
    let bucket =
        Algorithm::TokenBucket(TokenBucket { rate, burst: Burst::Units(MUCH), empty_at: None });
    let spec = SlidingWindow { limit: MUCH, window: Micros::from_secs(3600), cells: 1 };
    let window = Algorithm::SlidingWindow(spec);
    let leaky = LeakyBucket { rate, burst: MUCH, nodelay: true, max_wait: None };
    match shape {
        Shape::Bucket | Shape::Refusing => vec![bucket],
        Shape::Window => vec![window],
        Shape::Layers | Shape::Three => vec![window, bucket, Algorithm::LeakyBucket(leaky)],
    }
}

impl Ours {
    /// Connects and defines.
    pub fn new(server: &Server, shape: Shape) -> Ours {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let recorder = Recorder::start(server.address());
        let mut options = RedisOptions::from_url(&recorder.url()).expect("a URL");
        options.connections = 1;
        options.budget = Duration::from_secs(20);
        let store = RedisStore::start(&options).expect("a store");
        runtime.block_on(store.ready(Duration::from_secs(20))).expect("a connection");
        let definitions: Vec<Definition> = limits(shape)
            .into_iter()
            .map(|algorithm| Definition {
                name: format!("limit {algorithm:?}").into(),
                class: None,
                limit: Limit::new(algorithm, Rules::default()).expect("a limit"),
                shape: StateShape(String::new()),
                max_keys: usize::MAX,
                sharing: Sharing::default(),
            })
            .collect();
        let ids = store.define(&definitions, Timestamp::EPOCH);
        Ours { runtime, store, ids, shape, recorder }
    }

    /// The calls of `count` decisions.
    pub fn record(&self, order: &Order, count: usize) -> Vec<Vec<u8>> {
        self.recorder.calls();
        self.decide(order, count, super::MANY);
        let calls = self.recorder.calls();
        assert_eq!(calls.len(), count, "one call a decision");
        calls
    }

    /// Decides `count` times, `depth` at a time.
    pub fn decide(&self, order: &Order, count: usize, depth: usize) {
        self.runtime.block_on(async {
            for batch in (0..count).step_by(depth) {
                let one = |call| self.decide_once(order, call);
                join_all((batch..batch + depth).map(one)).await;
            }
        });
    }

    async fn decide_once(&self, order: &Order, call: usize) {
        let number = order.at(call);
        let keys: [Key; 3] = match self.shape {
            Shape::Layers => [key(number), key(number % 1000), key(0)],
            _ => [key(number), key(order.at(call + 7_777)), key(order.at(call + 99_999))],
        };
        let cost = if self.shape == Shape::Refusing { 2 * MUCH } else { 1 };
        let charges: Vec<Charge<'_>> = self
            .ids
            .iter()
            .zip(&keys)
            .map(|(limit, key)| Charge { limit: *limit, key, cost, period: None })
            .collect();
        let call = Call { charges: &charges, now: Timestamp::EPOCH, hold: None };
        let outcome = self.store.charge_all(&call).await.expect("an answer");
        assert_eq!(outcome.decision.admitted, self.shape != Shape::Refusing);
    }
}
