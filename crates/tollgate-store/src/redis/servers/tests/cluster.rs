//! A cluster: slots, redirects, resharding, fail-over.

use std::sync::Arc;

use super::calls::{Load, add_surely, block_on, connected, counted, long, options, ready};
use super::harness::{Cluster, Program, until};
use crate::Trouble;
use crate::redis::key::KeyName;
use crate::redis::script::Script;
use crate::redis::servers::slot_of;

const KEYS: [&str; 6] = ["{a}1", "{b}1", "{c}1", "{d}1", "{e}1", "{f}1"];

#[test]
fn calls_find_their_node_through_every_change() {
    let Some(program) = Program::redis() else { return };
    let mut cluster = Cluster::start(&program);
    let servers = Arc::new(connected(&options(&cluster.url())));
    for key in KEYS {
        assert_eq!(add_surely(&servers, key), 1);
        let owner = cluster.owner(slot_of(key.as_bytes()));
        assert_eq!(counted(&cluster.nodes[owner], key), 1);
    }
    assert_eq!(servers.observed().redirects, 0);
    across_slots_is_an_error(&servers);
    a_slot_moves_under_load(&mut cluster, &servers, &program);
    a_primary_dies_under_load(&mut cluster, &servers);
}

fn across_slots_is_an_error(servers: &crate::redis::servers::Servers) {
    let keys = [KeyName::new(*b"{a}1"), KeyName::new(*b"{b}1")];
    let script = Script::new("return redis.call('MGET', KEYS[1], KEYS[2])");
    let slot = servers.slot(&keys[0]);
    let answer = block_on(servers.call(long(), slot, &script, &keys, &[]));
    assert_eq!(answer, Err(Trouble::Unexpected), "red-07: CROSSSLOT");
}

fn a_slot_moves_under_load(
    cluster: &mut Cluster,
    servers: &Arc<crate::redis::servers::Servers>,
    program: &Program,
) {
    // To a node that nobody has heard of.
    let newcomer = cluster.add_node(program);
    cluster.introduce();
    cluster.wait_until_well();
    let slot = slot_of(b"{a}");
    let owner = cluster.owner(slot);
    // While the slot is on its way the key of the load is in either place, and a new key is only there.
    let before = servers.observed().redirects;
    let load = Load::start(servers, 4, &["{a}2", "{b}2"]);
    until("calls are answered", || counted(&cluster.nodes[owner], "{a}2") > 20);
    cluster.migrate(slot, owner, newcomer, || {
        assert_eq!(add_surely(servers, "{a}new"), 1);
        assert_eq!(add_surely(servers, "{a}new"), 2);
    });
    let moved = counted(&cluster.nodes[newcomer], "{a}2");
    until("the new node is asked", || counted(&cluster.nodes[newcomer], "{a}2") > moved + 20);
    let tally = load.stop("slot migration");
    tally.assert_within_budget();
    tally.assert_charged_once("{a}2", counted(&cluster.nodes[newcomer], "{a}2"));
    assert_eq!(counted(&cluster.nodes[newcomer], "{a}new"), 2);
    assert!(servers.observed().redirects > before);
}

fn a_primary_dies_under_load(cluster: &mut Cluster, servers: &Arc<crate::redis::servers::Servers>) {
    let slot = slot_of(b"{b}");
    let owner = cluster.owner(slot);
    let lookups = servers.observed().lookups;
    let load = Load::start(servers, 4, &["{b}3"]);
    until("calls are answered", || counted(&cluster.nodes[owner], "{b}3") > 20);
    cluster.nodes[owner].kill();
    // The first node may be the one that died; the newcomer is asked who owns what.
    let heir = owner + 3;
    until("its replica takes over", || cluster.primaries().contains(&heir));
    until("it is asked", || counted(&cluster.nodes[heir], "{b}3") > 40);
    ready(servers);
    let tally = load.stop("fail-over in a cluster");
    tally.assert_within_budget();
    let most = tally.answered["{b}3"] + tally.unknown.get("{b}3").copied().unwrap_or_default();
    assert!(counted(&cluster.nodes[heir], "{b}3") <= most);
    let asked = servers.observed().lookups - lookups;
    assert!(asked < 100, "the map was looked up {asked} times");
}
