//! HTTP/2 on both sides: what a stream carries arrives whole on the other side, and its end does, however it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use h2::SendStream;
use http::{HeaderMap, HeaderValue, Request, Response};

use crate::harness::http2::{END_HEADERS, Frames, H2, block, get, kind, pieces, unfinished, whole};
use crate::harness::{Connection, Gate, Raw, Speech, Upstream, request as request_of, until};
use crate::policies::pool;
use crate::upstream_http2::{Next, scripted};

const INTERNAL_ERROR: u32 = 2;
const CANCEL: u32 = 8;

fn upstream() -> Upstream {
    Upstream::speaking(Speech { http2: true, ..Speech::default() })
}

fn between(upstream: std::net::SocketAddr) -> Gate {
    Gate::start(&pool(&[&upstream], ", http2: true"))
}

fn fields(lines: &[(&'static str, &'static str)]) -> HeaderMap {
    let pair = |&(name, value): &(&'static str, &'static str)| {
        (name.parse().expect("a name"), HeaderValue::from_static(value))
    };
    lines.iter().map(pair).collect()
}

#[test]
fn requests_and_answers_pass() {
    let upstream = upstream();
    let gate = between(upstream.address);
    let mut client = H2::open(gate.address);
    let reply = client.get("/a/../b?c=%64");
    assert_eq!((reply.version.as_str(), reply.status), ("HTTP/2.0", 200));
    assert_eq!(upstream.last().target, "http://test/b?c=%64");
    assert_eq!(client.get("/status/404").status, 404);
    assert_eq!(client.get("/bytes/3000000").body.len(), 3_000_000);
    let request = Request::post("http://test/sink").body(whole(vec![b'x'; 3_000_000]));
    assert_eq!(client.send(request.expect("a request")).expect("an answer").status, 200);
    assert_eq!(upstream.last().body, 3_000_000);
    let held: Vec<_> = (0..50).map(|n| client.start(get(&format!("/hold/{n}")))).collect();
    until("all are on their way", || upstream.begun() == 54);
    upstream.let_go();
    assert!(held.into_iter().all(|one| client.finish(one).expect("an answer").status == 200));
}

/// Over HTTP/2 nobody has to announce trailers, and who speaks gRPC never does.
#[test]
fn every_trailer_passes_both_ways() {
    let upstream = upstream();
    let gate = between(upstream.address);
    let trailers = fields(&[("x-sum", "9"), ("x-unsaid", "1")]);
    let sent = trailers.clone();
    let request = Request::post("http://test/call/shop.v1.Orders/Get")
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(pieces(&["\0\0\0\0\x02", "\x08\x07"], trailers));
    let reply = H2::open(gate.address).send(request.expect("a request")).expect("an answer");
    assert_eq!((reply.status, &reply.body[..]), (200, &b"\0\0\0\0\x02\x08\x07"[..]));
    assert_eq!(reply.header("trailer"), None, "it was not announced");
    assert_eq!(reply.trailers, [("grpc-status".to_owned(), "0".to_owned())]);
    assert_eq!(upstream.last().trailers, Some(sent));
}

/// RFC 9110, 6.5.1: what says who sends, or how, comes before the body or not at all.
#[test]
fn trailers_that_must_be_none_are_dropped() {
    let upstream = upstream();
    let gate = between(upstream.address);
    let wrong = [("authorization", "x"), ("x-forwarded-for", "10.0.0.1"), ("host", "other")];
    let request = Request::post("http://test/call")
        .body(pieces(&["x"], fields(&[&wrong[..], &[("x-sum", "9")]].concat())));
    H2::open(gate.address).send(request.expect("a request")).expect("an answer");
    assert_eq!(upstream.last().trailers, Some(fields(&[("x-sum", "9")])));
    // Over HTTP/2 a field of a connection is malformed: it would cost the request.
    let mut connection = Connection::open(gate.address);
    connection.send(request_of("POST", "/call", &[("transfer-encoding", "chunked")]));
    connection
        .send("1\r\nx\r\n0\r\nconnection: close\r\ntransfer-encoding: chunked\r\nx-sum: 9\r\n\r\n");
    assert_eq!(connection.reply().status, 200);
    assert_eq!(upstream.last().trailers, Some(fields(&[("x-sum", "9")])));
}

