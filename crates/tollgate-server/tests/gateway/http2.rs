//! HTTP/2 from clients, by prior knowledge in the clear.

use std::time::Duration;

use http::{HeaderMap, HeaderValue, Request};

use crate::harness::http2::{
    Came, END_HEADERS, END_STREAM, Frames, H2, block, get, kind, nothing, pieces, unfinished, whole,
};
use crate::harness::{Connection, Gate, Upstream, until};
use crate::policies::{limited, open, open_with};

const CANCEL: u32 = 8;
const CALM: u32 = 11;

#[test]
fn both_versions_are_spoken_on_one_port() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut client = H2::open(gate.address);
    let reply = client.get("/a?b=c");
    assert_eq!((reply.version.as_str(), reply.status), ("HTTP/2.0", 200));
    assert_eq!(upstream.last().target, "/a?b=c");
    assert_eq!(upstream.last().header("host"), Some("test"));
    assert_eq!(upstream.last().header("x-forwarded-proto"), Some("http"));
    assert_eq!(Connection::open(gate.address).get("/").status, 200);
    // Side by side on one connection.
    let held: Vec<_> = (0..20).map(|n| client.start(get(&format!("/hold/{n}")))).collect();
    until("all are on their way", || upstream.begun() == 22);
    assert_eq!(client.get("/quick").status, 200);
    upstream.let_go();
    assert!(held.into_iter().all(|one| client.finish(one).expect("an answer").status == 200));
}

#[test]
fn a_listener_may_do_without() {
    let upstream = Upstream::start();
    let listeners = "listeners: { old: { listen: 127.0.0.1:0, http2: false } }";
    let gate = Gate::of(&open_with(upstream.address, listeners));
    let mut frames = Frames::open(gate.address, &[]);
    assert!(frames.end().is_none(), "no GOAWAY either");
    assert_eq!(Connection::open(gate.address).get("/").status, 200);
}

#[test]
fn trailers_pass_both_ways_and_cookies_are_joined() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut client = H2::open(gate.address);
    let mut trailers = HeaderMap::new();
    trailers.insert("x-end", HeaderValue::from_static("done"));
    let request = Request::post("http://test/chunked/3")
        .header("te", "trailers")
        .header("trailer", "x-end")
        .header("cookie", "a=1")
        .header("cookie", "b=2")
        .body(pieces(&["one", "two"], trailers));
    let reply = client.send(request.expect("a request")).expect("an answer");
    assert_eq!(reply.text(), "chunk 0;chunk 1;chunk 2;");
    assert_eq!(reply.trailers, [("x-sum".to_owned(), "3".to_owned())]);
    assert_eq!(reply.header("connection"), None);
    assert_eq!(reply.header("transfer-encoding"), None);
    let seen = upstream.last();
    assert_eq!(seen.header("cookie"), Some("a=1; b=2"));
    assert_eq!(seen.trailers.expect("trailers")["x-end"], "done");
    assert_eq!(seen.body, 6);
}

#[test]
fn large_bodies_pass_both_ways() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut client = H2::open(gate.address);
    assert_eq!(client.get("/bytes/5000000").body.len(), 5_000_000);
    let request = Request::post("http://test/sink").body(whole(vec![b'x'; 3_000_000]));
    assert_eq!(client.send(request.expect("a request")).expect("an answer").status, 200);
    assert_eq!(upstream.last().body, 3_000_000);
    assert_eq!(client.get("/").status, 200);
}

/// The first bytes of a head that begins with one of the statuses of the static table.
fn status(came: &Came) -> u8 {
    came.payload.first().map_or(0, |first| first & 0x7f)
}

#[test]
fn the_authority_is_the_host() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut frames = Frames::open(gate.address, &[]);
    frames.get(1, "/", &[("host", "test")]);
    assert_eq!(status(&frames.await_frame(kind::HEADERS)), 8, "200: they agree");
    frames.get(3, "/", &[("host", "other")]);
    assert_eq!(status(&frames.await_frame(kind::HEADERS)), 12, "400: they do not");
    // Fields of a connection make a request malformed (RFC 9113, 8.2.2); the connection goes on.
    frames.get(5, "/", &[("connection", "close")]);
    assert_eq!(frames.await_frame(kind::RST_STREAM).code(), 1);
    frames.get(7, "/", &[]);
    assert_eq!(status(&frames.await_frame(kind::HEADERS)), 8);
    // So do spaces around a value (8.2.1), which over HTTP/1.1 would be none of it.
    frames.get(9, "/", &[("x-user", " ada")]);
    assert_eq!(status(&frames.await_frame(kind::HEADERS)), 12);
    assert_eq!(upstream.seen().len(), 2);
}

