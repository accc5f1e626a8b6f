//! Upgraded connections.

use crate::harness::{Connection, Gate, Upstream, request, until};
use crate::policies::{limited, open, open_with};

const ASK: [(&str, &str); 2] = [("connection", "Upgrade"), ("upgrade", "echo")];

#[test]
fn an_upgrade_is_a_tunnel_both_ways() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    connection.send(request("GET", "/upgrade", &ASK));
    let agreed = connection.head();
    assert_eq!(agreed.status, 101);
    assert_eq!(agreed.header("upgrade").as_deref(), Some("echo"));
    assert_eq!(agreed.header("connection").as_deref(), Some("upgrade"));
    assert_eq!(upstream.last().header("upgrade"), Some("echo"));
    for word in ["one", "GET / HTTP/1.1\r\n\r\n", "three"] {
        connection.send(word);
        let mut echo = vec![0; word.len()];
        let mut read = 0;
        while read < echo.len() {
            let more = connection.read(&mut echo[read..]);
            assert!(more > 0, "the tunnel ended");
            read += more;
        }
        assert_eq!(echo, word.as_bytes());
    }
    connection.finish();
    assert!(connection.is_closed());
    until("its place is free", || gate.handle.connections() == 0);
}

#[test]
fn a_tunnel_holds_its_slot_until_it_closes() {
    let upstream = Upstream::start();
    let gate = Gate::start(&limited(
        upstream.address,
        "{ key: [ip], concurrency: { limit: 1, ttl: 1h } }",
    ));
    let mut tunnel = Connection::open(gate.address);
    tunnel.send(request("GET", "/upgrade", &ASK));
    assert_eq!(tunnel.head().status, 101);
    let mut other = Connection::open(gate.address);
    assert_eq!(other.get("/").status, 429, "the tunnel holds the only slot");
    assert_eq!(gate.metric("tollgate_connections"), 2.0, "the tunnel is one of them");
    drop(tunnel);
    until("the slot is free", || other.get("/").status == 200);
    until("the tunnel is counted out", || gate.metric("tollgate_connections") == 1.0);
}

#[test]
fn an_upgrade_that_the_upstream_does_not_want_is_a_request() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    assert_eq!(connection.ask("GET", "/bytes/3", &ASK).text(), "xxx");
    assert_eq!(connection.get("/bytes/2").text(), "xx");
}

#[test]
fn http_2_is_not_entered_through_the_side_door() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    let fields = [
        ("connection", "Upgrade, HTTP2-Settings"),
        ("upgrade", "h2c"),
        ("http2-settings", "AAMAAABk"),
    ];
    assert_eq!(connection.ask("GET", "/", &fields).status, 200);
    let seen = upstream.last();
    assert_eq!((seen.header("upgrade"), seen.header("http2-settings")), (None, None));
}

#[test]
fn a_silent_tunnel_ends() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open_with(upstream.address, "gateway: { body_timeout: 150ms }"));
    let mut connection = Connection::open(gate.address);
    connection.send(request("GET", "/upgrade", &ASK));
    assert_eq!(connection.head().status, 101);
    assert!(connection.is_closed());
}
