//! A primary that dies, and the replica that takes its place.

use tollgate_store::Trouble;

use super::load::Load;
use super::node::Node;
use super::servers::{Program, Sentinels, until};

#[test]
fn a_primary_dies_and_is_replaced() {
    let Some(program) = Program::redis() else { return };
    let mut sentinels = Sentinels::start(&program);
    let node = Node::start(&sentinels.url(), 1_000_000);
    let load = Load::start(&node);
    sentinels.servers[0].kill();
    until("the replica is the primary", || sentinels.primary() == 1);
    node.ready();
    let tally = load.stop("fail-over with Sentinel");
    assert!(tally.count(Trouble::Disconnected) > 0);
    let after = node.counted();
    assert_eq!(after, [after[0]; 3]);
    // What the old primary had not handed over is lost, and nothing is counted twice.
    assert!((200..=tally.admitted + tally.unknown).contains(&after[0]), "{after:?}");
    sentinels.servers[1].assert_every_key_expires();
    assert_eq!(node.store.observed().differing, 0);
}
