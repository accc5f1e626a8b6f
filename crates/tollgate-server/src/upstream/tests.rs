//! Which server is next.

use std::sync::Arc;

use tollgate_policy::settings::{
    Ejection, GatewaySettings, Upstream, UpstreamAddress, UpstreamServer,
};

use super::lease::Lease;
use super::pool::{Picked, Pool};
use super::server::Server;
use crate::gateway::tests::settings;
use crate::metrics::Metrics;

fn upstream(weights: &[u32]) -> Upstream {
    let server = |(place, weight): (usize, &u32)| UpstreamServer {
        address: UpstreamAddress::Socket(([127, 0, 0, 1], 9_000 + place as u16).into()),
        weight: *weight,
    };
    Upstream::new("p", weights.iter().enumerate().map(server).collect())
}

fn pool_of(upstream: &Upstream) -> Pool {
    let gateway: GatewaySettings = settings();
    Pool::new(upstream, &gateway, (1, 0), &Metrics::new(Vec::new), None)
}

fn pool(weights: &[u32]) -> Pool {
    pool_of(&upstream(weights))
}

fn picked(pool: &Pool, now: u64, tried: &[Arc<Server>]) -> Option<Lease> {
    match pool.pick(now, tried) {
        Picked::Place(lease) => Some(lease),
        Picked::Full | Picked::None => None,
    }
}

/// The place of the server that is picked at `now`, and given up at once.
fn place(pool: &Pool, now: u64) -> usize {
    let lease = picked(pool, now, &[]).expect("a server");
    let members = pool.members();
    let place = members.servers().iter().position(|server| Arc::ptr_eq(server, lease.server()));
    place.expect("one of the pool's")
}

#[test]
fn idle_servers_take_turns() {
    let pool = pool(&[1, 1, 1]);
    assert_eq!((0..6).map(|_| place(&pool, 0)).collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2]);
}

#[test]
fn heavier_servers_get_more() {
    let pool = pool(&[3, 1]);
    let heavy = (0..400).filter(|_| place(&pool, 0) == 0).count();
    assert_eq!(heavy, 300);
}

#[test]
fn a_server_that_takes_no_connection_rests_and_is_asked_only_when_all_rest() {
    let pool = pool(&[1, 1]);
    let members = pool.members();
    let servers = members.servers();
    servers[0].standing().refused(1_000);
    assert!((0..8).all(|_| place(&pool, 1_001) == 1));
    servers[1].standing().refused(1_000);
    assert!(picked(&pool, 1_001, &[]).is_some());
    let other = picked(&pool, 1_001, &[Arc::clone(&servers[0])]).expect("the other one");
    assert!(Arc::ptr_eq(other.server(), &servers[1]));
    assert!(matches!(pool.pick(1_001, servers), Picked::None), "all were tried");
}

#[test]
fn the_busier_of_two_is_spared_for_its_weight() {
    for (weights, most) in [([1, 1], 300), ([10, 1], 950)] {
        let pool = pool(&weights);
        let members = pool.members();
        let busy: Vec<_> = (0..10)
            .map(|_| {
                assert!(members.servers()[0].enter(false));
                Lease::new(Arc::clone(&members.servers()[0]))
            })
            .collect();
        let to_busy = (0..1_000).filter(|_| place(&pool, 0) == 0).count();
        assert!(to_busy <= most, "{to_busy} of 1000 went to the busy one of {weights:?}");
        drop(busy);
        assert_eq!(members.servers()[0].in_flight(), 0);
    }
}

#[test]
fn an_empty_pool_has_none() {
    assert!(matches!(pool(&[]).pick(0, &[]), Picked::None));
}

#[test]
fn a_full_server_is_passed_over_and_a_full_pool_is_said_to_be() {
    let pool = pool_of(&Upstream { max_connections: Some(1), ..upstream(&[1, 1]) });
    let one = picked(&pool, 0, &[]).expect("a place");
    let other = picked(&pool, 0, &[]).expect("another place");
    assert!(!Arc::ptr_eq(one.server(), other.server()));
    assert!(matches!(pool.pick(0, &[]), Picked::Full));
    drop(one);
    assert!(picked(&pool, 0, &[]).is_some());
}

#[test]
fn a_fit_server_that_is_full_is_no_reason_to_ask_one_that_is_left_out() {
    let pool = pool_of(&Upstream { max_connections: Some(1), ..upstream(&[1, 1]) });
    pool.members().servers()[0].standing().refused(0);
    let _held = picked(&pool, 1, &[]).expect("a place");
    assert!(matches!(pool.pick(1, &[]), Picked::Full));
}

#[test]
fn no_more_than_a_share_is_ejected() {
    let ejection = Some(Ejection { failures: 1, share: 50, ..Ejection::default() });
    for (count, most) in [(1, 0), (2, 1), (3, 1), (4, 2)] {
        let pool = pool_of(&Upstream { ejection: ejection.clone(), ..upstream(&vec![1; count]) });
        let members = pool.members();
        members.servers().iter().for_each(|server| pool.failed(server, 1));
        let out = members.servers().iter().filter(|server| server.standing().is_ejected(2));
        assert_eq!(out.count(), most, "of {count}");
    }
}

#[test]
fn a_reload_keeps_what_is_known_of_servers_that_stay() {
    let before = pool(&[1, 1]);
    before.members().servers()[1].standing().refused(0);
    let metrics = Metrics::new(Vec::new);
    let after = Pool::new(&upstream(&[5, 2, 1]), &settings(), (1, 0), &metrics, Some(&before));
    for (old, new) in before.members().servers().iter().zip(after.members().servers()) {
        assert!(Arc::ptr_eq(old, new));
    }
    assert_eq!(after.members().servers()[0].weight(), 5);
    let other = Upstream { http2: true, ..upstream(&[1, 1]) };
    let other = Pool::new(&other, &settings(), (1, 0), &metrics, Some(&after));
    assert!(!Arc::ptr_eq(&other.members().servers()[0], &after.members().servers()[0]));
}
