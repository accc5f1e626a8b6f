//! gRPC callers: their calls pass, and a refusal is one that they understand.

use http::{HeaderMap, HeaderValue, Request};

use crate::harness::http2::{H2, Sent, pieces, whole};
use crate::harness::{Gate, Reply, Upstream};
use crate::policies::{limited, open};

/// A call of `path` with one empty message.
fn call(path: &str) -> Request<Sent> {
    Request::post(format!("http://test{path}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(whole(&[0_u8; 5][..]))
        .expect("a request")
}

/// Nothing but a head, with `code`.
#[track_caller]
fn assert_trailers_only(reply: &Reply, code: &str) {
    assert_eq!((reply.status, reply.body.len()), (200, 0));
    assert_eq!(reply.header("content-type").as_deref(), Some("application/grpc"));
    assert_eq!(reply.header("grpc-status").as_deref(), Some(code));
    assert!(reply.trailers.is_empty());
    assert_eq!(reply.header("content-length"), None);
}

#[test]
fn a_refused_call_is_told_when_to_come_back() {
    let upstream = Upstream::start();
    let limit = "{ key: [ip], sliding_log: { limit: 1, window: 1m } }";
    let gate = Gate::start(&limited(upstream.address, limit));
    let mut client = H2::open(gate.address);
    assert_eq!(client.send(call("/echo")).expect("an answer").body, [0; 5]);
    let reply = client.send(call("/echo")).expect("an answer");
    assert_trailers_only(&reply, "8");
    let message = reply.header("grpc-message").expect("a message");
    assert!(message.contains("The limit it allows 1 in any minute"), "{message}");
    let pushback = reply.header("grpc-retry-pushback-ms").expect("a time");
    let pushback: u64 = pushback.parse().expect("a number");
    assert!((1..=60_000).contains(&pushback), "{pushback}");
    assert!(reply.header("ratelimit").is_some());
    assert_eq!(gate.metric("tollgate_answers_total{status=\"429\"}"), 1.0);
    // Another caller of the same client is told in its own way.
    let plain = Request::post("http://test/").body(whole("x")).expect("a request");
    assert_eq!(client.send(plain).expect("an answer").status, 429);
}

#[test]
fn no_wait_helps_where_nothing_is_allowed() {
    let upstream = Upstream::start();
    let gate = Gate::start(&limited(
        upstream.address,
        "{ key: [ip], fixed_window: { limit: 0, window: 1m } }",
    ));
    let reply = H2::open(gate.address).send(call("/echo")).expect("an answer");
    assert_trailers_only(&reply, "8");
    assert_eq!(reply.header("grpc-retry-pushback-ms").as_deref(), Some("-1"));
}

#[test]
fn other_answers_of_ours_have_their_codes() {
    let upstream = Upstream::start();
    let routes = |address: &str| {
        format!(
            "upstreams: {{ app: {{ servers: [\"{address}\"] }} }}\ndefault: refuse\n\
             routes:\n- {{ match: {{ path: /known }}, limits: [], upstream: app }}\n"
        )
    };
    let gate = Gate::start(&routes(&upstream.address.to_string()));
    let mut client = H2::open(gate.address);
    assert_trailers_only(&client.send(call("/unknown")).expect("an answer"), "12");
    // Nobody listens there.
    let gate = Gate::start(&routes("127.0.0.1:1"));
    let mut client = H2::open(gate.address);
    assert_trailers_only(&client.send(call("/known")).expect("an answer"), "14");
}

#[test]
fn trailers_reach_the_caller() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut end = HeaderMap::new();
    end.insert("x-end", HeaderValue::from_static("1"));
    let request = Request::post("http://test/chunked/2")
        .header("content-type", "application/grpc+proto")
        .header("te", "trailers")
        .body(pieces(&["message"], end))
        .expect("a request");
    let reply = H2::open(gate.address).send(request).expect("an answer");
    assert_eq!(reply.trailers, [("x-sum".to_owned(), "2".to_owned())]);
    assert_eq!(upstream.last().header("te"), Some("trailers"));
}
