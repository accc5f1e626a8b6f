//! Some nodes on one server.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tollgate_core::{Algorithm, FixedWindow, Limit, Micros, Rules};
use tollgate_store::{
    Call, Charge, Clock, Definition, LimitId, NodeObserved, OnStoreFailure, RedisOptions, Shape,
    SharedStore, Sharing, Source, Store, StoreOutcome, SyncMode, SystemClock, Trouble,
};

use crate::servers::{Program, Server, until};

/// Nothing in a test takes longer, unless it hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// A window that is hardly over within a test.
pub(crate) const DAY: Micros = Micros::from_secs(86_400);

pub(crate) const EXACT: Sharing =
    Sharing { sync: SyncMode::Exact, on_store_failure: OnStoreFailure::Share, given_back: false };

pub(crate) fn fixed(limit: u64) -> Algorithm {
    Algorithm::FixedWindow(FixedWindow { limit, window: DAY })
}

/// Nodes on a server, which end together.
pub(crate) struct Nodes {
    pub(crate) nodes: Vec<Node>,
    pub(crate) server: Server,
}

/// One of them, and a runtime to ask it on.
pub(crate) struct Node {
    pub(crate) store: SharedStore,
    clock: Arc<SystemClock>,
    ids: Vec<LimitId>,
    runtime: Runtime,
}

impl Nodes {
    /// So many nodes that know of each other, with limits of these algorithms. `None` where there is no server to be had.
    pub(crate) fn start(nodes: usize, limits: &[(Algorithm, Sharing)]) -> Option<Nodes> {
        Nodes::with(nodes, limits, PATIENCE)
    }

    /// The same, with a time budget.
    pub(crate) fn with(
        nodes: usize,
        limits: &[(Algorithm, Sharing)],
        budget: Duration,
    ) -> Option<Nodes> {
        let server = Server::start(&Program::redis()?);
        let nodes: Vec<_> =
            (0..nodes).map(|_| Node::start(&server.url(), limits, budget)).collect();
        let live = nodes.len() as u32;
        for node in &nodes {
            until("all nodes know of all", || node.observed().live_nodes == live);
        }
        Some(Nodes { nodes, server })
    }

    /// How many of `tries` requests for one unit of limit 0 are admitted, the nodes taking turns.
    pub(crate) fn admitted(&self, tries: usize, key: &str) -> usize {
        let turns = self.nodes.iter().cycle().take(tries);
        turns.filter(|node| node.admits(&[(0, key, 1)])).count()
    }

    /// The server is noticed to be away, by decisions on other keys.
    pub(crate) fn until_degraded(&self) {
        let mut other = 0;
        for node in &self.nodes {
            until("the breaker opens", || {
                other += 1;
                node.charge(&[(0, &format!("other {other}"), 1)]);
                node.observed().degraded
            });
        }
    }

    /// The server is noticed to be back, and what was admitted meanwhile is charged.
    pub(crate) fn until_recovered(&self) {
        for node in &self.nodes {
            until("the breaker closes and all is charged", || {
                let observed = node.observed();
                !observed.degraded && observed.unreconciled_keys == 0
            });
        }
    }

    /// How many units of a limit the server has counted of a key that holds `limit` in all.
    pub(crate) fn counted(&self, limit: u64, place: usize, key: &str) -> u64 {
        limit - self.nodes[0].remaining(place, key)
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.server.assert_every_key_expires();
            for node in &self.nodes {
                assert_eq!(node.store.redis_observed().differing, 0);
            }
        }
    }
}

impl Node {
    /// A node of the server at `url`.
    pub(crate) fn start(url: &str, limits: &[(Algorithm, Sharing)], budget: Duration) -> Node {
        let mut options = RedisOptions::from_url(url).expect("a URL");
        options.budget = budget;
        let clock = Arc::new(SystemClock::new());
        let store = SharedStore::start(&options, clock.clone()).expect("a store");
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let definitions: Vec<_> = limits.iter().enumerate().map(definition).collect();
        let ids = store.define(&definitions, clock.now());
        runtime.block_on(store.ready(PATIENCE)).expect("a connection");
        Node { store, clock, ids, runtime }
    }

    pub(crate) fn charge(&self, charges: &[(usize, &str, u64)]) -> StoreOutcome {
        let mut asked = Vec::new();
        for (place, key, cost) in charges {
            let (limit, key) = (self.ids[*place], key.as_bytes());
            asked.push(Charge { limit, key, cost: *cost, period: None });
        }
        let call = Call { charges: &asked, now: self.clock.now(), hold: None };
        self.runtime.block_on(self.store.charge_all(&call)).expect("an answer")
    }

    pub(crate) fn admits(&self, charges: &[(usize, &str, u64)]) -> bool {
        self.charge(charges).decision.admitted
    }

    pub(crate) fn remaining(&self, place: usize, key: &str) -> u64 {
        let charge = Charge { limit: self.ids[place], key: key.as_bytes(), cost: 0, period: None };
        let standing = self.runtime.block_on(self.store.peek(&charge, self.clock.now()));
        standing.expect("an answer").remaining
    }

    pub(crate) fn close(&self) {
        self.runtime.block_on(self.store.close());
    }

    pub(crate) fn observed(&self) -> NodeObserved {
        self.store.observed()
    }

    pub(crate) fn outcomes(&self, source: Source) -> u64 {
        let outcomes = self.observed().outcomes;
        outcomes.into_iter().filter(|(kind, _)| *kind == source).map(|(_, count)| count).sum()
    }

    pub(crate) fn errors(&self, trouble: Trouble) -> u64 {
        let errors = self.observed().errors;
        errors.into_iter().filter(|(kind, _)| *kind == trouble).map(|(_, count)| count).sum()
    }
}

fn definition((place, (algorithm, sharing)): (usize, &(Algorithm, Sharing))) -> Definition {
    Definition {
        name: format!("limit {place}").into(),
        class: None,
        limit: Limit::new(algorithm.clone(), Rules::default()).expect("a limit"),
        shape: Shape(String::new()),
        max_keys: 100_000,
        sharing: *sharing,
    }
}
