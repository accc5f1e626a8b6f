//! Limits of time and size on the client's side.

use crate::harness::{Connection, Gate, Upstream, Watch, request, until};
use crate::policies::open_with;

#[test]
fn headers_are_bounded() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open_with(
        upstream.address,
        "gateway: { max_header_bytes: 8192, max_headers: 10 }",
    ));
    let long = "a".repeat(8_192);
    let reply = Connection::open(gate.address).ask("GET", "/", &[("x-long", &long)]);
    assert_eq!(reply.status, 431);
    assert_eq!(reply.header("content-type").as_deref(), Some("application/problem+json"));
    let many: Vec<(String, String)> = (0..20).map(|n| (format!("x-{n}"), String::new())).collect();
    let many: Vec<(&str, &str)> =
        many.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let reply = Connection::open(gate.address).ask("GET", "/", &many);
    assert_eq!(reply.status, 431);
    assert_eq!(reply.header("content-type").as_deref(), Some("application/problem+json"));
    // Also after an answer on the same connection.
    let mut connection = Connection::open(gate.address);
    assert_eq!(connection.get("/status/400").status, 400);
    assert_eq!(connection.ask("GET", "/", &many).status, 431);
    // More than any buffer: refused before its end.
    let huge = "a".repeat(200_000);
    let mut connection = Connection::open(gate.address);
    let _ = connection.try_send(request("GET", "/", &[("x-huge", &huge)]));
    let reply = connection.reply();
    assert_eq!(reply.status, 431);
    assert_eq!(reply.header("content-type").as_deref(), Some("application/problem+json"));
    assert_eq!(upstream.seen().len(), 1);
}

#[test]
fn a_header_that_takes_too_long_is_408() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open_with(upstream.address, "gateway: { header_timeout: 600ms }"));
    let mut connection = Connection::open(gate.address);
    let begun = Watch::start();
    connection.send("GET / HTTP/1.1\r\nhost: a\r\n");
    // Dripping does not lengthen it.
    while begun.elapsed() < std::time::Duration::from_millis(400) {
        let _ = connection.try_send("x: y\r\n");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let reply = connection.reply();
    assert_eq!(reply.status, 408);
    assert_eq!(reply.header("content-type").as_deref(), Some("application/problem+json"));
    assert!(connection.is_closed());
    // One that says nothing is closed without a word.
    assert!(Connection::open(gate.address).is_closed());
    // Also after a request on the same connection.
    let mut connection = Connection::open(gate.address);
    assert_eq!(connection.get("/").status, 200);
    connection.send("GET / HT");
    assert_eq!(connection.reply().status, 408);
}

#[test]
fn an_idle_connection_is_closed_and_a_busy_one_is_not() {
    let upstream = Upstream::start();
    let timeouts = "gateway: { idle_timeout: 200ms, header_timeout: 600ms }";
    let gate = Gate::start(&open_with(upstream.address, timeouts));
    let mut busy = Connection::open(gate.address);
    busy.send(request("GET", "/hold", &[]));
    let mut idle = Connection::open(gate.address);
    assert_eq!(idle.get("/").status, 200);
    assert!(idle.is_closed());
    assert_eq!(upstream.begun(), 2);
    upstream.let_go();
    assert_eq!(busy.reply().status, 200, "an answer may take longer than a silence");
}

#[test]
fn a_client_that_takes_nothing_is_let_go() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open_with(upstream.address, "gateway: { body_timeout: 200ms }"));
    let mut connection = Connection::open(gate.address);
    connection.send(request("GET", "/bytes/100000000", &[]));
    assert_eq!(connection.head().status, 200);
    until("the gateway gave up", || gate.handle.connections() == 0);
}

#[test]
fn connections_are_bounded() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open_with(upstream.address, "gateway: { max_connections: 2 }"));
    let mut first = Connection::open(gate.address);
    let mut second = Connection::open(gate.address);
    assert_eq!((first.get("/").status, second.get("/").status), (200, 200));
    let mut third = Connection::open(gate.address);
    let refused = third.reply();
    assert_eq!((refused.status, refused.header("retry-after").as_deref()), (503, Some("1")));
    assert!(third.is_closed());
    assert_eq!(gate.metric("tollgate_connections_rejected_total"), 1.0);
    drop(first);
    until("a place is free", || gate.handle.connections() == 1);
    assert_eq!(Connection::open(gate.address).get("/").status, 200);
}

/// A reset once overtook the 503 of those who had sent something.
#[test]
fn a_connection_without_a_place_is_closed_softly() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open_with(upstream.address, "gateway: { max_connections: 1 }"));
    let mut first = Connection::open(gate.address);
    assert_eq!(first.get("/").status, 200);
    let body = vec![b'x'; 300_000];
    for _ in 0..20 {
        let mut other = Connection::open(gate.address);
        other.send(request("POST", "/", &[("content-length", "300000")]));
        other.send(&body);
        assert_eq!(other.reply().status, 503);
        assert!(other.is_closed());
    }
    assert_eq!(gate.metric("tollgate_connections_rejected_total"), 20.0);
    assert_eq!(gate.metric("tollgate_answers_total{status=\"503\"}"), 20.0);
    assert_eq!(upstream.begun(), 1);
}

/// The rest of a body once began a header's time, and the connection got a 408 to no request.
#[test]
fn the_rest_of_an_upload_whose_answer_went_out_early_is_no_slow_header() {
    let upstream = crate::harness::Raw::start(|stream, _| {
        if crate::harness::Raw::head(stream).is_some() {
            crate::harness::Raw::answer(stream, "enough");
            let _ = std::io::copy(stream, &mut std::io::sink());
        }
    });
    let timeouts = "gateway: { header_timeout: 150ms, idle_timeout: 600ms }";
    let gate = Gate::start(&open_with(upstream.address, timeouts));
    let mut connection = Connection::open(gate.address);
    connection.send(request("POST", "/", &[("content-length", "4")]));
    connection.send("ab");
    assert_eq!(connection.reply().text(), "enough");
    connection.send("cd");
    let mut byte = [0];
    assert_eq!(connection.read(&mut byte), 0, "it is closed as an idle one, without a word");
}
