//! Several nodes in one process, on a real server.

use tollgate_core::Algorithm;
use tollgate_store::SyncMode::{self, Leased};

use super::node::{Node, bucket, left, runtime, window};
use super::servers::{Program, Server, until};

fn nodes(server: &Server, count: usize, limits: &[(Algorithm, SyncMode)]) -> Vec<Node> {
    let nodes: Vec<Node> = (0..count).map(|_| Node::start(&server.url(), limits)).collect();
    let know_all = |node: &Node| node.store.observed().live_nodes as usize == count;
    until("they know of each other", || nodes.iter().all(know_all));
    nodes
}

#[test]
fn lea_01_what_idle_nodes_hold_returns_for_a_busy_one() {
    for program in Program::all() {
        let server = Server::start(&program);
        let limits = [(window(100), Leased)];
        let nodes = nodes(&server, 4, &limits);
        let runtime = runtime();
        let mut admitted = 0;
        for node in &nodes[1..] {
            for _ in 0..8 {
                admitted += u64::from(runtime.block_on(node.admits()));
            }
        }
        assert_eq!(admitted, 24);
        until("the idle have returned all", || nodes.iter().all(|node| node.in_hand() == 0));
        for _ in 0..200 {
            admitted += u64::from(runtime.block_on(nodes[0].admits()));
        }
        assert_eq!(admitted, 100);
        server.assert_every_key_expires();
    }
}

#[test]
fn lea_04_an_exhausted_key_is_exhausted_at_every_node() {
    let Some(program) = Program::redis() else { return };
    let server = Server::start(&program);
    let nodes = nodes(&server, 2, &[(window(1), Leased)]);
    let runtime = runtime();
    let admitted: u64 =
        (0..30).map(|call| u64::from(runtime.block_on(nodes[call % 2].admits()))).sum();
    assert_eq!(admitted, 1);
    let requests: u64 = nodes.iter().map(|node| node.store.observed().leases.requests).sum();
    assert!(requests <= 3, "{requests} requests");
}

#[test]
fn a_node_that_closes_returns_what_it_holds() {
    for program in Program::all() {
        let server = Server::start(&program);
        for limits in [[(window(10_000), Leased)], [(bucket(1, 10_000), Leased)]] {
            let node = Node::start(&server.url(), &limits);
            let runtime = runtime();
            let mut admitted = 0;
            while node.in_hand() < 4 {
                assert!(runtime.block_on(node.admits()));
                admitted += 1;
            }
            runtime.block_on(node.store.close());
            assert_eq!(node.in_hand(), 0);
            let left = left(&server.url(), &limits)[0];
            // A bucket of one a second may have had a few more since.
            let expected = 10_000 - admitted;
            assert!((expected..=expected + 30).contains(&left), "{left}, not {expected}");
            server.assert_every_key_expires();
            let _: String = server.run(&["FLUSHALL"]);
        }
    }
}
