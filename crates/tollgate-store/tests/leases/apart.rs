//! Leases while the network between a node and the server fails, and while a reload changes the bucket that they are of.

use std::time::Instant;

use tollgate_core::Algorithm;
use tollgate_store::SyncMode::{self, Leased};

use super::node::{Node, bucket, left, runtime, window};
use super::servers::{Fault, Program, Proxy, Server, until};

/// A server, a node beside it, and one that reaches it through a proxy; both hold units.
struct Apart {
    server: Server,
    proxy: Proxy,
    near: Node,
    far: Node,
    limits: [(Algorithm, SyncMode); 1],
    admitted: u64,
}

impl Apart {
    fn start(algorithm: Algorithm) -> Option<Apart> {
        let server = Server::start(&Program::redis()?);
        let proxy = Proxy::start(server.address());
        let limits = [(algorithm, Leased)];
        let (near, far) = (Node::start(&server.url(), &limits), Node::start(&proxy.url(), &limits));
        until("both know of each other", || {
            [&near, &far].iter().all(|node| node.store.observed().live_nodes == 2)
        });
        let mut apart = Apart { server, proxy, near, far, limits, admitted: 0 };
        let (near, far) = (apart.near.clone(), apart.far.clone());
        while far.in_hand() < 4 || near.in_hand() < 4 {
            apart.ask(&far, 1);
            apart.ask(&near, 1);
        }
        Some(apart)
    }

    /// Asks `node` for a unit, so many times.
    fn ask(&mut self, node: &Node, times: usize) {
        let runtime = runtime();
        self.admitted +=
            (0..times).map(|_| u64::from(runtime.block_on(node.admits()))).sum::<u64>();
    }
}

#[test]
fn lea_a_node_that_is_cut_off_spends_what_it_holds_and_no_more() {
    for fault in [Fault::Refuse, Fault::Reset] {
        let Some(mut apart) = Apart::start(window(2_000)) else { return };
        apart.proxy.set(fault);
        let (far, near) = (apart.far.clone(), apart.near.clone());
        let (before, held) = (apart.admitted, far.in_hand());
        until("the node is told that the store is away", || {
            apart.ask(&far, 1);
            far.store.observed().degraded
        });
        apart.ask(&far, 200);
        assert!(apart.admitted - before <= held, "{fault:?}: it held {held}");
        apart.ask(&near, 3_000);
        assert!(apart.admitted <= 2_000, "{fault:?}: {} admitted", apart.admitted);
        assert!(apart.admitted >= 2_000 - held, "{fault:?}: {} admitted", apart.admitted);
        apart.server.assert_every_key_expires();
    }
}

#[test]
fn red_13_units_whose_grant_was_lost_are_spent_by_nobody() {
    let Some(mut apart) = Apart::start(window(1_000)) else { return };
    // Every call arrives; nothing of what is granted does.
    apart.proxy.set(Fault::DropReplies);
    let (far, near) = (apart.far.clone(), apart.near.clone());
    let runtime = runtime();
    let held = far.in_hand();
    let spent = (0..held).filter(|_| runtime.block_on(far.admits())).count() as u64;
    assert!(spent <= held);
    apart.admitted += spent;
    apart.proxy.set(Fault::Reset);
    until("the connections are gone", || apart.proxy.seen().open == 0);
    apart.proxy.set(Fault::None);
    until("the node is served again", || {
        apart.ask(&far, 1);
        !far.store.observed().degraded && far.in_hand() > 0
    });
    for _ in 0..600 {
        apart.ask(&near, 2);
        apart.ask(&far, 1);
    }
    let left = left(&apart.server.url(), &apart.limits)[0];
    assert!(apart.admitted <= 1_000, "{} admitted", apart.admitted);
    assert_eq!(left, 0, "nobody has any more");
    apart.server.assert_every_key_expires();
}

/// After a reload to `burst`, what two nodes that hold leases of the bucket before can have in one instant.
fn reloaded(before: u64, burst: u64) -> Option<()> {
    let mut apart = Apart::start(bucket(1, before))?;
    let limits = [(bucket(1, burst), Leased)];
    let start = Instant::now();
    apart.near.redefine(&limits);
    apart.far.redefine(&limits);
    let (far, near, earlier) = (apart.far.clone(), apart.near.clone(), apart.admitted);
    for _ in 0..burst {
        apart.ask(&near, 1);
        apart.ask(&far, 1);
    }
    let (now, refilled) = (apart.admitted - earlier, start.elapsed().as_secs() + 1);
    assert!(
        now <= burst + refilled,
        "{before} to {burst}: {now} in an instant, {refilled} refilled"
    );
    // Of a bucket that is larger now, nothing is lost but what was out; of one that was nearly full, most is there.
    let all = earlier + now;
    assert!(all <= before.max(burst) + refilled, "{before} to {burst}: {all} in all");
    apart.server.assert_every_key_expires();
    Some(())
}

#[test]
fn lea_leases_of_a_bucket_that_a_reload_makes_smaller_or_larger_never_add_to_it() {
    for (before, burst) in [(1_000, 40), (100, 1_000), (400, 400)] {
        if reloaded(before, burst).is_none() {
            return;
        }
    }
}
