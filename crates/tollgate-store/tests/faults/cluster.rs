//! A cluster whose slots move and whose nodes die.

use tollgate_store::Trouble;

use super::load::Load;
use super::node::{LIMITS, Node};
use super::servers::{Cluster, Program, until};

/// The nodes that hold keys, and each one's slots with keys in them.
fn slots_with_keys(cluster: &Cluster) -> Vec<(usize, u16)> {
    let mut slots: Vec<(usize, u16)> = Vec::new();
    for place in cluster.primaries() {
        let node = &cluster.nodes[place];
        for key in node.keys() {
            let key = String::from_utf8(key).expect("a name of ours");
            let slot: u16 = node.run(&["CLUSTER", "KEYSLOT", &key]);
            slots.push((place, slot));
        }
    }
    slots.sort_unstable();
    slots.dedup();
    slots
}

#[test]
fn slots_move_and_a_primary_dies() {
    let Some(program) = Program::redis() else { return };
    let mut cluster = Cluster::start(&program);
    let node = Node::start(&cluster.url(), 1_000_000);
    let load = Load::start(&node);

    // Every slot that holds a key goes to the next primary, one after the other.
    let before = node.counted();
    assert!(before.iter().all(|counted| *counted > 0));
    for (from, slot) in slots_with_keys(&cluster) {
        cluster.migrate(slot, from, (from + 1) % LIMITS.len(), || load.wait(20));
    }
    let tally = load.stop("slot migration under load");
    assert_eq!(tally.count(Trouble::Disconnected), 0, "{}", tally.summary());
    // Groups of several slots: an earlier one may have been charged where a later one gave no answer.
    tally.assert_charged_once([0; LIMITS.len()], node.counted());
    assert!(node.store.observed().servers.redirects > 0);

    let load = Load::start(&node);
    cluster.nodes[0].kill();
    until("its replica takes over", || cluster.primaries().contains(&3));
    node.ready();
    let tally = load.stop("a primary of a cluster dies");
    assert!(tally.troubles.len() <= 3, "{}", tally.summary());
    assert_eq!(node.store.observed().differing, 0);
    cluster.assert_every_key_expires();
}
