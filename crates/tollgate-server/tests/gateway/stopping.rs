//! The end of a gateway.

use crate::harness::{Connection, Gate, PATIENCE, Upstream, Watch, request, until};
use crate::policies::{open, open_with};

#[test]
fn requests_that_have_begun_are_finished() {
    let upstream = Upstream::start();
    let mut gate = Gate::start(&open(upstream.address));
    let mut idle = Connection::open(gate.address);
    assert_eq!(idle.get("/").status, 200);
    let mut busy = Connection::open(gate.address);
    busy.send(request("GET", "/hold", &[]));
    until("it is on its way", || upstream.begun() == 2);
    gate.stop();
    assert!(idle.is_closed(), "an idle connection ends at once");
    until("nobody listens", || std::net::TcpStream::connect(gate.address).is_err());
    assert!(gate.is_running(), "one request is still on its way");
    upstream.let_go();
    let reply = busy.reply();
    assert_eq!((reply.status, reply.header("connection").as_deref()), (200, Some("close")));
    gate.ended();
}

#[test]
fn who_connected_in_time_is_let_say_what_he_wants() {
    let upstream = Upstream::start();
    let mut gate = Gate::start(&open(upstream.address));
    let mut silent = Connection::open(gate.address);
    let mut slow = Connection::open(gate.address);
    slow.send("GET /slow HTTP/1.1\r\nho");
    until("both are accepted", || gate.handle.connections() == 2);
    gate.stop();
    until("nobody listens", || std::net::TcpStream::connect(gate.address).is_err());
    assert!(silent.is_closed(), "who says nothing is not waited for");
    slow.send("st: test\r\n\r\n");
    let reply = slow.reply();
    assert_eq!((reply.status, reply.header("connection").as_deref()), (200, Some("close")));
    gate.ended();
}

#[test]
fn what_takes_too_long_is_broken_off() {
    let upstream = Upstream::start();
    let mut gate = Gate::start(&open_with(upstream.address, "gateway: { drain_timeout: 200ms }"));
    let mut busy = Connection::open(gate.address);
    busy.send(request("GET", "/hold", &[]));
    until("it is on its way", || upstream.begun() == 1);
    let begun = Watch::start();
    gate.stop();
    gate.ended();
    assert!(begun.elapsed() < PATIENCE);
    assert!(busy.is_closed());
}

#[test]
fn nobody_has_to_wait_for_what_is_left() {
    let upstream = Upstream::start();
    let mut gate = Gate::start(&open_with(upstream.address, "gateway: { drain_timeout: 1h }"));
    let mut busy = Connection::open(gate.address);
    busy.send(request("GET", "/hold", &[]));
    until("it is on its way", || upstream.begun() == 1);
    gate.stop();
    until("nobody listens", || std::net::TcpStream::connect(gate.address).is_err());
    assert!(gate.is_running());
    gate.handle.break_off();
    gate.ended();
    assert!(busy.is_closed());
}

#[test]
fn a_taken_port_is_an_error() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let second = std::panic::catch_unwind(|| {
        let yaml = format!("listen: {}\n{}", gate.address, open(upstream.address));
        crate::reloading::bind(&yaml)
    });
    let error = second.expect("no panic").expect("an error");
    assert!(error.contains("somebody listens on"), "{error}");
}
