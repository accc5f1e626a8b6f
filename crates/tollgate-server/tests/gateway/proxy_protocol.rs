//! The PROXY protocol before HTTP: who is counted, and what becomes of those who do not speak it.

use std::fmt::Display;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::harness::http2::H2;
use crate::harness::tls::Authority;
use crate::harness::{Connection, Gate, Upstream, request, until};

const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";

/// A gateway that takes headers from `networks`, and has one request a minute for each address.
fn policy(upstream: impl Display, networks: &str, more: &str) -> String {
    format!(
        "{more}\nlisteners: {{ front: {{ listen: 127.0.0.1:0, proxy_protocol: {networks} }} }}\n\
         upstreams: {{ app: {{ servers: [\"{upstream}\"] }} }}\n\
         limits:\n  it: {{ key: [ip], sliding_log: {{ limit: 1, window: 1h }} }}\n\
         routes:\n- {{ match: {{ path: /** }}, limits: [it], upstream: app }}\n"
    )
}

/// The status of a request behind `header`, over a connection of its own.
fn ask(gate: &Gate, header: &[u8]) -> u16 {
    let mut connection = Connection::open(gate.address);
    connection.send([header, request("GET", "/", &[]).as_bytes()].concat());
    connection.reply().status
}

fn errors(gate: &Gate, reason: &str) -> f64 {
    gate.metric(&format!("tollgate_proxy_protocol_errors_total{{reason=\"{reason}\"}}"))
}

fn v2(command: u8, family: u8, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(body.len()).expect("a short body").to_be_bytes();
    [SIGNATURE, &[command, family], &length, body].concat()
}

#[test]
fn addr_13_the_client_is_whom_the_header_names() {
    let upstream = Upstream::start();
    let gate = Gate::start(&policy(upstream.address, "[127.0.0.1]", ""));
    let addresses = [203, 0, 113, 9, 10, 0, 0, 1, 0xd4, 0x31, 0x01, 0xbb];
    assert_eq!(ask(&gate, &v2(0x21, 0x11, &addresses)), 200);
    assert_eq!(upstream.last().header("x-forwarded-for"), Some("203.0.113.9"));
    assert_eq!(ask(&gate, b"PROXY TCP4 203.0.113.9 10.0.0.1 1 2\r\n"), 429, "it is the same one");
    assert_eq!(ask(&gate, b"PROXY TCP4 203.0.113.10 10.0.0.1 1 2\r\n"), 200);
    assert_eq!(ask(&gate, b"PROXY TCP6 2001:db8::1 ::1 1 2\r\n"), 200);
    assert_eq!(ask(&gate, b"PROXY TCP6 2001:db8::2 ::1 1 2\r\n"), 429, "it is the same network");
    // A header longer than its addresses, and one that is none of the client's.
    assert_eq!(ask(&gate, &v2(0x20, 0x11, &[7; 84])), 200);
    assert_eq!(upstream.last().header("x-forwarded-for"), Some("127.0.0.1"));
}

#[test]
fn addr_11_a_balancers_own_question_is_answered() {
    let upstream = Upstream::start();
    let gate = Gate::start(&policy(upstream.address, "[127.0.0.0/8]", ""));
    assert_eq!(ask(&gate, &v2(0x20, 0, &[])), 200);
    assert_eq!(upstream.last().header("x-forwarded-for"), Some("127.0.0.1"));
    assert_eq!(ask(&gate, b"PROXY UNKNOWN\r\n"), 429, "the socket's own address again");
}

#[test]
fn a_header_may_come_in_pieces_and_a_connection_has_one() {
    let upstream = Upstream::start();
    let gate = Gate::start(&policy(upstream.address, "[127.0.0.1]", ""));
    let mut connection = Connection::open(gate.address);
    let header = b"PROXY TCP4 203.0.113.9 10.0.0.1 54321 443\r\n";
    for piece in header.chunks(5) {
        connection.send(piece);
        std::thread::yield_now();
    }
    assert_eq!(connection.get("/").status, 200);
    assert_eq!(connection.get("/").status, 429, "all its requests are the client's");
    connection.send(header);
    connection.send("\r\n");
    assert_eq!(connection.reply().status, 400, "what follows the first is HTTP");
}

#[test]
fn a_header_may_be_as_long_as_the_protocol_lets_it() {
    let upstream = Upstream::start();
    let gate = Gate::start(&policy(upstream.address, "[127.0.0.1]", ""));
    let mut body = vec![0; 65_535];
    body[..4].copy_from_slice(&[198, 51, 100, 7]);
    assert_eq!(ask(&gate, &v2(0x21, 0x11, &body)), 200);
    assert_eq!(upstream.last().header("x-forwarded-for"), Some("198.51.100.7"));
}

#[test]
fn the_named_client_is_the_peer_of_the_rules_for_addresses() {
    let upstream = Upstream::start();
    let more = "client_address: { trusted_proxies: [10.0.0.0/8] }";
    let gate = Gate::start(&policy(upstream.address, "[127.0.0.1]", more));
    let ask = |source: &str, forwarded: &str| {
        let mut connection = Connection::open(gate.address);
        connection.send(format!("PROXY TCP4 {source} 10.0.0.1 1 2\r\n"));
        connection.ask("GET", "/", &[("x-forwarded-for", forwarded)]).status
    };
    assert_eq!(ask("10.1.2.3", "203.0.113.1"), 200);
    assert_eq!(ask("10.1.2.4", "203.0.113.1"), 429, "behind trusted proxies one client");
    assert_eq!(ask("192.0.2.1", "203.0.113.2"), 200);
    assert_eq!(ask("192.0.2.1", "203.0.113.3"), 429, "a stranger's word does not count");
}

