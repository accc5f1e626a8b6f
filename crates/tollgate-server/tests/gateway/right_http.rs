//! HTTP as RFC 9110 and 9112 have it, by raw bytes: what goes through, what is the gateway's own to say, what is never said.

use std::io::Write;

use crate::harness::{Connection, Gate, Raw, Upstream, get, request, until};
use crate::policies::{limited, open, open_with};

/// A service that answers every request with `answer`, whatever it is.
fn saying(answer: &'static str) -> Raw {
    Raw::start(move |stream, _| {
        while Raw::head(stream).is_some() {
            let _ = stream.write_all(answer.as_bytes());
        }
    })
}

#[test]
fn trailers_pass_both_ways() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    let fields = [("transfer-encoding", "chunked"), ("trailer", "x-sum"), ("te", "trailers")];
    connection.send(request("POST", "/chunked/2", &fields));
    connection.send("2\r\nhi\r\n0\r\nX-Sum: 9\r\nX-Unsaid: 1\r\n\r\n");
    let reply = connection.reply();
    assert_eq!(reply.text(), "chunk 0;chunk 1;");
    assert_eq!(reply.header("trailer").as_deref(), Some("x-sum"));
    assert_eq!(reply.trailers, [("x-sum".to_owned(), "2".to_owned())]);
    let seen = upstream.last();
    assert_eq!(seen.header("te"), Some("trailers"));
    let trailers = seen.trailers.expect("trailers");
    assert_eq!((trailers.len(), &trailers["x-sum"]), (1, &http::HeaderValue::from_static("9")));
    // Whoever does not take them gets none.
    assert_eq!(reply.header("connection").as_deref(), Some("close"));
    let reply = get(gate.address, "/chunked/2");
    assert_eq!((reply.text().as_str(), reply.trailers.len()), ("chunk 0;chunk 1;", 0));
}

#[test]
fn answers_without_a_body_have_none() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    let head = connection.ask("HEAD", "/bytes/5", &[]);
    assert_eq!((head.status, head.header("content-length").as_deref()), (200, Some("5")));
    for status in [204, 304] {
        assert_eq!(connection.get(&format!("/status/{status}")).status, status);
    }
    assert_eq!(connection.get("/bytes/3").text(), "xxx", "the connection is where it should be");

    let upstream = saying("HTTP/1.1 304 Not Modified\r\ncontent-length: 7\r\netag: \"a\"\r\n\r\n");
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    for _ in 0..2 {
        let reply = connection.get("/");
        assert_eq!((reply.status, reply.header("etag").as_deref()), (304, Some("\"a\"")));
    }
}

/// What stands behind a 204 is no body of it, and no answer to the next request.
#[test]
fn a_body_behind_a_204_is_not_taken_for_an_answer() {
    let upstream =
        saying("HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison");
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    for _ in 0..3 {
        let reply = connection.get("/");
        assert_eq!((reply.status, reply.text().as_str()), (204, ""));
    }
}

#[test]
fn informational_answers_do_not_disturb_the_final_one() {
    let upstream = saying(
        "HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n\r\n\
         HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
    );
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    for _ in 0..2 {
        connection.send(request("GET", "/", &[]));
        let mut reply = connection.reply();
        while reply.status < 200 {
            reply = connection.reply();
        }
        assert_eq!((reply.status, reply.text().as_str()), (200, "ok"));
        assert_eq!(reply.header("link"), None, "hints are no fields of the answer");
    }
}

#[test]
fn connect_is_refused() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    for target in ["a.example:443", "127.0.0.1:80"] {
        let mut connection = Connection::open(gate.address);
        connection.send(format!("CONNECT {target} HTTP/1.1\r\nhost: {target}\r\n\r\n"));
        let reply = connection.reply();
        assert_eq!(reply.status, 405);
        assert_eq!(reply.header("content-type").as_deref(), Some("application/problem+json"));
    }
    assert_eq!(upstream.begun(), 0);
}

#[test]
fn the_target_names_the_host() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    connection.send("GET http://b.example:81/x?y HTTP/1.1\r\nhost: a.example\r\n\r\n");
    assert_eq!(connection.reply().status, 200);
    let seen = upstream.last();
    assert_eq!((seen.target.as_str(), seen.header("host")), ("/x?y", Some("b.example:81")));
    assert_eq!(seen.header("x-forwarded-host"), Some("b.example:81"));
}