#[test]
fn tunnels_are_refused() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut client = H2::open(gate.address);
    let request = Request::connect("test:443").body(nothing()).expect("a request");
    assert_eq!(client.send(request).expect("an answer").status, 405);
    let mut frames = Frames::open(gate.address, &[]);
    let extended = block("CONNECT", "/", &[(":protocol", "websocket")]);
    frames.send(kind::HEADERS, END_HEADERS, 1, &extended);
    assert_eq!(frames.await_frame(kind::RST_STREAM).code(), 1);
    assert!(upstream.seen().is_empty());
}

#[test]
fn a_refusal_leaves_the_connection_alone() {
    let upstream = Upstream::start();
    let limit = "{ key: [ip], sliding_log: { limit: 1, window: 1m } }";
    let gate = Gate::start(&limited(upstream.address, limit));
    let mut client = H2::open(gate.address);
    assert_eq!(client.get("/").status, 200);
    let request = Request::post("http://test/").body(whole(vec![b'x'; 400_000]));
    let started = client.start(request.expect("a request"));
    if let Ok(reply) = client.finish(started) {
        assert_eq!(reply.status, 429);
    }
    let reply = client.get("/");
    assert_eq!(reply.status, 429);
    assert!(reply.header("retry-after").is_some() && reply.header("ratelimit").is_some());
    assert_eq!(reply.header("content-type").as_deref(), Some("application/problem+json"));
    assert_eq!(reply.header("content-length"), Some(reply.body.len().to_string()));
    assert_eq!(upstream.seen().len(), 1);
}

#[test]
fn what_a_reset_stream_held_is_free() {
    let upstream = Upstream::start();
    let limit = "{ key: [], concurrency: { limit: 1, ttl: 1h } }";
    let gate = Gate::start(&limited(upstream.address, limit));
    let mut frames = Frames::open(gate.address, &[]);
    frames.get(1, "/hold", &[]);
    until("it is on its way", || upstream.begun() == 1);
    let mut other = Connection::open(gate.address);
    assert_eq!(other.get("/").status, 429);
    frames.send(kind::RST_STREAM, 0, 1, &CANCEL.to_be_bytes());
    until("the slot is free", || other.get("/").status == 200);
    frames.get(3, "/", &[]);
    assert_eq!(status(&frames.await_frame(kind::HEADERS)), 8, "the connection goes on");
}

#[test]
fn a_reset_stream_waits_no_more() {
    let upstream = Upstream::start();
    let limit = "{ key: [], leaky_bucket: { rate: 1/h, burst: 5, max_wait: unlimited } }";
    let gate = Gate::start(&limited(upstream.address, limit));
    let mut frames = Frames::open(gate.address, &[]);
    for stream in [1, 3, 5] {
        frames.get(stream, "/", &[]);
    }
    until("two wait", || gate.metric("tollgate_requests_waiting") == 2.0);
    frames.send(kind::RST_STREAM, 0, 3, &CANCEL.to_be_bytes());
    until("one waits", || gate.metric("tollgate_requests_waiting") == 1.0);
    drop(frames);
    until("nobody waits", || gate.metric("tollgate_requests_waiting") == 0.0);
    assert_eq!(gate.metric("tollgate_requests_abandoned_total"), 2.0);
}

