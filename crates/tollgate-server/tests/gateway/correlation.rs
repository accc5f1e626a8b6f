//! The ids that tie a request's traces together.

use crate::harness::{Connection, Gate, Upstream};
use crate::policies::{limited, open, open_with};

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

fn is_hex(id: &str, length: usize) -> bool {
    id.len() == length && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[test]
fn every_request_has_an_id_that_both_sides_see() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    let mut before = String::new();
    for _ in 0..3 {
        let reply = connection.ask("GET", "/", &[("x-request-id", "a-strangers-word")]);
        let id = reply.header("x-request-id").expect("an id");
        assert!(is_hex(&id, 32), "{id}");
        assert_eq!(upstream.last().header("x-request-id"), Some(id.as_str()));
        assert_ne!(id, before);
        before = id;
    }
    let own = connection.get("/a%2Fb");
    assert_eq!(own.status, 400);
    assert!(own.header("x-request-id").is_some_and(|id| is_hex(&id, 32)), "{own:?}");
}

#[test]
fn a_refusal_has_an_id_too() {
    let upstream = Upstream::start();
    let gate =
        Gate::start(&limited(upstream.address, "{ key: [ip], quota: { limit: 0, every: day } }"));
    let refused = Connection::open(gate.address).get("/");
    assert_eq!(refused.status, 429);
    assert!(refused.header("x-request-id").is_some_and(|id| is_hex(&id, 32)), "{refused:?}");
}

#[test]
fn a_trusted_peers_id_is_kept_where_it_is_one() {
    let upstream = Upstream::start();
    let trusting = "client_address: { trusted_proxies: [127.0.0.1] }";
    let gate = Gate::start(&open_with(upstream.address, trusting));
    let mut connection = Connection::open(gate.address);
    let reply = connection.ask("GET", "/", &[("x-request-id", "req-7.a")]);
    assert_eq!(reply.header("x-request-id").as_deref(), Some("req-7.a"));
    assert_eq!(upstream.last().header("x-request-id"), Some("req-7.a"));
    for odd in ["a b", "", &"x".repeat(129)] {
        let reply = connection.ask("GET", "/", &[("x-request-id", odd)]);
        assert!(reply.header("x-request-id").is_some_and(|id| is_hex(&id, 32)), "{odd:?}");
    }
}

#[test]
fn a_policy_may_want_no_ids() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open_with(upstream.address, "request_id: false\ntrace_context: leave"));
    let mut connection = Connection::open(gate.address);
    let reply = connection.ask("GET", "/", &[("x-request-id", "mine"), ("traceparent", "theirs")]);
    assert_eq!(reply.header("x-request-id"), None);
    let seen = upstream.last();
    assert_eq!(
        (seen.header("x-request-id"), seen.header("traceparent")),
        (Some("mine"), Some("theirs"))
    );
}

#[test]
fn a_trace_is_carried_on_unchanged() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    connection.ask("GET", "/", &[("traceparent", PARENT), ("tracestate", "rojo=1,congo=2")]);
    let seen = upstream.last();
    assert_eq!(seen.header("traceparent"), Some(PARENT));
    assert_eq!(seen.header("tracestate"), Some("rojo=1,congo=2"));
}

#[test]
fn a_trace_begins_where_there_is_none() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    for fields in [&[][..], &[("traceparent", "00-zero"), ("tracestate", "rojo=1")]] {
        connection.ask("GET", "/", fields);
        let seen = upstream.last();
        let parent = seen.header("traceparent").expect("a parent");
        let parts: Vec<&str> = parent.split('-').collect();
        assert!(parts.len() == 4 && is_hex(parts[1], 32) && is_hex(parts[2], 16), "{parent}");
        assert_eq!((parts[0], parts[3]), ("00", "01"));
        assert_eq!(seen.header("tracestate"), None);
    }
    let gate = Gate::start(&open_with(upstream.address, "trace_context: pass"));
    let mut connection = Connection::open(gate.address);
    connection.ask("GET", "/", &[("traceparent", "00-zero"), ("tracestate", "rojo=1")]);
    let seen = upstream.last();
    assert_eq!((seen.header("traceparent"), seen.header("tracestate")), (None, None));
}
