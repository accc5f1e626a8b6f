//! What networks and dying servers do, through a proxy of our own.

use std::sync::Arc;
use std::time::Duration;

use super::calls::{
    Load, add, add_soon, add_surely, block_on, connected, counted, long, options, ready,
};
use super::harness::{Fault, Program, Proxy, Server, until};
use crate::Trouble;
use crate::redis::servers::{Deadline, Servers};

/// A server behind a proxy, and connections to it.
fn behind_proxy() -> Option<(Server, Proxy, Arc<Servers>)> {
    let server = Server::start(&Program::redis()?);
    let proxy = Proxy::start(server.address());
    let servers = Arc::new(connected(&options(&proxy.url())));
    until("both connections are there", || servers.observed().connections == 2);
    // The script is known from here on.
    add_surely(&servers, "first");
    Some((server, proxy, servers))
}

/// Calls go on while something happens and for a while after it; then all is well again.
fn through(
    what: &str,
    server: &Server,
    servers: &Arc<Servers>,
    happens: impl FnOnce(),
) -> super::calls::Tally {
    let load = Load::start(servers, 4, &["k"]);
    until("calls are answered", || counted(server, "k") > 20);
    happens();
    ready(servers);
    let before = counted(server, "k");
    until("calls are answered again", || counted(server, "k") > before + 100);
    let tally = load.stop(what);
    until("nothing waits", || servers.observed().in_flight == 0);
    tally.assert_within_budget();
    tally.assert_charged_once("k", counted(server, "k"));
    server.assert_every_key_expires();
    tally
}

#[test]
fn red_13_a_call_whose_answer_is_lost_is_not_sent_again() {
    let Some((server, proxy, servers)) = behind_proxy() else { return };
    proxy.set(Fault::DropReplies);
    let sent = proxy.seen().count("EVALSHA");
    assert_eq!(add_soon(&servers, "k"), Err(Trouble::TimedOut));
    until("it was executed", || counted(&server, "k") == 1);
    // One lost answer is enough for the connection to be looked at, and given up.
    until("the silence is noticed", || servers.observed().silent == 1);
    proxy.set(Fault::None);
    ready(&servers);
    assert_eq!(add_surely(&servers, "k"), 2);
    assert_eq!(proxy.seen().count("EVALSHA"), sent + 2);
    assert_eq!(counted(&server, "k"), 2);
}

#[test]
fn a_black_hole_is_noticed_and_its_connections_are_replaced() {
    let Some((server, proxy, servers)) = behind_proxy() else { return };
    let tally = through("black hole", &server, &servers, || {
        proxy.set(Fault::Swallow);
        until("the silence is noticed", || servers.observed().silent >= 2);
        proxy.set(Fault::None);
    });
    assert!(tally.troubles[&Trouble::TimedOut] >= 3, "{tally:?}");
    assert!(servers.observed().silent >= 2);
}

#[test]
fn a_server_that_stands_still_costs_nobody_more_than_his_budget() {
    let Some((server, _proxy, servers)) = behind_proxy() else { return };
    let tally = through("SIGSTOP", &server, &servers, || {
        server.pause();
        until("the silence is noticed", || servers.observed().silent >= 2);
        until("it does not let us in", || servers.observed().connect_failures >= 1);
        server.resume();
    });
    assert!(tally.troubles.contains_key(&Trouble::TimedOut), "{tally:?}");
    assert!(tally.troubles.contains_key(&Trouble::Disconnected), "{tally:?}");
}

#[test]
fn a_slow_way_is_slow_and_not_broken() {
    let Some((server, proxy, servers)) = behind_proxy() else { return };
    let connected = servers.observed().connected;
    let load = Load::start(&servers, 4, &["k"]);
    until("calls are answered", || counted(&server, "k") > 20);
    proxy.set(Fault::Delay(Duration::from_millis(200)));
    until("answers come late", || servers.observed().late_answers > 100);
    // Whoever has the time gets his answer.
    block_on(add(&servers, Deadline::within(Duration::from_secs(10)), "slow")).expect("an answer");
    proxy.set(Fault::None);
    let tally = load.stop("200 ms each way");
    until("nothing waits", || servers.observed().in_flight == 0);
    tally.assert_within_budget();
    // Every call arrives in the end, and once.
    let called = tally.answered["k"] + tally.unknown["k"];
    until("all have arrived", || counted(&server, "k") == called);
    assert!(tally.troubles[&Trouble::TimedOut] > 0);
    assert_eq!(servers.observed().connected, connected, "a slow connection is kept");
}

#[test]
fn refused_connections_are_tried_again_without_a_storm() {
    let Some((server, proxy, servers)) = behind_proxy() else { return };
    let before = servers.observed();
    let tally = through("refused for 3 s", &server, &servers, || {
        proxy.set(Fault::Refuse);
        std::thread::sleep(Duration::from_secs(3));
        proxy.set(Fault::None);
    });
    assert!(tally.troubles[&Trouble::Disconnected] > 0);
    let tried = servers.observed().connect_failures - before.connect_failures;
    // Two connections whose waits double from 25 ms.
    assert!((2..=24).contains(&tried), "{tried} attempts in 3 s");
}