/// The gateway ends the connection of a client that sends `flood` again and again, and says why.
#[track_caller]
fn ends(more: &str, mut flood: impl FnMut(&mut Frames, u32) -> std::io::Result<()>) -> Option<u32> {
    let upstream = Upstream::start();
    let gate = Gate::start(&open_with(upstream.address, more));
    let mut frames = Frames::open(gate.address, &[]);
    for round in 0..100_000 {
        if flood(&mut frames, round).is_err() {
            break;
        }
        assert!(round < 99_999, "it goes on for ever");
    }
    until("it is over", || gate.handle.connections() == 0);
    assert_eq!(Connection::open(gate.address).get("/").status, 200, "others are served");
    let floods = ["resets", "control_frames"]
        .map(|kind| gate.metric(&format!("tollgate_http2_floods_total{{kind=\"{kind}\"}}")));
    let calm = gate.metric("tollgate_http2_goaways_total{code=\"ENHANCE_YOUR_CALM\"}");
    assert!(floods.iter().sum::<f64>() == 1.0 || calm == 1.0, "{floods:?} {calm}");
    // A reset may have overtaken the GOAWAY.
    frames.end()
}

#[test]
fn rapid_resets_end_the_connection() {
    let code = ends("gateway: { max_resets: 20 }", |frames, round| {
        let stream = 2 * round + 1;
        let fields = block("GET", "/hold", &[]);
        frames.try_send(kind::HEADERS, END_STREAM | END_HEADERS, stream, &fields)?;
        frames.try_send(kind::RST_STREAM, 0, stream, &CANCEL.to_be_bytes())
    });
    assert!(code.is_none_or(|code| code == CALM), "{code:?}");
}

#[test]
fn floods_of_frames_that_carry_nothing_end_the_connection() {
    for kind in [kind::PING, kind::SETTINGS] {
        let payload: &[u8] = if kind == kind::PING { &[0; 8] } else { &[] };
        let code = ends("", |frames, _| frames.try_send(kind, 0, 0, payload));
        assert!(code.is_none_or(|code| code == CALM), "{code:?}");
    }
    let code = ends("", |frames, _| frames.try_send(kind::WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]));
    assert!(code.is_none_or(|code| code == CALM), "{code:?}");
    let code = ends("", |frames, round| {
        if round == 0 {
            return frames.try_send(kind::HEADERS, END_HEADERS, 1, &block("POST", "/", &[]));
        }
        frames.try_send(kind::DATA, 0, 1, &[])
    });
    assert!(code.is_none_or(|code| code == CALM), "{code:?}");
}

#[test]
fn a_flood_of_continuations_ends_the_connection() {
    let code = ends("", |frames, round| {
        if round == 0 {
            return frames.try_send(kind::HEADERS, END_STREAM, 1, &block("GET", "/", &[]));
        }
        frames.try_send(kind::CONTINUATION, 0, 1, &[0, 1, b'a', 1, b'b'])
    });
    assert!(code.is_none_or(|code| code == CALM), "{code:?}");
}

#[test]
fn fields_are_bounded() {
    let upstream = Upstream::start();
    let more = "gateway: { max_header_bytes: 8192, max_headers: 10 }";
    let gate = Gate::start(&open_with(upstream.address, more));
    let mut client = H2::open(gate.address);
    let large = Request::get("http://test/").header("x-large", "a".repeat(9_000));
    let reply = client.send(large.body(nothing()).expect("a request")).expect("an answer");
    assert_eq!(reply.status, 431);
    assert_eq!(reply.header("content-type").as_deref(), Some("application/problem+json"));
    let mut many = Request::get("http://test/");
    for number in 0..20 {
        many = many.header(format!("x-{number}"), "");
    }
    let reply = client.send(many.body(nothing()).expect("a request")).expect("an answer");
    assert_eq!(reply.status, 431);
    // What no buffer should hold is refused before it is whole.
    let huge = Request::get("http://test/").header("x-huge", "a".repeat(60_000));
    if let Ok(reply) = client.send(huge.body(nothing()).expect("a request")) {
        assert_eq!(reply.status, 431);
    }
    assert!(upstream.seen().is_empty());
}

#[test]
fn streams_side_by_side_are_bounded() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open_with(upstream.address, "gateway: { max_streams: 3 }"));
    let mut frames = Frames::open(gate.address, &[]);
    let settings = frames.await_frame(kind::SETTINGS);
    assert!(settings.payload.chunks(6).any(|one| one == [0, 3, 0, 0, 0, 3]), "{settings:?}");
    // The bound holds once the client has acknowledged it.
    frames.send(kind::SETTINGS, 1, 0, &[]);
    for stream in [1, 3, 5, 7] {
        frames.get(stream, "/hold", &[]);
    }
    let refused = frames.await_frame(kind::RST_STREAM);
    assert_eq!((refused.stream, refused.code()), (7, 7), "REFUSED_STREAM");
    until("three are on their way", || upstream.begun() == 3);
}

