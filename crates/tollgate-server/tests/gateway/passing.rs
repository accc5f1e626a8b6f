//! What passes, and in which form.

use crate::harness::{Connection, Gate, Upstream};

/// A policy that admits 2 requests a minute by address on `/limited/**`, and everything else.
pub(crate) fn policy(upstream: std::net::SocketAddr) -> String {
    format!(
        "upstreams: {{ app: {{ servers: [\"{upstream}\"] }} }}\n\
         limits:\n  two: {{ key: [ip], sliding_log: {{ limit: 2, window: 1m }} }}\n\
         routes:\n\
         - {{ match: {{ path: /limited/** }}, limits: [two], upstream: app }}\n\
         - {{ match: {{ path: /** }}, limits: [], upstream: app }}\n"
    )
}

#[test]
fn what_is_admitted_passes_and_what_is_refused_does_not() {
    let upstream = Upstream::start();
    let gate = Gate::start(&policy(upstream.address));
    let mut connection = Connection::open(gate.address);
    for left in [1, 0] {
        let reply = connection.get("/limited/x?q=1");
        assert_eq!(reply.status, 200, "{reply:?}");
        assert_eq!(reply.header("x-ratelimit-remaining"), Some(left.to_string()));
    }
    let refused = connection.get("/limited/x");
    assert_eq!(refused.status, 429, "{refused:?}");
    assert_eq!(refused.header("content-type").as_deref(), Some("application/problem+json"));
    assert_eq!(refused.header("cache-control").as_deref(), Some("no-store"));
    assert!(refused.header("retry-after").is_some());
    assert!(refused.text().contains("\"violated-policies\":[\"two\"]"), "{}", refused.text());
    assert_eq!(connection.get("/other").status, 200);
    assert_eq!(upstream.seen().len(), 3);
    assert_eq!(upstream.seen()[0].target, "/limited/x?q=1");
    assert_eq!(upstream.connections(), 1, "upstream connections are kept");
}