#[test]
fn every_answer_is_dated_once() {
    let upstream = saying(
        "HTTP/1.1 200 OK\r\ndate: Thu, 01 Jan 1970 00:00:00 GMT\r\ncontent-length: 0\r\n\r\n",
    );
    let gate = Gate::start(&limited(
        upstream.address,
        "{ key: [ip], sliding_log: { limit: 1, window: 1m } }",
    ));
    let mut connection = Connection::open(gate.address);
    let passed = connection.get("/").header("date");
    assert_eq!(passed.as_deref(), Some("Thu, 01 Jan 1970 00:00:00 GMT"), "the upstream's own");
    let refused = connection.get("/");
    assert_eq!(refused.status, 429);
    assert!(refused.header("date").is_some_and(|date| date.ends_with(" GMT")));
    connection.send("nonsense\r\n\r\n");
    let reply = connection.reply();
    assert_eq!(reply.status, 400);
    assert!(reply.header("date").is_some_and(|date| date.ends_with(" GMT")), "{reply:?}");
}

#[test]
fn targets_that_are_too_long_are_414() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open_with(upstream.address, "gateway: { max_header_bytes: 8192 }"));
    // Beyond the limit, beyond hyper's buffer, and beyond what a URI can be.
    for length in [8_200, 60_000, 400_000] {
        let mut connection = Connection::open(gate.address);
        let _ = connection.try_send(request("GET", &format!("/{}", "a".repeat(length)), &[]));
        let reply = connection.reply();
        assert_eq!(reply.status, 414, "{length}");
        assert_eq!(reply.header("content-type").as_deref(), Some("application/problem+json"));
    }
    assert_eq!(gate.metric("tollgate_answers_total{status=\"414\"}"), 3.0);
    let mut connection = Connection::open(gate.address);
    let long = "a".repeat(60_000);
    let _ = connection.try_send(request("GET", "/", &[("x-long", &long)]));
    assert_eq!(connection.reply().status, 431, "a field that is too long is another thing");
    assert_eq!(upstream.begun(), 0);
}

#[test]
fn lines_end_in_one_way() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    for bytes in [
        "GET / HTTP/1.1\r\nhost: a\r\nx: a\rb\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\nx\r: a\r\n\r\n",
        "GET /\r HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nhost : a\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\nx: a\r\n b\r\n\r\n",
        "GET\t/ HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET / HTTP/1.1 \r\nhost: a\r\n\r\n",
    ] {
        let mut connection = Connection::open(gate.address);
        connection.send(bytes);
        assert_eq!(connection.reply().status, 400, "{bytes:?}");
    }
    assert_eq!(upstream.begun(), 0);
    for body in ["5\nhello\n0\n\n", "5\r\nhello\n0\r\n\r\n", "5;a\nhello\r\n0\r\n\r\n"] {
        let mut connection = Connection::open(gate.address);
        connection.send(request("POST", "/chunks", &[("transfer-encoding", "chunked")]));
        connection.send(body);
        connection.finish();
        let mut rest = [0; 12];
        let read = connection.read(&mut rest);
        assert!(read == 0 || rest.starts_with(b"HTTP/1.1 400"), "{body:?}: {:?}", &rest[..read]);
    }
    until("all are broken off", || upstream.broken_off() == upstream.begun());
}

#[test]
fn upgrades_are_counted_until_they_close_str_01() {
    let upstream = Upstream::start();
    let limit = "{ key: [ip], concurrency: { limit: 3, ttl: 1h } }";
    let yaml =
        crate::policies::limited_with(upstream.address, limit, "gateway: { body_timeout: 500ms }");
    let gate = Gate::start(&yaml);
    let open = || {
        let mut connection = Connection::open(gate.address);
        let fields = [("connection", "upgrade"), ("upgrade", "echo")];
        connection.send(request("GET", "/upgrade", &fields));
        (connection.head().status, connection)
    };
    let (mut clean, broken, silent) = (open(), open(), open());
    assert_eq!([clean.0, broken.0, silent.0], [101; 3]);
    assert_eq!(open().0, 429);
    clean.1.finish();
    assert!(clean.1.is_closed());
    // With bytes unread a socket that is dropped resets its connection.
    let mut broken = broken.1;
    broken.send("echo");
    drop(broken);
    let mut silent = silent.1;
    assert!(silent.is_closed(), "the gateway ends a tunnel in which nothing moves");
    let mut again = Vec::new();
    until("all three slots are free, and no more", || {
        let (status, connection) = open();
        if status == 101 {
            again.push(connection);
        }
        status == 429 && again.len() == 3
    });
}