#[test]
fn reset_and_cut_connections_are_replaced() {
    let Some((server, proxy, servers)) = behind_proxy() else { return };
    through("reset", &server, &servers, || {
        let before = servers.observed().disconnected;
        proxy.set(Fault::Reset);
        until("the loss is noticed", || servers.observed().disconnected >= before + 2);
        proxy.set(Fault::None);
    });
    let Some((server, proxy, servers)) = behind_proxy() else { return };
    through("cut after 300 bytes", &server, &servers, || {
        let before = servers.observed().disconnected;
        proxy.set(Fault::CutAfter(300));
        until("connections are lost", || servers.observed().disconnected >= before + 4);
        proxy.set(Fault::None);
    });
}

#[test]
fn kill_and_restart_under_load() {
    let Some(program) = Program::redis() else { return };
    let mut server = Server::start(&program);
    let servers = Arc::new(connected(&options(&server.url())));
    let load = Load::start(&servers, 4, &["k"]);
    until("calls are answered", || counted(&server, "k") > 20);
    server.kill();
    until("the loss is noticed", || servers.observed().connections == 0);
    server.revive();
    ready(&servers);
    until("calls are answered again", || counted(&server, "k") > 100);
    let tally = load.stop("kill -9");
    tally.assert_within_budget();
    assert!(tally.troubles[&Trouble::Disconnected] > 0);
    server.assert_every_key_expires();
}

#[test]
fn red_17_a_full_store_is_told_apart_and_is_used_again_when_there_is_room() {
    for program in Program::all() {
        let server = Server::start(&program);
        let servers = connected(&options(&server.url()));
        add_surely(&servers, "k");
        let _: String = server.run(&["CONFIG", "SET", "maxmemory", "1"]);
        assert_eq!(block_on(add(&servers, long(), "k")), Err(Trouble::Full));
        assert_eq!(counted(&server, "k"), 1);
        let _: String = server.run(&["CONFIG", "SET", "maxmemory", "0"]);
        assert_eq!(add_surely(&servers, "k"), 2);
    }
}

#[test]
fn red_15_a_demoted_primary_loses_its_connections_and_the_new_one_is_asked() {
    let Some(program) = Program::redis() else { return };
    let (old, new) = (Server::start(&program), Server::start(&program));
    let proxy = Proxy::start(old.address());
    let mut four = options(&proxy.url());
    four.connections = 4;
    let servers = connected(&four);
    until("all connections are there", || servers.observed().connections == 4);
    add_surely(&servers, "k");

    proxy.lead_to(new.address());
    let port = new.port().to_string();
    let _: String = old.run(&["REPLICAOF", "127.0.0.1", &port]);
    let answers: Vec<_> = (0..20).map(|_| block_on(add(&servers, long(), "k"))).collect();
    let refused = answers.iter().filter(|answer| **answer == Err(Trouble::ReadOnly)).count();
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 20 - refused, "{answers:?}");
    assert!((1..=4).contains(&refused), "{refused} calls were refused");
    // The new primary decides the rest; what the old one counted is gone with its data.
    assert_eq!(counted(&new, "k"), i64::try_from(20 - refused).expect("a few"));
}

#[test]
fn a_replica_is_not_asked() {
    let Some(program) = Program::redis() else { return };
    let primary = Server::start(&program);
    let replica =
        Server::with(&program, &["--replicaof", &format!("127.0.0.1 {}", primary.port())]);
    let servers = Servers::start(&options(&replica.url())).expect("options");
    until("it was tried", || servers.observed().connect_failures > 0);
    assert_eq!(add_soon(&servers, "k"), Err(Trouble::ReadOnly));
    // It is promoted: from then on it is.
    let _: String = replica.run(&["REPLICAOF", "NO", "ONE"]);
    ready(&servers);
    assert_eq!(add_surely(&servers, "k"), 1);
}

#[test]
fn red_19_a_hung_store_opens_no_more_connections_and_fills_no_memory() {
    let Some(program) = Program::redis() else { return };
    let server = Server::start(&program);
    let proxy = Proxy::start(server.address());
    let mut few = options(&proxy.url());
    (few.connections, few.in_flight) = (3, 50);
    let servers = Arc::new(connected(&few));
    until("all connections are there", || servers.observed().connections == 3);
    add_surely(&servers, "k");
    proxy.set(Fault::Swallow);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let mut crowded = 0;
    for _ in 0..20 {
        let answers = runtime.block_on(async {
            let calls: Vec<_> = (0..200)
                .map(|_| {
                    let servers = Arc::clone(&servers);
                    tokio::spawn(async move { add(&servers, servers.deadline(), "k").await })
                })
                .collect();
            let mut answers = Vec::new();
            for call in calls {
                answers.push(call.await.expect("no call panics"));
            }
            answers
        });
        assert!(answers.iter().all(Result::is_err));
        crowded += answers.iter().filter(|answer| **answer == Err(Trouble::Crowded)).count();
        assert!(servers.observed().in_flight <= 50);
        assert!(servers.observed().connections <= 3);
    }
    assert!(crowded >= 150, "{crowded}");
    assert!(proxy.seen().most_open <= 3 + 3, "{:?}", proxy.seen());
    proxy.set(Fault::None);
    until("the hung calls are given up", || servers.observed().in_flight == 0);
    ready(&servers);
    add_surely(&servers, "k");
}
