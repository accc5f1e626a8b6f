//! The server is away, full, or hangs: the nodes go on, and nothing is charged twice.

use std::time::Duration;

use tollgate_store::{OnStoreFailure, Sharing, Source, Trouble};

use crate::nodes::{EXACT, Nodes, fixed};

/// Long for a server on the same machine, short for a test in which it hangs.
const BUDGET: Duration = Duration::from_millis(200);

#[test]
fn a_killed_server_is_done_without_and_told_afterwards() {
    let Some(mut nodes) = Nodes::with(2, &[(fixed(100), EXACT)], BUDGET) else { return };
    assert_eq!(nodes.admitted(20, "key"), 20);
    nodes.server.kill();
    nodes.until_degraded();
    // 80 were left, or 81 by the one that asked last but one: half of that each, rounded up.
    let meanwhile = nodes.admitted(300, "key");
    assert!((80..=81).contains(&meanwhile), "{meanwhile}");
    nodes.server.revive();
    nodes.until_recovered();
    // It has forgotten what it knew; what was admitted without it, it knows.
    assert_eq!(nodes.counted(100, 0, "key"), meanwhile as u64);
    assert_eq!(nodes.admitted(100, "key"), 100 - meanwhile);
}

#[test]
fn red_17_a_full_server_is_done_without() {
    let Some(nodes) = Nodes::with(1, &[(fixed(10), EXACT)], BUDGET) else { return };
    let node = &nodes.nodes[0];
    nodes.server.run::<()>(&["CONFIG", "SET", "maxmemory-policy", "noeviction"]);
    nodes.server.run::<()>(&["CONFIG", "SET", "maxmemory", "1"]);
    assert_eq!(nodes.admitted(50, "key"), 10);
    let full = node.errors(Trouble::Full);
    assert!((1..=50).contains(&full), "{full}");
    nodes.until_degraded();
    nodes.server.run::<()>(&["CONFIG", "SET", "maxmemory", "0"]);
    nodes.until_recovered();
    assert_eq!(nodes.counted(10, 0, "key"), 10);
    assert_eq!(node.charge(&[(0, "new", 1)]).limits[0].source, Source::Store);
}

#[test]
fn a_server_that_hangs_executes_late_what_it_was_sent_and_nothing_twice() {
    let Some(nodes) = Nodes::with(1, &[(fixed(1_000_000), EXACT)], BUDGET) else { return };
    let node = &nodes.nodes[0];
    let mut admitted = nodes.admitted(10, "key");
    nodes.server.pause();
    while !node.observed().degraded {
        admitted += nodes.admitted(1, "key");
    }
    assert!(node.errors(Trouble::TimedOut) >= 5);
    admitted += nodes.admitted(1_000, "key");
    nodes.server.resume();
    nodes.until_recovered();
    admitted += nodes.admitted(10, "key");
    let counted = nodes.counted(1_000_000, 0, "key");
    let lost = node.observed().unreconciled;
    assert!(counted <= admitted as u64, "{counted} of {admitted}");
    assert!(counted + lost >= admitted as u64, "{counted} and {lost} of {admitted}");
}

#[test]
fn each_limit_does_as_it_says_and_goes_back_to_the_server() {
    let sharing = |on_store_failure| Sharing { on_store_failure, ..EXACT };
    let limits = [
        (fixed(4), sharing(OnStoreFailure::Share)),
        (fixed(4), sharing(OnStoreFailure::Allow)),
        (fixed(4), sharing(OnStoreFailure::Refuse)),
    ];
    let Some(mut nodes) = Nodes::with(1, &limits, BUDGET) else { return };
    nodes.server.kill();
    nodes.until_degraded();
    let admitted = |nodes: &Nodes, place| {
        (0..9).filter(|_| nodes.nodes[0].admits(&[(place, "key", 1)])).count()
    };
    assert_eq!([0, 1, 2].map(|place| admitted(&nodes, place)), [4, 9, 0]);
    nodes.server.revive();
    nodes.until_recovered();
    assert_eq!([0, 1, 2].map(|place| admitted(&nodes, place)), [0, 0, 4]);
}