#[test]
fn slow_fields_end_the_connection() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open_with(upstream.address, "gateway: { header_timeout: 300ms }"));
    let mut frames = Frames::open(gate.address, &[]);
    frames.send(kind::HEADERS, END_STREAM, 1, &block("GET", "/", &[]));
    assert_eq!(frames.end(), Some(0));
    // So does one that sends nothing at all.
    assert!(Connection::open(gate.address).is_closed());
    // And one whose preface does not end.
    let mut connection = Connection::open(gate.address);
    connection.send("PRI * HTTP/2.0\r\n");
    assert!(connection.is_closed());
}

#[test]
fn an_idle_connection_is_said_goodbye() {
    let upstream = Upstream::start();
    let timeouts = "gateway: { idle_timeout: 300ms, header_timeout: 10s }";
    let gate = Gate::start(&open_with(upstream.address, timeouts));
    let mut frames = Frames::open(gate.address, &[]);
    frames.get(1, "/", &[]);
    frames.await_frame(kind::HEADERS);
    // Pings do not keep it.
    for _ in 0..3 {
        frames.send(kind::PING, 0, 0, &[0; 8]);
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(frames.end(), Some(0));
    let mut busy = Frames::open(gate.address, &[]);
    busy.get(1, "/hold", &[]);
    until("it is on its way", || upstream.begun() == 2);
    std::thread::sleep(Duration::from_millis(500));
    upstream.let_go();
    assert_eq!(status(&busy.await_frame(kind::HEADERS)), 8, "an answer may take longer");
}

#[test]
fn a_slow_body_is_408_and_its_connection_goes_on() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open_with(upstream.address, "gateway: { body_timeout: 300ms }"));
    let mut client = H2::open(gate.address);
    let request = Request::post("http://test/").body(unfinished("a piece")).expect("a request");
    let slow = client.start(request);
    assert_eq!(client.get("/quick").status, 200);
    assert_eq!(client.finish(slow).expect("an answer").status, 408);
    assert_eq!(client.get("/quick").status, 200);
}

/// A client that opens no window would keep its answers for ever.
#[test]
fn an_answer_that_is_not_taken_is_reset() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open_with(upstream.address, "gateway: { body_timeout: 300ms }"));
    let no_window = [(4, 0)];
    let mut frames = Frames::open(gate.address, &no_window);
    frames.get(1, "/bytes/1000000", &[]);
    let reset = frames.await_frame(kind::RST_STREAM);
    assert_eq!((reset.stream, reset.code()), (1, CANCEL));
    assert_eq!(gate.metric("tollgate_http2_stalled_streams_total"), 1.0);
    frames.get(3, "/status/204", &[]);
    assert_eq!(frames.await_frame(kind::HEADERS).stream, 3, "the connection goes on");
}

#[test]
fn the_end_lets_streams_finish() {
    let upstream = Upstream::start();
    let mut gate = Gate::start(&open(upstream.address));
    let mut idle = H2::open(gate.address);
    assert_eq!(idle.get("/").status, 200);
    let mut busy = H2::open(gate.address);
    let held = busy.start(get("/hold"));
    until("it is on its way", || upstream.begun() == 2);
    gate.stop();
    until("the idle one is told", || idle.is_closed());
    assert!(gate.is_running());
    upstream.let_go();
    assert_eq!(busy.finish(held).expect("an answer").status, 200);
    gate.ended();
    let mut gate = Gate::start(&open_with(upstream.address, "gateway: { drain_timeout: 200ms }"));
    let mut frames = Frames::open(gate.address, &[]);
    frames.send(kind::HEADERS, END_HEADERS, 1, &block("POST", "/slow", &[]));
    until("it is on its way", || upstream.begun() == 3);
    gate.stop();
    frames.await_frame(kind::GOAWAY);
    gate.ended();
    while frames.next().is_some() {}
}
