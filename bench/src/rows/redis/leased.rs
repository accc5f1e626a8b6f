//! One hot key over four nodes: on lease, and with every decision asking the server. Of 100,000 a second most are refused, for
//! nodes that lease decide far more than that; of 100,000,000 all are admitted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::runtime::Builder;
use tollgate_core::{Algorithm, Burst, Limit, Micros, Rate, Rules, TokenBucket};
use tollgate_store::{
    Call, Charge, Clock, Definition, LimitId, RedisOptions, Shape, SharedStore, Sharing, Stopwatch,
    Store, SyncMode, SystemClock,
};

use super::server::Server;
use crate::table::{Measured, Target};

/// Nodes, each with a thread of its own.
const NODES: usize = 4;
/// Requests that a node decides at a time.
const AT_A_TIME: usize = 32;
/// How long a round is, in nanoseconds.
const ROUND: u64 = 2_000_000_000;
/// Rounds that are compared; their median counts.
const ROUNDS: usize = 5;

/// A node's store, its limit and its clock.
struct Node {
    store: SharedStore,
    limit: LimitId,
    clock: Arc<SystemClock>,
}

/// Every row.
pub fn run(name: &str, server: &Server) -> Vec<Measured> {
    let mut rows = Vec::new();
    for (what, a_second) in [("100,000/s", 100_000), ("all admitted", 100_000_000)] {
        rows.extend(contest(&format!("{name}: leased, {what}"), a_second, server));
    }
    rows
}

fn contest(name: &str, a_second: u64, server: &Server) -> [Measured; 2] {
    let leased = nodes(server, SyncMode::Leased, a_second);
    let exact = nodes(server, SyncMode::Exact, a_second);
    let (mut mine, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let (ours, peer) = (measure(server, &leased), measure(server, &exact));
        // The first round warms up.
        if round > 0 {
            mine.push(ours);
            theirs.push(peer);
        }
    }
    let row = |what: &str, unit, most, of: fn(&Round) -> f64| {
        let median = |rounds: &[Round]| super::median(rounds.iter().map(of).collect());
        let (ours, peer) = (median(&mine), median(&theirs));
        let (name, target) = (format!("{name}, {what}"), Target::Ratio(most));
        Measured { name, ours, peer, unit, target, disturbed: false }
    };
    [
        row("commands for 1,000 decisions", "", 1.0 / 50.0, |round| round.commands),
        row("time a decision", "ns", 1.0 / 20.0, |round| round.nanos),
    ]
}

/// What a round came to.
struct Round {
    /// Commands for a thousand decisions.
    commands: f64,
    /// Nanoseconds a decision, of all nodes together.
    nanos: f64,
}

fn measure(server: &Server, nodes: &[Node]) -> Round {
    let decided = AtomicU64::new(0);
    let (before, watch) = (server.scripts_called(), Stopwatch::start());
    std::thread::scope(|scope| {
        for node in nodes {
            scope.spawn(|| decided.fetch_add(decide(node), Ordering::Relaxed));
        }
    });
    let (nanos, commands) = (watch.nanos() as f64, server.scripts_called() - before);
    let decided = decided.into_inner() as f64;
    Round { commands: commands / decided * 1000.0, nanos: nanos / decided }
}

/// Decides as fast as it can, and says how often.
fn decide(node: &Node) -> u64 {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (watch, decided) = (Stopwatch::start(), AtomicU64::new(0));
    let one = async || {
        while watch.nanos() < ROUND {
            let charge = Charge { limit: node.limit, key: b"hot", cost: 1, period: None };
            let call = Call { charges: &[charge], now: node.clock.now(), hold: None };
            node.store.charge_all(&call).await.expect("a decision");
            decided.fetch_add(1, Ordering::Relaxed);
        }
    };
    runtime.block_on(join_all((0..AT_A_TIME).map(|_| one())));
    decided.into_inner()
}

/// Nodes that count a limit of so many a second together, and know of each other.
fn nodes(server: &Server, sync: SyncMode, a_second: u64) -> Vec<Node> {
    let rate = Rate { count: a_second, per: Micros::from_secs(1) };
    let spec = TokenBucket { rate, burst: Burst::Units(a_second), empty_at: None };
    let limit = Limit::new(Algorithm::TokenBucket(spec), Rules::default()).expect("a limit");
    let definition = Definition {
        name: format!("{sync:?}").into(),
        class: None,
        limit,
        shape: Shape(String::new()),
        max_keys: 1000,
        sharing: Sharing { sync, ..Sharing::default() },
    };
    let mut options = RedisOptions::from_url(&server.url()).expect("a URL");
    options.budget = Duration::from_secs(20);
    options.namespace = format!("{sync:?} {a_second}");
    let start = |_| {
        let clock = Arc::new(SystemClock::new());
        let store = SharedStore::start(&options, clock.clone()).expect("a store");
        let limit = store.define(std::slice::from_ref(&definition), clock.now())[0];
        Node { store, limit, clock }
    };
    let nodes: Vec<Node> = (0..NODES).map(start).collect();
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    for node in nodes.iter().chain(&nodes) {
        let ready = node.store.ready(Duration::from_secs(20));
        runtime.block_on(ready).expect("a connection");
    }
    nodes
}
