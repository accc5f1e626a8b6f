//! How many connections a server may have, and what becomes of a request for which there is none.

use crate::harness::{Connection, Gate, Setup, Speech, Upstream, request, until};
use crate::policies::{of_pool, of_server, pool};

fn held(gate: &Gate, path: &str) -> Connection {
    let mut connection = Connection::open(gate.address);
    connection.send(request("GET", path, &[]));
    connection
}

#[test]
fn a_request_waits_for_a_connection_and_is_served() {
    let upstream = Upstream::start();
    let gate = Gate::start(&pool(&[&upstream.address], ", max_connections: 2"));
    let mut waiting: Vec<_> = (0..6).map(|_| held(&gate, "/hold")).collect();
    until("two are on their way", || upstream.begun() == 2);
    until("four wait", || gate.metric(&of_pool("requests_waiting", "")) == 4.0);
    upstream.let_go();
    for connection in &mut waiting {
        assert_eq!(connection.reply().status, 200);
    }
    assert!(upstream.connections() <= 2, "{} connections", upstream.connections());
    assert_eq!(gate.metric(&of_pool("requests_waiting", "")), 0.0);
    assert_eq!(gate.metric(&of_pool("full_total", "")), 0.0);
}

#[test]
fn one_that_waits_in_vain_is_told_so() {
    let upstream = Upstream::start();
    let yaml = pool(&[&upstream.address], ", max_connections: 1, connect_timeout: 100ms");
    let gate = Gate::start(&yaml);
    let mut first = held(&gate, "/hold");
    until("it is on its way", || upstream.begun() == 1);
    let full = Connection::open(gate.address).get("/");
    assert_eq!((full.status, full.header("retry-after").as_deref()), (503, Some("1")));
    assert!(full.text().contains("as many connections"), "{}", full.text());
    assert_eq!(gate.metric(&of_pool("full_total", "")), 1.0);
    upstream.let_go();
    assert_eq!(first.reply().status, 200);
    assert_eq!(Connection::open(gate.address).get("/").status, 200);
    assert_eq!(upstream.connections(), 1);
}

#[test]
fn one_too_many_in_the_line_is_told_so_at_once() {
    let upstream = Upstream::start();
    let sections = "gateway: { max_waiting: 1 }";
    let gate = Gate::start(&crate::policies::pool_with(
        &[&upstream.address],
        ", max_connections: 1",
        sections,
    ));
    let mut first = held(&gate, "/hold");
    until("it is on its way", || upstream.begun() == 1);
    let mut second = held(&gate, "/second");
    until("one waits", || gate.metric(&of_pool("requests_waiting", "")) == 1.0);
    assert_eq!(Connection::open(gate.address).get("/").status, 503);
    upstream.let_go();
    assert_eq!((first.reply().status, second.reply().status), (200, 200));
}

#[test]
fn a_client_that_leaves_the_line_holds_nothing() {
    let upstream = Upstream::start();
    let gate = Gate::start(&pool(&[&upstream.address], ", max_connections: 1"));
    let mut first = held(&gate, "/hold");
    until("it is on its way", || upstream.begun() == 1);
    let gone = held(&gate, "/gone");
    until("one waits", || gate.metric(&of_pool("requests_waiting", "")) == 1.0);
    drop(gone);
    until("it is out of the line", || gate.metric(&of_pool("requests_waiting", "")) == 0.0);
    let mut last = held(&gate, "/last");
    until("another waits", || gate.metric(&of_pool("requests_waiting", "")) == 1.0);
    upstream.let_go();
    assert_eq!((first.reply().status, last.reply().status), (200, 200));
    assert_eq!(upstream.begun_for("/gone"), 0);
}

#[test]
fn the_next_server_has_room() {
    let (one, other) = (Upstream::start(), Upstream::start());
    let gate = Gate::start(&pool(&[&one.address, &other.address], ", max_connections: 1"));
    let mut first = held(&gate, "/hold");
    let mut second = held(&gate, "/hold");
    until("each has one", || (one.begun(), other.begun()) == (1, 1));
    one.let_go();
    other.let_go();
    assert_eq!((first.reply().status, second.reply().status), (200, 200));
}

#[test]
fn threads_share_what_a_server_allows() {
    let upstream = Upstream::start();
    let setup = Setup { workers: 4, ..Setup::default() };
    let gate = Gate::with(&pool(&[&upstream.address], ", max_connections: 1"), setup);
    // The system spreads them over the threads.
    let mut clients: Vec<_> = (0..16).map(|_| Connection::open(gate.address)).collect();
    for _ in 0..4 {
        for client in &mut clients {
            assert_eq!(client.get("/").status, 200);
        }
    }
    assert_eq!(upstream.connections(), 1, "one connection, whichever thread asks");
}

#[test]
fn http2_connections_are_bounded_and_their_streams_are_not() {
    let upstream = Upstream::speaking(Speech { http2: true, ..Speech::default() });
    let setup = Setup { workers: 4, ..Setup::default() };
    let gate = Gate::with(&pool(&[&upstream.address], ", http2: true, max_connections: 1"), setup);
    let mut waiting: Vec<_> = (0..16).map(|_| held(&gate, "/hold")).collect();
    until("all are on their way", || upstream.begun() == 16);
    assert_eq!(upstream.connections(), 1);
    assert_eq!(gate.metric(&of_server("connections", upstream.address, "")), 1.0);
    upstream.let_go();
    for connection in &mut waiting {
        assert_eq!(connection.reply().status, 200);
    }
}

#[test]
fn a_kept_connection_is_closed_when_it_was_idle_for_long() {
    let upstream = Upstream::start();
    let gate = Gate::start(&pool(&[&upstream.address], ", idle_timeout: 100ms"));
    assert_eq!(Connection::open(gate.address).get("/").status, 200);
    let open = of_server("connections", upstream.address, "");
    assert_eq!(gate.metric(&open), 1.0);
    until("it is closed", || gate.metric(&open) == 0.0);
}
