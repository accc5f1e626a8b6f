//! Nodes, the store that they share, and a clock.

use std::num::NonZeroU32;
use std::sync::Arc;

use tollgate_core::{
    Algorithm, Burst, Concurrency, FixedWindow, Limit, Micros, Rate, Rules, Timestamp, TokenBucket,
};

use crate::shared::Node;
use crate::shared::double::{Central, Double, Health};
use crate::{
    Call, Charge, Clock, Definition, LimitId, ManualClock, OnStoreFailure, Receipt, Shape, Sharing,
    Source, StoreError, StoreOutcome, SyncMode, Trouble,
};

/// When the worlds begin: a whole hour, so that windows begin, too.
const START: u64 = 1_767_225_600_000_000;

pub(super) const EXACT: Sharing =
    Sharing { sync: SyncMode::Exact, on_store_failure: OnStoreFailure::Share, given_back: false };
pub(super) const NODE: Sharing = Sharing { sync: SyncMode::Node, ..EXACT };
pub(super) const SHARE: Sharing = Sharing { sync: SyncMode::Share, ..EXACT };
pub(super) const ESTIMATE: Sharing =
    Sharing { sync: SyncMode::Estimate { every: Micros::new(100_000) }, ..EXACT };
pub(super) const LEASED: Sharing = Sharing { sync: SyncMode::Leased, ..EXACT };
pub(super) const ALLOW: Sharing = Sharing { on_store_failure: OnStoreFailure::Allow, ..EXACT };
pub(super) const REFUSE: Sharing = Sharing { on_store_failure: OnStoreFailure::Refuse, ..EXACT };

pub(super) fn bucket(count: u64, burst: u64) -> Algorithm {
    let rate = Rate { count, per: Micros::from_secs(1) };
    Algorithm::TokenBucket(TokenBucket { rate, burst: Burst::Units(burst), empty_at: None })
}

pub(super) fn fixed(limit: u64, seconds: u64) -> Algorithm {
    Algorithm::FixedWindow(FixedWindow { limit, window: Micros::from_secs(seconds) })
}

pub(super) fn slots(limit: u64) -> Algorithm {
    Algorithm::Concurrency(Concurrency { limit, ttl: Micros::from_secs(60) })
}

pub(super) fn count_refused() -> Rules {
    Rules { count_refused: true, ..Rules::default() }
}

pub(super) struct World {
    pub(super) central: Arc<Central>,
    pub(super) clock: Arc<ManualClock>,
    pub(super) nodes: Vec<Arc<Node<Double>>>,
    pub(super) ids: Vec<LimitId>,
    definitions: Vec<Definition>,
}

/// Runs a test; the runtime's time passes when nothing else is to be done.
pub(super) fn run(test: impl Future<Output = ()>) {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().start_paused(true).build().expect("a runtime").block_on(test);
}

pub(super) fn definition(
    name: usize,
    algorithm: Algorithm,
    rules: Rules,
    sharing: Sharing,
) -> Definition {
    let limit = Limit::new(algorithm, rules).expect("a limit");
    let shape = Shape(format!("{:?}", std::mem::discriminant(limit.algorithm())));
    let name = format!("limit {name}").into();
    Definition { name, class: None, limit, shape, max_keys: 10_000, sharing }
}

impl World {
    /// `nodes` nodes that have heard of each other, with limits of these algorithms.
    pub(super) async fn new(nodes: usize, limits: &[(Algorithm, Sharing)]) -> World {
        let with_rules: Vec<_> = limits
            .iter()
            .map(|(algorithm, sharing)| (algorithm.clone(), Rules::default(), *sharing))
            .collect();
        World::with_rules(nodes, &with_rules).await
    }

    pub(super) async fn with_rules(nodes: usize, limits: &[(Algorithm, Rules, Sharing)]) -> World {
        let clock = Arc::new(ManualClock::new(Timestamp::from_micros(START)));
        let central = Central::new(clock.clone());
        let mut world =
            World { central, clock, nodes: Vec::new(), ids: Vec::new(), definitions: Vec::new() };
        let definitions = limits.iter().enumerate().map(|(name, (algorithm, rules, sharing))| {
            definition(name, algorithm.clone(), rules.clone(), *sharing)
        });
        world.definitions = definitions.collect();
        for _ in 0..nodes {
            world.join();
        }
        world.beat().await;
        world
    }

