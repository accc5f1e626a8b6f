//! Nodes on a cluster: what they count together, exactly and on lease, and what holds when one of its shards is gone.

use std::time::Duration;

use tollgate_store::{Sharing, SyncMode};

use crate::nodes::{EXACT, Node, fixed};
use crate::servers::{Cluster, Program, until};

const LEASED: Sharing = Sharing { sync: SyncMode::Leased, ..EXACT };

/// A busy machine is no reason to fail.
const BUDGET: Duration = Duration::from_secs(20);

/// Three nodes on one cluster: narrow limits by key, and a wide one of all.
#[test]
fn nodes_on_a_cluster_admit_a_limit_once_and_take_nothing_for_what_is_refused() {
    let Some(program) = Program::redis() else { return };
    let cluster = Cluster::start(&program);
    let limits = [(fixed(60), EXACT), (fixed(1_000), EXACT), (fixed(300), LEASED)];
    let nodes: Vec<Node> = (0..3).map(|_| Node::start(&cluster.url(), &limits, BUDGET)).collect();
    until("all know of all", || nodes.iter().all(|node| node.observed().live_nodes == 3));

    // Keys of many slots, each with its own narrow limit, and one wide limit of another slot in the same decision.
    let keys: Vec<String> = (0..10).map(|key| format!("user {key}")).collect();
    let mut admitted = 0;
    for turn in 0..900 {
        let (node, key) = (&nodes[turn % 3], &keys[turn % 10]);
        admitted += u64::from(node.admits(&[(0, key, 1), (1, "all", 1)]));
    }
    assert_eq!(admitted, 600, "sixty for each of ten");
    for key in &keys {
        assert_eq!(nodes[0].remaining(0, key), 0);
    }
    assert_eq!(
        nodes[0].remaining(1, "all"),
        400,
        "what a narrow limit refused took nothing of the wide one"
    );

    let leased = |tries: usize| {
        (0..tries).filter(|turn| nodes[turn % 3].admits(&[(2, "leased", 1)])).count()
    };
    let mut spent = leased(900);
    assert!(spent <= 300, "{spent} of 300");
    // What one node holds while it is asked no more returns to the others.
    until("idle leases return", || {
        spent += leased(3);
        spent == 300
    });
    assert_eq!(leased(30), 0);
    for node in nodes {
        node.close();
        assert_eq!(node.store.redis_observed().differing, 0);
    }
    cluster.assert_every_key_expires();
}