#[test]
fn a_client_that_resets_its_stream_ends_the_other_one() {
    let (begun, gone) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counts = (Arc::clone(&begun), Arc::clone(&gone));
    let upstream = scripted(move |_, _, _, mut respond| {
        counts.0.fetch_add(1, Ordering::SeqCst);
        let gone = Arc::clone(&counts.1);
        tokio::spawn(async move {
            let reset = std::future::poll_fn(|cx| respond.poll_reset(cx)).await;
            if reset.is_ok_and(|reason| reason == h2::Reason::CANCEL) {
                gone.fetch_add(1, Ordering::SeqCst);
            }
        });
        Next::GoOn
    });
    let gate = between(upstream.address);
    let mut frames = Frames::open(gate.address, &[]);
    frames.get(1, "/", &[]);
    until("it is on its way", || begun.load(Ordering::SeqCst) == 1);
    frames.send(kind::RST_STREAM, 0, 1, &CANCEL.to_be_bytes());
    until("the upstream is told", || gone.load(Ordering::SeqCst) == 1);
    until("nothing is left of it", || gate.metric("tollgate_requests_in_flight") == 0.0);
    assert_eq!(upstream.connections(), 1);
}

#[test]
fn a_client_that_resets_its_upload_breaks_it_off() {
    let upstream = upstream();
    let gate = between(upstream.address);
    let mut frames = Frames::open(gate.address, &[]);
    frames.send(kind::HEADERS, END_HEADERS, 1, &block("POST", "/echo", &[]));
    frames.send(kind::DATA, 0, 1, b"half");
    until("it is on its way", || upstream.begun() == 1);
    frames.send(kind::RST_STREAM, 0, 1, &CANCEL.to_be_bytes());
    until("the upstream knows that no more comes", || upstream.broken_off() == 1);
    assert!(upstream.seen().is_empty(), "what broke off is no request");
    frames.get(3, "/", &[]);
    assert_eq!(frames.await_frame(kind::HEADERS).stream, 3, "the connection goes on");
}

/// Resets `stream` a little later: what was written just before a reset may never go out.
fn reset_soon(mut stream: SendStream<Bytes>, reason: h2::Reason) {
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        stream.send_reset(reason);
    });
}

/// A server that begins an answer and resets its stream, but for requests of `/whole`.
fn breaking_off() -> Raw {
    scripted(|_, _, request, mut respond| {
        let whole = request.uri().path() == "/whole";
        if let Ok(mut stream) = respond.send_response(Response::new(()), false) {
            let _ = stream.send_data(Bytes::from_static(b"half"), whole);
            if !whole {
                reset_soon(stream, h2::Reason::INTERNAL_ERROR);
            }
        }
        Next::GoOn
    })
}

#[test]
fn a_server_that_resets_its_stream_ends_the_other_one() {
    let upstream = breaking_off();
    let gate = between(upstream.address);
    let mut frames = Frames::open(gate.address, &[]);
    frames.get(1, "/", &[]);
    assert_eq!(frames.await_frame(kind::HEADERS).stream, 1);
    let reset = frames.await_frame(kind::RST_STREAM);
    assert_eq!(
        (reset.stream, reset.code()),
        (1, INTERNAL_ERROR),
        "and not an end as of a whole answer"
    );
    frames.get(3, "/whole", &[]);
    assert_eq!(frames.await_frame(kind::DATA).stream, 3, "the connection goes on");
    assert_eq!(upstream.connections(), 1, "on the other side, too");
}

/// RFC 9113, 8.1: a server that has answered in full may say that the rest of the request is not wanted.
#[test]
fn an_early_answer_passes_while_the_upload_goes_on() {
    let upstream = scripted(|_, _, request, mut respond| {
        let head = Response::builder().status(413).body(()).expect("a head");
        if let Ok(stream) = respond.send_response(head, true)
            && request.method() == http::Method::POST
        {
            reset_soon(stream, h2::Reason::NO_ERROR);
        }
        Next::GoOn
    });
    let gate = between(upstream.address);
    let mut client = H2::open(gate.address);
    let request = Request::post("http://test/").body(unfinished("a piece")).expect("a request");
    assert_eq!(client.send(request).expect("an answer").status, 413);
    assert_eq!(client.get("/").status, 413, "the connection goes on");
    until("nothing is left of either", || gate.metric("tollgate_requests_in_flight") == 0.0);
}
