//! What HTTP means, and what of it is counted. http-08 is arithmetic (`tollgate-sim` replays it); http-07's 8,640 probes are
//! a few here, for they are not counted.

use crate::harness::{Connection, Gate, Nginx, Upstream};

fn by_method(upstream: &Upstream) -> String {
    format!(
        "upstreams: {{ app: {{ servers: [\"{}\"] }} }}\n\
         limits:\n  reads: {{ key: [ip], sliding_log: {{ limit: 5, window: 1m }} }}\n  \
         writes: {{ key: [ip], sliding_log: {{ limit: 1, window: 1m }} }}\n\
         routes:\n\
         - {{ match: {{ path: /**, method: [GET, HEAD] }}, limits: [reads], upstream: app }}\n\
         - {{ match: {{ path: /**, method: [POST, PUT, PATCH, DELETE] }}, limits: [writes], upstream: app }}\n",
        upstream.address
    )
}

#[test]
fn http_01_a_refusal_is_never_stored() {
    let server =
        "location / { add_header Cache-Control \"public, max-age=300\" always; return 200 ok; }";
    let Some(nginx) = Nginx::start(server) else { return };
    let yaml = crate::policies::limited(
        nginx.address,
        "{ key: [ip], sliding_log: { limit: 1, window: 1m } }",
    );
    let gate = Gate::start(&yaml);
    let mut connection = Connection::open(gate.address);
    assert_eq!(connection.get("/").header("cache-control").as_deref(), Some("public, max-age=300"));
    let refused = connection.get("/");
    assert_eq!(refused.status, 429);
    assert_eq!(refused.header("cache-control").as_deref(), Some("no-store"));
}

#[test]
fn http_03_preflights_are_not_counted() {
    let upstream = Upstream::start();
    let yaml = format!(
        "upstreams: {{ app: {{ servers: [\"{}\"] }} }}\n\
         limits:\n  it: {{ key: [ip], sliding_log: {{ limit: 2, window: 1m }} }}\n\
         routes:\n- {{ match: {{ path: /** }}, limits: [it], count_preflight: false, upstream: app }}\n",
        upstream.address
    );
    let gate = Gate::start(&yaml);
    let mut connection = Connection::open(gate.address);
    let preflight = [("origin", "https://a.example"), ("access-control-request-method", "GET")];
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(connection.ask("OPTIONS", "/", &preflight).status);
        statuses.push(connection.get("/").status);
    }
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429]);
    let bare = connection.ask("OPTIONS", "/", &[("origin", "https://a.example")]);
    assert_eq!(bare.status, 429, "a bare OPTIONS is counted");
}

#[test]
fn http_05_head_is_a_read() {
    let upstream = Upstream::start();
    let gate = Gate::start(&by_method(&upstream));
    let mut connection = Connection::open(gate.address);
    assert_eq!(
        connection.ask("HEAD", "/", &[]).header("x-ratelimit-remaining").as_deref(),
        Some("4")
    );
    assert_eq!(
        connection.ask("HEAD", "/", &[]).header("x-ratelimit-remaining").as_deref(),
        Some("3")
    );
    let post = connection.ask("POST", "/", &[("content-length", "0")]);
    assert_eq!((post.status, post.header("x-ratelimit-remaining").as_deref()), (200, Some("0")));
}

#[test]
fn http_07_an_exempt_path_is_exempt_and_nothing_else_is() {
    let upstream = Upstream::start();
    let yaml = format!(
        "upstreams: {{ app: {{ servers: [\"{}\"] }} }}\n\
         limits:\n  daily: {{ key: [ip], sliding_log: {{ limit: 2, window: 24h }} }}\n\
         routes:\n- {{ match: {{ path: /health-check }}, limits: [], upstream: app }}\n\
         - {{ match: {{ path: /** }}, limits: [daily], upstream: app }}\n",
        upstream.address
    );
    let gate = Gate::start(&yaml);
    let mut connection = Connection::open(gate.address);
    for _ in 0..50 {
        assert_eq!(connection.get("/health-check").status, 200);
    }
    assert_eq!(connection.get("/health-check/../admin").status, 200);
    assert_eq!(upstream.last().target, "/admin");
    assert_eq!(connection.get("/health-check%2f..%2fadmin").status, 400);
    assert_eq!(connection.get("/admin").status, 200);
    assert_eq!(connection.get("/health-check/../admin").status, 429);
    assert_eq!(connection.get("/health-check").status, 200);
}

#[test]
fn failures_are_counted_by_the_status_that_the_service_gave() {
    let upstream = Upstream::start();
    let limit =
        "{ key: [ip], sliding_log: { limit: 2, window: 1m }, charge_when: { status: [401] } }";
    let gate = Gate::start(&crate::policies::limited(upstream.address, limit));
    let mut connection = Connection::open(gate.address);
    for _ in 0..5 {
        assert_eq!(connection.get("/status/200").status, 200);
    }
    assert_eq!(connection.get("/status/401").status, 401);
    assert_eq!(connection.get("/status/401").status, 401);
    assert_eq!(connection.get("/status/200").status, 429);
}

#[test]
fn a_slot_is_held_until_the_answer_has_been_sent() {
    let upstream = Upstream::start();
    let limit = "{ key: [ip], concurrency: { limit: 1, ttl: 1h } }";
    let gate = Gate::start(&crate::policies::limited(upstream.address, limit));
    let mut holder = Connection::open(gate.address);
    holder.send(crate::harness::request("GET", "/hold", &[]));
    crate::harness::until("it is on its way", || upstream.begun() == 1);
    let mut other = Connection::open(gate.address);
    let refused = other.get("/");
    assert_eq!((refused.status, refused.header("retry-after").as_deref()), (429, Some("1")));
    upstream.let_go();
    assert_eq!(holder.reply().status, 200);
    assert_eq!(other.get("/").status, 200, "the slot is free once the answer is there");

    // A large answer that its client does not take holds its slot.
    let mut slow = Connection::open(gate.address);
    slow.send(crate::harness::request("GET", "/bytes/100000000", &[]));
    assert_eq!(slow.head().status, 200);
    assert_eq!(other.get("/").status, 429);
    drop(slow);
    crate::harness::until("the slot is free", || other.get("/").status == 200);
}