    /// One more node, which nobody has heard of yet.
    pub(super) fn join(&mut self) {
        let name = self.nodes.len() as u128;
        let remote = Double(self.central.clone());
        let node = Arc::new(Node::new(remote, self.clock.clone(), name, NonZeroU32::MIN));
        self.ids = node.follow_definitions(&self.definitions, self.now());
        self.nodes.push(node);
    }

    /// A reload on all nodes.
    pub(super) fn reload(&mut self, limits: &[(Algorithm, Sharing)]) {
        let definitions = limits.iter().enumerate().map(|(name, (algorithm, sharing))| {
            definition(name, algorithm.clone(), Rules::default(), *sharing)
        });
        self.definitions = definitions.collect();
        for node in &self.nodes {
            self.ids = node.follow_definitions(&self.definitions, self.now());
        }
    }

    /// A reload on all nodes, which then remember so many keys of each limit.
    pub(super) fn limit_keys(&mut self, keys: usize) {
        self.definitions.iter_mut().for_each(|one| one.max_keys = keys);
        for node in &self.nodes {
            self.ids = node.follow_definitions(&self.definitions, self.now());
        }
    }

    /// Every node tells that it is alive, and all hear of all.
    pub(super) async fn beat(&self) {
        for _ in 0..2 {
            for node in &self.nodes {
                node.beat().await;
            }
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn passes(&self, micros: u64) {
        let now = self.now().as_micros() + micros;
        self.clock.set(Timestamp::from_micros(now));
    }

    pub(super) fn passes_millis(&self, millis: u64) {
        self.passes(millis * 1000);
    }

    /// Charges (limit, key, cost) together at a node.
    pub(super) async fn try_charge(
        &self,
        node: usize,
        charges: &[(usize, &str, u64)],
    ) -> Result<StoreOutcome, StoreError> {
        let charge = |(limit, key, cost): &(usize, &'_ str, u64)| {
            (self.ids[*limit], key.as_bytes().to_vec(), *cost)
        };
        let owned: Vec<_> = charges.iter().map(charge).collect();
        let charges: Vec<_> = owned
            .iter()
            .map(|(limit, key, cost)| Charge { limit: *limit, key, cost: *cost, period: None })
            .collect();
        let call = Call { charges: &charges, now: self.now(), hold: None };
        self.nodes[node].decide(&call).await
    }

    pub(super) async fn charge(&self, node: usize, charges: &[(usize, &str, u64)]) -> StoreOutcome {
        self.try_charge(node, charges).await.expect("an answer")
    }

    pub(super) async fn admits(&self, node: usize, charges: &[(usize, &str, u64)]) -> bool {
        self.charge(node, charges).await.decision.admitted
    }

    /// How many of `tries` requests for one unit of limit 0 are admitted, the nodes taking turns.
    pub(super) async fn admitted(&self, tries: usize, key: &str) -> usize {
        let mut admitted = 0;
        for turn in 0..tries {
            let node = turn % self.nodes.len();
            admitted += usize::from(self.admits(node, &[(0, key, 1)]).await);
        }
        admitted
    }

    /// What a node would still admit by itself.
    pub(super) async fn left(&self, node: usize, limit: usize, key: &str) -> u64 {
        let charge = Charge { limit: self.ids[limit], key: key.as_bytes(), cost: 0, period: None };
        self.nodes[node].look(&charge, self.now()).await.expect("an answer").remaining
    }

    pub(super) async fn settle(&self, node: usize, receipt: Receipt, units: u64) {
        for taken in receipt.taken {
            self.nodes[node].settle_one(taken, units, self.now()).await.expect("settled");
        }
    }

    /// The store fails until every node leaves it alone.
    pub(super) async fn breaks(&self, trouble: Trouble) {
        self.central.becomes(Health::Fails(trouble));
        for node in &self.nodes {
            while !node.breaker.is_open() {
                node.beat().await;
            }
        }
    }

    /// The store is well again, and every node has noticed.
    pub(super) async fn recovers(&self) {
        self.central.becomes(Health::Well);
        self.passes_millis(6_000);
        for node in &self.nodes {
            while node.breaker.is_open() {
                node.beat().await;
            }
        }
    }

    pub(super) fn errors(&self, node: usize, trouble: Trouble) -> u64 {
        let errors = self.nodes[node].observed().errors;
        errors.into_iter().filter(|(kind, _)| *kind == trouble).map(|(_, count)| count).sum()
    }

    pub(super) fn outcomes(&self, node: usize, source: Source) -> u64 {
        let outcomes = self.nodes[node].observed().outcomes;
        outcomes.into_iter().filter(|(kind, _)| *kind == source).map(|(_, count)| count).sum()
    }
}
