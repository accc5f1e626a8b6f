//! Several nodes and a server that is well.

use std::sync::atomic::{AtomicUsize, Ordering};

use tollgate_core::Micros;
use tollgate_store::{Sharing, Source, SyncMode};

use crate::nodes::{EXACT, Nodes, fixed};
use crate::servers::until;

const SHARE: Sharing = Sharing { sync: SyncMode::Share, ..EXACT };

#[test]
fn exactly_the_limit_is_admitted_however_many_nodes_want_it() {
    let Some(nodes) = Nodes::start(3, &[(fixed(100), EXACT)]) else { return };
    let admitted = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for node in nodes.nodes.iter() {
            let admitted = &admitted;
            scope.spawn(move || {
                for _ in 0..200 {
                    admitted
                        .fetch_add(usize::from(node.admits(&[(0, "key", 1)])), Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(admitted.into_inner(), 100);
}

#[test]
fn of_nodes_that_race_for_one_unit_one_gets_it() {
    const ROUNDS: usize = 2_000;
    let Some(nodes) = Nodes::start(2, &[(fixed(1), EXACT), (fixed(1), SHARE)]) else { return };
    let admitted = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for node in nodes.nodes.iter() {
            let admitted = &admitted;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let won = node.admits(&[(0, &format!("{round}"), 1)]);
                    admitted.fetch_add(usize::from(won), Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(admitted.into_inner(), ROUNDS);
}

#[test]
fn lea_04_two_nodes_by_turns() {
    let estimate = SyncMode::Estimate { every: Micros::new(20_000) };
    let estimate = Sharing { sync: estimate, ..EXACT };
    let Some(nodes) = Nodes::start(2, &[(fixed(1), EXACT), (fixed(1), estimate)]) else { return };
    assert_eq!(nodes.admitted(30, "key"), 1);
    let admits = |turn: usize| nodes.nodes[turn % 2].admits(&[(1, "key", 1)]);
    let admitted = (0..2).filter(|turn| admits(*turn)).count();
    assert_eq!(admitted, 2, "neither has heard of the other");
    let overshoot = || nodes.nodes.iter().map(|node| node.observed().overshoot).sum::<u64>();
    until("both have reported", || overshoot() == 1);
    assert_eq!((0..28).filter(|turn| admits(*turn)).count(), 0);
}

#[test]
fn red_23_an_exhausted_key_costs_a_handful_of_calls() {
    let Some(nodes) = Nodes::start(1, &[(fixed(10), EXACT)]) else { return };
    assert_eq!(nodes.admitted(10, "key"), 10);
    let before = nodes.nodes[0].outcomes(Source::Store);
    assert_eq!(nodes.admitted(10_000, "key"), 0);
    assert!(nodes.nodes[0].outcomes(Source::Store) - before < 10);
    assert!(nodes.nodes[0].outcomes(Source::Exhausted) > 9_990);
}

#[test]
fn shares_follow_the_nodes_that_are_there() {
    let Some(nodes) = Nodes::start(3, &[(fixed(10), SHARE)]) else { return };
    assert_eq!(nodes.admitted(60, "key"), 10);
    nodes.nodes[2].close();
    let others = &nodes.nodes[..2];
    until("it is missed", || others.iter().all(|node| node.observed().live_nodes == 2));
    let admitted: usize =
        others.iter().map(|node| (0..20).filter(|_| node.admits(&[(0, "new", 1)])).count()).sum();
    assert_eq!(admitted, 10);
}

#[test]
fn a_connection_that_is_not_there_yet_is_no_error() {
    let Some(nodes) = Nodes::start(3, &[(fixed(10), EXACT)]) else { return };
    assert_eq!(nodes.admitted(9, "key"), 9);
    for node in &nodes.nodes {
        let errors = node.observed().errors;
        assert!(errors.iter().all(|(_, count)| *count == 0), "{errors:?}");
    }
}
