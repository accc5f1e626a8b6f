//! Sizes of bodies, by route.

use crate::harness::{Connection, Gate, Upstream, request};

fn by_route(upstream: &Upstream) -> String {
    format!(
        "gateway: {{ max_body_bytes: 10, max_response_bytes: 1000 }}\n\
         upstreams: {{ app: {{ servers: [\"{}\"] }} }}\n\
         limits:\n  it: {{ key: [ip], sliding_log: {{ limit: 9, window: 1m }} }}\n\
         routes:\n\
         - {{ match: {{ path: /upload }}, limits: [], upstream: app, max_body_bytes: 100 }}\n\
         - {{ match: {{ path: [/bytes/*, /chunked/*] }}, limits: [it], upstream: app, max_response_bytes: 50 }}\n\
         - {{ match: {{ path: /** }}, limits: [it], upstream: app }}\n",
        upstream.address
    )
}

fn post(gate: &Gate, path: &str, length: usize) -> u16 {
    let mut connection = Connection::open(gate.address);
    connection.send(request("POST", path, &[("content-length", &length.to_string())]));
    connection.send("x".repeat(length));
    connection.reply().status
}

#[test]
fn a_request_may_be_as_large_as_its_route_says() {
    let upstream = Upstream::start();
    let gate = Gate::start(&by_route(&upstream));
    assert_eq!([10, 11].map(|length| post(&gate, "/", length)), [200, 413]);
    assert_eq!([11, 100, 101].map(|length| post(&gate, "/upload", length)), [200, 200, 413]);
    assert_eq!(upstream.begun(), 3);
    // Where the length is not stated it is found out on the way.
    let mut connection = Connection::open(gate.address);
    connection.send(request("POST", "/upload", &[("transfer-encoding", "chunked")]));
    connection.send(format!("65\r\n{}\r\n0\r\n\r\n", "x".repeat(0x65)));
    assert_eq!(connection.reply().status, 413);
    assert_eq!(gate.metric("tollgate_answers_total{status=\"413\"}"), 3.0);
}

#[test]
fn a_request_that_is_too_large_was_a_request() {
    let upstream = Upstream::start();
    let gate = Gate::start(&by_route(&upstream));
    let statuses: Vec<u16> = (0..11).map(|_| post(&gate, "/", 11)).collect();
    assert_eq!(statuses, [[413; 9].as_slice(), &[429; 2]].concat());
    assert_eq!(upstream.begun(), 0);
}

#[test]
fn an_answer_may_be_as_large_as_its_route_says() {
    let upstream = Upstream::start();
    let gate = Gate::start(&by_route(&upstream));
    let mut connection = Connection::open(gate.address);
    assert_eq!(connection.get("/bytes/50").body.len(), 50);
    let refused = connection.get("/bytes/51");
    assert_eq!(refused.status, 502);
    assert_eq!(refused.header("content-type").as_deref(), Some("application/problem+json"));
    assert!(refused.header("x-ratelimit-remaining").is_some(), "it was counted");
    assert_eq!(connection.ask("HEAD", "/bytes/51", &[]).status, 200, "no body, no size");
    assert_eq!(connection.get("/chunked/5").status, 200);
    // Its beginning is out when it turns out too large: it breaks off, and nobody takes it for whole.
    connection.send(request("GET", "/chunked/9", &[]));
    assert_eq!(connection.head().status, 200);
    let (mut text, mut buffer) = (Vec::new(), [0; 4096]);
    while let read @ 1.. = connection.read(&mut buffer) {
        text.extend_from_slice(&buffer[..read]);
    }
    assert!(!text.ends_with(b"0\r\n\r\n"), "no last chunk");
    assert_eq!(gate.metric("tollgate_responses_too_large_total"), 2.0);
}
