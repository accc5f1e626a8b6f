//! One server, and a proxy on the way to it.

use std::time::Duration;

use tollgate_store::{RedisStore, ServersObserved, StoreError, Trouble};

use super::load::{Load, Tally};
use super::node::{Node, is_admitted, runtime};
use super::servers::{Fault, Program, Proxy, Server, until};

/// More than any test takes.
const PLENTY: u64 = 1_000_000;

/// A server, the way to it, and a node.
struct World {
    server: Server,
    proxy: Proxy,
    node: Node<RedisStore>,
}

impl World {
    fn start(program: &Program, allowed: u64) -> World {
        let server = Server::start(program);
        let proxy = Proxy::start(server.address());
        let node = Node::start(&proxy.url(), allowed);
        World { server, proxy, node }
    }

    fn observed(&self) -> ServersObserved {
        self.node.store.observed().servers
    }

    /// Requests go on while `happens` does and for a while after it; then all is well again.
    #[track_caller]
    fn through(&self, what: &str, happens: impl FnOnce(&Load)) -> Tally {
        let before = self.node.counted();
        let load = Load::start(&self.node);
        happens(&load);
        self.node.ready();
        let tally = load.stop(what);
        until("nothing is on its way", || self.observed().in_flight == 0);
        let after = self.node.counted();
        tally.assert_charged_once(before, after);
        // One script charges all three or none, whatever becomes of its answer.
        assert_eq!(after, [after[0]; 3]);
        tally
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.server.assert_every_key_expires();
            assert_eq!(
                self.node.store.observed().differing,
                0,
                "scripts decide as the engine does"
            );
        }
    }
}

#[test]
fn the_network_fails_in_every_way() {
    let Some(program) = Program::redis() else { return };
    let world = World::start(&program, PLENTY);
    let set = |fault| world.proxy.set(fault);

    let tally = world.through("a black hole", |_| {
        let silent = world.observed().silent;
        set(Fault::Swallow);
        until("the silence is noticed", || world.observed().silent >= silent + 2);
        set(Fault::None);
    });
    assert!(tally.count(Trouble::TimedOut) > 0);

    let tally = world.through("lost answers (red-13)", |_| {
        let late = world.observed().disconnected;
        set(Fault::DropReplies);
        until("the silence is noticed", || world.observed().disconnected > late);
        set(Fault::None);
    });
    assert!(tally.count(Trouble::TimedOut) > 0);

    let tally = world.through("200 ms each way", |_| {
        let late = world.observed().late_answers;
        set(Fault::Delay(Duration::from_millis(200)));
        until("answers come late", || world.observed().late_answers > late + 50);
        set(Fault::None);
    });
    assert!(tally.count(Trouble::TimedOut) > 0);

    let tally = world.through("refused", |_| {
        let tried = world.observed().connect_failures;
        set(Fault::Refuse);
        until("it was tried again", || world.observed().connect_failures > tried + 6);
        set(Fault::None);
    });
    assert!(tally.count(Trouble::Disconnected) > 0);

    world.through("reset", |_| {
        set(Fault::Reset);
        until("the loss is noticed", || world.observed().connections == 0);
        set(Fault::None);
    });
    world.through("cut in the midst of a call", |_| {
        let lost = world.observed().disconnected;
        set(Fault::CutAfter(1000));
        until("connections are lost", || world.observed().disconnected > lost + 2);
        set(Fault::None);
    });
}

#[test]
fn the_server_stands_still_for_five_seconds() {
    let Some(program) = Program::redis() else { return };
    let world = World::start(&program, PLENTY);
    let tally = world.through("SIGSTOP for 5 s", |_| {
        world.server.pause();
        std::thread::sleep(Duration::from_secs(5));
        world.server.resume();
    });
    assert!(tally.count(Trouble::TimedOut) > 0);
    assert!(world.observed().silent >= 2);
}

#[test]
fn scripts_are_forgotten_and_memory_is_full() {
    for program in Program::all() {
        let mut world = World::start(&program, PLENTY);
        // No request may fail: a busy machine is no reason to.
        world.node = Node::within(&world.proxy.url(), Duration::from_secs(20), PLENTY);
        let tally = world.through("SCRIPT FLUSH (red-11)", |load| {
            for _ in 0..5 {
                let _: String = world.server.run(&["SCRIPT", "FLUSH"]);
                load.wait(20);
            }
        });
        assert_eq!(tally.troubles.len(), 0, "{:?}", tally.troubles);
        assert!(world.observed().scripts_sent >= 5);

        let tally = world.through("no memory left (red-17)", |_| {
            let _: String = world.server.run(&["CONFIG", "SET", "maxmemory", "1"]);
            let answer = runtime().block_on(world.node.request());
            assert_eq!(answer.expect_err("no room"), StoreError::Unavailable(Trouble::Full));
            let _: String = world.server.run(&["CONFIG", "SET", "maxmemory", "0"]);
        });
        assert_eq!(tally.unknown, 0, "every call was answered");
    }
}

#[test]
fn a_server_is_killed_and_comes_back_with_nothing() {
    let Some(program) = Program::redis() else { return };
    let mut world = World::start(&program, PLENTY);
    let load = Load::start(&world.node);
    let observed = world.node.store.clone();
    world.server.kill();
    until("the loss is noticed", || observed.observed().servers.connections == 0);
    until("requests fail", || runtime().block_on(world.node.request()).is_err());
    world.server.revive();
    world.node.ready();
    let tally = load.stop("kill -9");
    assert!(tally.count(Trouble::Disconnected) > 0);
    // What it knew is gone: it was told to keep nothing. What it counts since is right.
    let after = world.node.counted();
    assert_eq!(after, [after[0]; 3]);
    assert!((200..=tally.admitted + tally.unknown).contains(&after[0]), "{after:?}");
}

#[test]
fn nothing_is_admitted_beyond_the_limit_while_connections_break() {
    let Some(program) = Program::redis() else { return };
    let world = World::start(&program, 300);
    let load = Load::start(&world.node);
    for _ in 0..5 {
        world.proxy.set(Fault::Reset);
        until("the loss is noticed", || world.observed().connections == 0);
        world.proxy.set(Fault::None);
        load.wait(30);
    }
    let tally = load.stop("a limit of 300, and five resets");
    until("nothing is on its way", || world.observed().in_flight == 0);
    assert!(tally.admitted <= 300 && tally.refused > 0);
    assert!(tally.admitted + tally.unknown >= 300, "what was charged was admitted or lost");
    assert_eq!(world.node.counted(), [300; 3]);
}

#[test]
fn a_replica_does_not_count() {
    let Some(program) = Program::redis() else { return };
    let world = World::start(&program, PLENTY);
    let other = Server::start(&program);
    // The server becomes a replica, and its address leads to another: red-15.
    let load = Load::start(&world.node);
    world.proxy.lead_to(other.address());
    let port = other.port().to_string();
    let _: String = world.server.run(&["REPLICAOF", "127.0.0.1", &port]);
    let tally = load.stop("a demoted primary (red-15)");
    let refused = tally.count(Trouble::ReadOnly);
    assert!(refused <= 4 + 2, "each of four callers may meet one: {}", tally.summary());
    let after = world.node.counted();
    assert_eq!(after, [after[0]; 3]);
    assert!(is_admitted(&runtime().block_on(world.node.request()).expect("a decision")));
    other.assert_every_key_expires();
}
