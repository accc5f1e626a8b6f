//! The network between a node and the server fails, and another node looks on.

use std::time::Duration;

use tollgate_store::{Source, Trouble};

use crate::nodes::{EXACT, Node, Nodes, fixed};
use crate::servers::{Fault, Proxy, until};

/// Long for a server on the same machine, short for a test in which it does not answer.
const BUDGET: Duration = Duration::from_millis(200);

/// A server with a witness beside it, and a node that reaches it through a proxy.
struct Apart {
    witness: Nodes,
    proxy: Proxy,
    node: Node,
}

impl Apart {
    fn start(limit: u64) -> Option<Apart> {
        let limits = [(fixed(limit), EXACT)];
        let witness = Nodes::start(1, &limits)?;
        let proxy = Proxy::start(witness.server.address());
        let node = Node::start(&proxy.url(), &limits, BUDGET);
        until("both know of each other", || {
            [&witness.nodes[0], &node].iter().all(|node| node.observed().live_nodes == 2)
        });
        Some(Apart { witness, proxy, node })
    }

    /// The network is well again. What was lost on a connection is lost with the connection.
    fn heal(&self) {
        self.proxy.set(Fault::Reset);
        until("the connections are gone", || self.proxy.seen().open == 0);
        self.proxy.set(Fault::None);
    }

    /// Asks for a unit as often as it takes until the breaker opens; says how many were admitted.
    fn until_degraded(&self) -> u64 {
        let mut admitted = 0;
        until("the breaker opens", || {
            admitted += u64::from(self.node.admits(&[(0, "key", 1)]));
            self.node.observed().degraded
        });
        admitted
    }

    fn until_recovered(&self) {
        until("the breaker closes and all is charged", || {
            let observed = self.node.observed();
            !observed.degraded && observed.unreconciled_keys == 0
        });
    }
}

#[test]
fn red_13_a_lost_reply_is_charged_once() {
    let Some(apart) = Apart::start(10) else { return };
    // The server knows the script.
    assert!(apart.node.admits(&[(0, "other", 1)]));
    apart.proxy.set(Fault::DropReplies);
    let said = apart.node.charge(&[(0, "key", 1)]);
    assert!(said.decision.admitted);
    assert_eq!(said.limits[0].source, Source::Failure);
    apart.heal();
    until("it is asked again", || {
        apart.node.charge(&[(0, "other", 1)]).limits[0].source == Source::Store
    });
    let said = apart.node.charge(&[(0, "key", 1)]);
    assert_eq!(said.limits[0].outcome.standing.remaining, 8);
    assert_eq!(apart.witness.counted(10, 0, "key"), 2);
}

#[test]
fn red_19_a_black_hole_costs_no_connection_more_and_a_few_calls_their_budget() {
    let Some(apart) = Apart::start(1_000_000) else { return };
    let before = apart.proxy.seen().most_open;
    apart.proxy.set(Fault::Swallow);
    let admitted = apart.until_degraded();
    let waited = apart.node.errors(Trouble::TimedOut) + apart.node.errors(Trouble::Disconnected);
    // Its heartbeats wait as well.
    assert!((5..15).contains(&waited), "{waited}");
    let rest = (0..10_000).filter(|_| apart.node.admits(&[(0, "key", 1)])).count();
    assert_eq!(rest, 10_000);
    assert!(apart.proxy.seen().most_open <= before.max(4), "{:?}", apart.proxy.seen());
    apart.heal();
    apart.until_recovered();
    // What was swallowed was never executed, and nobody could know; the rest was told.
    let counted = apart.witness.counted(1_000_000, 0, "key");
    let observed = apart.node.observed();
    assert!(counted <= admitted + 10_000, "{counted}");
    assert!(counted + observed.unreconciled + waited >= admitted + 10_000, "{counted}");
}

#[test]
fn a_network_that_is_too_slow_is_done_without() {
    let Some(apart) = Apart::start(1_000_000) else { return };
    apart.proxy.set(Fault::Delay(Duration::from_millis(300)));
    let mut admitted = apart.until_degraded();
    for _ in 0..1_000 {
        admitted += u64::from(apart.node.admits(&[(0, "key", 1)]));
    }
    apart.proxy.set(Fault::None);
    apart.until_recovered();
    let counted = apart.witness.counted(1_000_000, 0, "key");
    assert!(counted <= admitted, "{counted} of {admitted}: something was charged twice");
    let lost = apart.node.observed().unreconciled + apart.node.errors(Trouble::TimedOut);
    assert!(counted + lost >= admitted, "{counted} and {lost} of {admitted}");
}

#[test]
fn a_server_that_cannot_be_reached_hears_of_all_of_it_afterwards() {
    let Some(apart) = Apart::start(100) else { return };
    for _ in 0..20 {
        assert!(apart.node.admits(&[(0, "key", 1)]));
    }
    apart.proxy.set(Fault::Refuse);
    until("the breaker opens", || {
        apart.node.charge(&[(0, "other", 1)]);
        apart.node.observed().degraded
    });
    // The other node goes on with the server, and this one with half of what was left.
    for _ in 0..30 {
        assert!(apart.witness.nodes[0].admits(&[(0, "key", 1)]));
    }
    let meanwhile = (0..100).filter(|_| apart.node.admits(&[(0, "key", 1)])).count();
    assert_eq!(meanwhile, 40);
    apart.proxy.set(Fault::None);
    apart.until_recovered();
    assert_eq!(apart.witness.counted(100, 0, "key"), 90);
    let rest = (0..100).filter(|_| apart.node.admits(&[(0, "key", 1)])).count();
    assert_eq!(rest, 10);
}