#[test]
fn who_is_listed_and_sends_no_header_is_closed() {
    let upstream = Upstream::start();
    let gate = Gate::start(&policy(upstream.address, "[127.0.0.1]", ""));
    let closed = |bytes: &[u8]| {
        let mut connection = Connection::open(gate.address);
        let _ = connection.try_send(bytes);
        connection.is_closed()
    };
    assert!(closed(b"GET / HTTP/1.1\r\nhost: test\r\n\r\n"));
    assert_eq!(errors(&gate, "missing"), 1.0);
    assert!(closed(b"PROXY TCP4 203.0.113.9 10.0.0.1 1 2\n"));
    assert!(closed(&v2(0x21, 0x11, &[0; 4])));
    assert_eq!(errors(&gate, "malformed"), 2.0);
    let mut cut = Connection::open(gate.address);
    cut.send("PROXY ");
    cut.finish();
    assert!(cut.is_closed());
    drop(Connection::open(gate.address));
    until("both are counted", || errors(&gate, "closed") == 2.0);
    assert_eq!(upstream.connections(), 0);
    until("no place is kept", || gate.handle.connections() == 0);
}

#[test]
fn who_is_listed_and_slow_is_closed() {
    let upstream = Upstream::start();
    let more = "gateway: { header_timeout: 100ms }";
    let gate = Gate::start(&policy(upstream.address, "[127.0.0.1]", more));
    let mut slow = Connection::open(gate.address);
    slow.send("PROXY TCP4 203.0.113.9");
    assert!(slow.is_closed());
    assert_eq!(errors(&gate, "slow"), 1.0);
}

#[test]
fn who_is_not_listed_speaks_plain_http() {
    let upstream = Upstream::start();
    let gate = Gate::start(&policy(upstream.address, "[192.0.2.0/24]", ""));
    assert_eq!(ask(&gate, b""), 200);
    let mut pretender = Connection::open(gate.address);
    pretender.send("PROXY TCP4 203.0.113.9 10.0.0.1 1 2\r\n\r\n");
    assert_eq!(pretender.reply().status, 400, "a header is no request");
    assert_eq!(upstream.seen().len(), 1);
}

#[test]
fn a_header_comes_before_tls() {
    let (upstream, authority) = (Upstream::start(), Authority::new());
    authority.sign("a", &["a.example"]);
    let listener = format!("tls: {{ certificates: [{}] }}", authority.pair("a"));
    let text = policy(upstream.address, &format!("[127.0.0.1], {listener}"), "");
    let gate = Gate::of(&text);
    let client = authority.client(&["h2"], None);
    let ask = |header: &[u8]| {
        let mut client = H2::over(async {
            let mut stream = TcpStream::connect(gate.address).await.expect("a connection");
            stream.write_all(header).await.expect("the header");
            let name = "a.example".try_into().expect("a name");
            client.connect(name, stream).await.expect("a handshake")
        });
        client.get("/").status
    };
    let addresses = [203, 0, 113, 9, 10, 0, 0, 1, 0xd4, 0x31, 0x01, 0xbb];
    assert_eq!(ask(&v2(0x21, 0x11, &addresses)), 200);
    assert_eq!(upstream.last().header("x-forwarded-for"), Some("203.0.113.9"));
    assert_eq!(upstream.last().header("x-forwarded-proto"), Some("https"));
    assert_eq!(ask(b"PROXY TCP4 203.0.113.9 10.0.0.1 1 2\r\n"), 429, "it is the same one");
    assert_eq!(ask(b"PROXY TCP6 2001:db8::1 ::1 1 2\r\n"), 200);
    // Without one there is no TLS either.
    let mut bare = Connection::open(gate.address);
    bare.send([0x16, 3, 1, 2, 0, 1]);
    assert!(bare.is_closed());
    assert_eq!(errors(&gate, "missing"), 1.0);
}

#[test]
fn connections_are_counted_by_the_named_client() {
    let upstream = Upstream::start();
    let more = "gateway: { max_connections_per_address: 1 }";
    let gate = Gate::start(&policy(upstream.address, "[127.0.0.1]", more));
    let open = |source: &str| {
        let mut connection = Connection::open(gate.address);
        connection.send(format!("PROXY TCP4 {source} 10.0.0.1 1 2\r\n"));
        let status = connection.get("/").status;
        (connection, status)
    };
    let (_one, status) = open("203.0.113.1");
    assert_eq!(status, 200);
    let (_two, status) = open("203.0.113.2");
    assert_eq!(status, 200);
    let (_more, status) = open("203.0.113.1");
    assert_eq!((status, gate.metric("tollgate_connections_crowded_total")), (429, 1.0));
}

#[test]
fn a_gateway_that_stops_waits_for_no_header() {
    let upstream = Upstream::start();
    let more = "gateway: { header_timeout: 1h, drain_timeout: 1h }";
    let mut gate = Gate::start(&policy(upstream.address, "[127.0.0.1]", more));
    let mut silent = Connection::open(gate.address);
    silent.send("PROXY ");
    until("it has a place", || gate.handle.connections() == 1);
    gate.stop();
    gate.ended();
    assert!(silent.is_closed());
}
