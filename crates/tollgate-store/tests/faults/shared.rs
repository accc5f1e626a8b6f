//! A node that goes on by itself while the store is away, and gives it back its say when it is there again.

use std::time::Duration;

use tollgate_store::{BreakerState, OnStoreFailure, RedisStore, SharedStore, Source, Trouble};

use super::load::{Load, Tally};
use super::node::{LIMITS, Node, is_admitted, runtime};
use super::servers::{Fault, Program, Proxy, Server, until};

/// More than any test takes.
const PLENTY: u64 = 1_000_000;

/// A server, the way to it, a node, and one who looks at the server's counts by another way.
struct World {
    server: Server,
    proxy: Proxy,
    node: Node<SharedStore>,
    auditor: Node<RedisStore>,
}

impl World {
    fn start(program: &Program, allowed: u64, on_store_failure: OnStoreFailure) -> World {
        let server = Server::start(program);
        let proxy = Proxy::start(server.address());
        let node = Node::share(&proxy.url(), allowed, on_store_failure);
        let auditor = Node::start(&server.url(), allowed);
        World { server, proxy, node, auditor }
    }

    fn is_degraded(&self) -> bool {
        self.node.store.observed().degraded
    }

    fn errors(&self, trouble: Trouble) -> u64 {
        let errors = self.node.store.observed().errors;
        errors.iter().find(|(kind, _)| *kind == trouble).map_or(0, |(_, count)| *count)
    }

    /// Requests go on while `breaks` happens, while the node notices, and until the store has been told of everything after
    /// `mends`.
    #[track_caller]
    fn through(
        &mut self,
        what: &str,
        breaks: impl FnOnce(&mut World),
        mends: impl FnOnce(&mut World),
    ) -> Tally {
        assert!(!self.is_degraded());
        let before = self.auditor.counted();
        let load = Load::start(&self.node);
        breaks(self);
        until("the node goes on by itself", || self.is_degraded());
        load.wait(200);
        mends(self);
        until("the store counts again", || !self.is_degraded());
        let tally = load.stop(what);
        until("the store is told of what it missed", || {
            self.node.store.observed().unreconciled_keys == 0
        });
        let observed = self.node.store.observed();
        assert_eq!(tally.troubles.len(), 0, "a decision is never an error: {:?}", tally.troubles);
        assert_eq!(observed.breaker, BreakerState::Closed);
        let counted = self.auditor.counted();
        for ((name, before), after) in LIMITS.iter().zip(before).zip(counted) {
            assert!(after - before <= tally.admitted, "{name}: something was charged twice");
        }
        tally
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.server.assert_every_key_expires();
            assert_eq!(self.node.store.redis_observed().differing, 0);
        }
    }
}

#[test]
fn a_node_goes_on_through_every_failure_of_the_network() {
    let Some(program) = Program::redis() else { return };
    let mut world = World::start(&program, PLENTY, OnStoreFailure::Share);
    for (what, fault) in [
        ("share: a black hole", Fault::Swallow),
        ("share: lost answers (red-13)", Fault::DropReplies),
        ("share: 200 ms each way", Fault::Delay(Duration::from_millis(200))),
        ("share: refused", Fault::Refuse),
        ("share: reset", Fault::Reset),
    ] {
        let tally = world.through(
            what,
            |world| world.proxy.set(fault),
            |world| world.proxy.set(Fault::None),
        );
        assert_eq!(tally.refused, 0, "{what}: there is plenty");
    }
    assert!(world.errors(Trouble::TimedOut) > 0 && world.errors(Trouble::Disconnected) > 0);
    assert!(world.errors(Trouble::BreakerOpen) > 0, "it is left alone for a while");
}

#[test]
fn a_node_goes_on_while_the_server_stands_still_or_is_dead() {
    let Some(program) = Program::redis() else { return };
    let mut world = World::start(&program, PLENTY, OnStoreFailure::Share);
    world.through("share: SIGSTOP", |world| world.server.pause(), |world| world.server.resume());
    world.server.kill();
    let load = Load::start(&world.node);
    until("the node goes on by itself", || world.is_degraded());
    world.server.revive();
    until("the store counts again", || !world.is_degraded());
    let tally = load.stop("share: kill -9");
    assert_eq!((tally.troubles.len(), tally.refused), (0, 0));
}

#[test]
fn red_17_a_node_decides_alone_while_the_store_is_full() {
    for program in Program::all() {
        let mut world = World::start(&program, PLENTY, OnStoreFailure::Share);
        let before = world.errors(Trouble::Full);
        let tally = world.through(
            "share: no memory left",
            |world| world.server.run(&["CONFIG", "SET", "maxmemory", "1"]),
            |world| world.server.run(&["CONFIG", "SET", "maxmemory", "0"]),
        );
        let full = world.errors(Trouble::Full) - before;
        assert!((1..=50).contains(&full), "the breaker keeps most away from it: {full}");
        assert_eq!(tally.refused, 0);
    }
}

#[test]
fn red_17_no_more_passes_than_the_limit_while_the_store_is_away() {
    let Some(program) = Program::redis() else { return };
    // The node knows how the key stands and goes on from there: it is the only one, so its part is the whole.
    let mut world = World::start(&program, 200, OnStoreFailure::Share);
    let tally = world.through(
        "share: a limit of 200",
        |world| world.proxy.set(Fault::Refuse),
        |world| world.proxy.set(Fault::None),
    );
    // Beyond it are only those whose fate is unknown, and what the last answers before the break overtook: the four callers.
    let doubtful = world.errors(Trouble::Interrupted) + world.errors(Trouble::TimedOut);
    assert!(tally.admitted <= 200 + doubtful + 4, "{doubtful} in doubt: {}", tally.summary());
    assert!(tally.refused > 0);
    assert_eq!(world.auditor.counted(), [200; LIMITS.len()]);
}

#[test]
fn allow_and_refuse_do_as_they_say() {
    let Some(program) = Program::redis() else { return };
    for (on_store_failure, admits) in
        [(OnStoreFailure::Allow, true), (OnStoreFailure::Refuse, false)]
    {
        let world = World::start(&program, PLENTY, on_store_failure);
        assert!(is_admitted(&runtime().block_on(world.node.request()).expect("a decision")));
        world.proxy.set(Fault::Refuse);
        until("the node goes on by itself", || {
            let outcome = runtime().block_on(world.node.request()).expect("a decision");
            outcome.limits[0].source == Source::Failure
        });
        for _ in 0..20 {
            let outcome = runtime().block_on(world.node.request()).expect("a decision");
            assert_eq!(is_admitted(&outcome), admits);
        }
        world.proxy.set(Fault::None);
        until("the store counts again", || {
            let outcome = runtime().block_on(world.node.request()).expect("a decision");
            outcome.limits[0].source == Source::Store && is_admitted(&outcome)
        });
    }
}
