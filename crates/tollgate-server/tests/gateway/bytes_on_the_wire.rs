//! Bytes that two readers could read differently, and bytes that are no request: each is refused, and what follows it on
//! the connection is never taken for a request.

use crate::harness::{Connection, Gate, Raw, Upstream};
use crate::policies::open;

/// Sends `bytes` and expects one answer with `status`, then the end of the connection.
#[track_caller]
fn refused(gate: &Gate, bytes: &str, status: u16) {
    let mut connection = Connection::open(gate.address);
    connection.send(bytes);
    let reply = connection.reply();
    assert_eq!(reply.status, status, "{bytes:?}: {reply:?}");
    assert_eq!(
        reply.header("content-type").as_deref(),
        Some("application/problem+json"),
        "{bytes:?}"
    );
}

#[test]
fn lengths_that_contradict_each_other_are_refused() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let smuggled = "GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n";
    for fields in [
        "content-length: 0\r\ncontent-length: 39",
        "content-length: 39\r\ncontent-length: 0",
        "content-length: 0, 39",
        "content-length: 5, 5",
        "content-length: 5,",
        "content-length: 5 5",
        "content-length: ",
        "content-length: +5",
        "content-length: 0x5",
        "content-length: -1",
        "content-length: 99999999999999999999",
        "transfer-encoding: gzip",
        "transfer-encoding: chunked, gzip",
        "transfer-encoding: chunked, identity",
        "transfer-encoding:\u{b}chunked",
    ] {
        let request = format!("POST / HTTP/1.1\r\nhost: a\r\n{fields}\r\n\r\n0\r\n\r\n{smuggled}");
        let mut connection = Connection::open(gate.address);
        connection.send(&request);
        let reply = connection.reply();
        assert_eq!(reply.status, 400, "{fields:?}: {reply:?}");
    }
    let seen = upstream.seen();
    assert!(seen.is_empty(), "{seen:?}");
}

/// RFC 9112, 6.3: a length beside chunks may be dropped, if it is not passed on and the connection ends; a length that is
/// said twice counts once.
#[test]
fn a_needless_length_is_not_passed_on() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    for fields in [
        "content-length: 3\r\ntransfer-encoding: chunked",
        "transfer-encoding: chunked\r\ncontent-length: 3",
    ] {
        let mut connection = Connection::open(gate.address);
        let smuggled = "GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n";
        connection
            .send(format!("POST / HTTP/1.1\r\nhost: a\r\n{fields}\r\n\r\n0\r\n\r\n{smuggled}"));
        let reply = connection.reply();
        assert_eq!((reply.status, reply.header("connection").as_deref()), (200, Some("close")));
        assert!(connection.is_closed(), "{fields:?}");
        assert_eq!(upstream.last().header("content-length"), None);
    }
    let mut connection = Connection::open(gate.address);
    connection
        .send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\nx");
    assert_eq!(connection.reply().text(), "x");
    assert_eq!(upstream.last().headers.get_all("content-length").iter().count(), 1);
    assert!(upstream.seen().iter().all(|seen| seen.target == "/"));
}

#[test]
fn a_chunk_that_is_none_breaks_the_request_off() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    for body in ["zz\r\n", "5\r\nhelloX\r\n", "-1\r\n", "fffffffffffffffff\r\n"] {
        let mut connection = Connection::open(gate.address);
        let head = "POST /echo HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n";
        connection.send(format!("{head}{body}GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n"));
        let mut answer = [0; 12];
        let read = connection.read(&mut answer);
        assert!(
            read == 0 || answer.starts_with(b"HTTP/1.1 400"),
            "{body:?}: {:?}",
            &answer[..read]
        );
    }
    assert!(upstream.seen().iter().all(|seen| seen.target != "/smuggled"));
}

/// hyper looks for CR LF at the end of a trailer, and reads LF as one, too: what stands behind the latter is swallowed. Whoever
/// is before us may have seen a request there, and would take the next answer for its own.
#[test]
fn behind_trailers_nothing_is_served() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let head =
        "POST /first HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n";
    let next = "GET /next HTTP/1.1\r\nhost: a\r\n\r\n";
    for end in ["a: b\n\r\n", "\n", "a: b\r\n\r\n"] {
        let mut connection = Connection::open(gate.address);
        connection.send(format!("{head}{end}{next}{next}{next}"));
        let reply = connection.reply();
        assert_eq!((reply.status, reply.header("connection").as_deref()), (200, Some("close")));
        assert!(connection.is_closed(), "{end:?}");
    }
    assert!(upstream.seen().iter().all(|seen| seen.target == "/first"), "{:?}", upstream.seen());
}

/// A service that knows fields as variables would take the one for the other.
#[test]
fn fields_in_disguise_are_dropped() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let fields =
        [("X_Forwarded_For", "10.0.0.1"), ("Transfer_Encoding", "chunked"), ("user_id", "1")];
    assert_eq!(Connection::open(gate.address).ask("GET", "/", &fields).status, 200);
    let seen = upstream.last();
    assert_eq!((seen.header("x_forwarded_for"), seen.header("transfer_encoding")), (None, None));
    assert_eq!(
        (seen.header("x-forwarded-for"), seen.header("user_id")),
        (Some("127.0.0.1"), Some("1"))
    );
}

#[test]
fn hosts_that_are_none_or_many_are_refused() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    refused(&gate, "GET / HTTP/1.1\r\n\r\n", 400);
    refused(&gate, "GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n", 400);
    refused(&gate, "GET / HTTP/1.1\r\nhost: a/b\r\n\r\n", 400);
}

#[test]
fn what_is_no_request_is_refused() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    refused(&gate, "nonsense\r\n\r\n", 400);
    refused(&gate, "GET / HTTP/1.1\r\nhost: a\r\nbad name: x\r\n\r\n", 400);
    refused(&gate, "GET / HTTP/1.1\r\nhost: a\r\nx: a\0b\r\n\r\n", 400);
    refused(&gate, "GET / HTTP/1.1\r\nhost: a\r\n folded: x\r\n\r\n", 400);
    refused(&gate, "GET / HTTP/3.7\r\nhost: a\r\n\r\n", 400);
    assert!(upstream.seen().is_empty());
}

#[test]
fn an_upstream_that_speaks_no_http_is_a_bad_gateway() {
    for answer in [
        "nonsense\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\ncontent-length: 1, 1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\ncontent-length: +1\r\n\r\nx",
        "HTTP/1.1 304 Not Modified\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        "HTTP/1.1 204 No Content\r\ncontent-length: 0x1\r\n\r\n",
        "",
        "HTTP/1.1 200",
        "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
    ] {
        let upstream = Raw::start(move |stream, _| {
            if Raw::head(stream).is_some() {
                let _ = std::io::Write::write_all(stream, answer.as_bytes());
            }
        });
        let gate = Gate::start(&open(upstream.address));
        let mut connection = Connection::open(gate.address);
        assert_eq!(connection.get("/").status, 502, "{answer:?}");
        assert_eq!(connection.get("/").status, 502, "the client's connection stays");
    }
}

#[test]
fn an_answer_that_breaks_off_is_not_made_whole() {
    let upstream = Raw::start(|stream, _| {
        if Raw::head(stream).is_some() {
            let answer = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n";
            let _ = std::io::Write::write_all(stream, answer.as_bytes());
        }
    });
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    connection.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    assert_eq!(connection.head().status, 200);
    let mut body = [0; 64];
    let mut text = Vec::new();
    while let read @ 1.. = connection.read(&mut body) {
        text.extend_from_slice(&body[..read]);
    }
    assert_eq!(String::from_utf8_lossy(&text), "5\r\nhello\r\n", "no last chunk");
}

/// RFC 9110, 2.5: the version is the gateway's own. An upstream of HTTP/1.0 once ended every client's connection.
#[test]
fn an_old_upstream_does_not_make_the_gateway_old() {
    let upstream = Raw::start(|stream, _| {
        if Raw::head(stream).is_some() {
            let _ = std::io::Write::write_all(
                stream,
                b"HTTP/1.0 200 OK\r\ncontent-length: 3\r\n\r\nold",
            );
        }
    });
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    for _ in 0..2 {
        let reply = connection.get("/");
        assert_eq!(
            (reply.version.as_str(), reply.status, reply.text().as_str()),
            ("HTTP/1.1", 200, "old")
        );
    }
}

/// RFC 9112, 6.1: the gateway undoes `chunked` alone. Passed on without its name, another coding would be taken for content.
#[test]
fn bodies_in_other_codings_are_501() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let rest = "3\r\nabc\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n";
    for coding in ["gzip, chunked", "chunked, chunked", "chunked\r\ntransfer-encoding: chunked"] {
        let head = format!("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: {coding}\r\n\r\n");
        let mut connection = Connection::open(gate.address);
        connection.send(format!("{head}{rest}"));
        assert_eq!(connection.reply().status, 501, "{coding:?}");
        assert!(connection.is_closed(), "{coding:?}");
    }
    assert_eq!(upstream.begun(), 0);
}

/// RFC 9112, 6.3: of an upstream's length and its chunks the chunks hold; the length once cut the body short.
#[test]
fn an_upstreams_needless_length_is_not_passed_on() {
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    let upstream = Raw::start(move |stream, _| {
        if Raw::head(stream).is_some() {
            let _ = std::io::Write::write_all(stream, answer.as_bytes());
        }
    });
    let gate = Gate::start(&open(upstream.address));
    let reply = Connection::open(gate.address).get("/");
    assert_eq!((reply.header("content-length"), reply.text().as_str()), (None, "hello"));
}

#[test]
fn an_answer_in_another_coding_is_a_bad_gateway() {
    let answer = "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    let upstream = Raw::start(move |stream, _| {
        if Raw::head(stream).is_some() {
            let _ = std::io::Write::write_all(stream, answer.as_bytes());
        }
    });
    let gate = Gate::start(&open(upstream.address));
    assert_eq!(Connection::open(gate.address).get("/").status, 502);
}

/// What came behind an answered request once got a bare 400, which no metric saw.
#[test]
fn what_is_no_request_is_refused_in_full_behind_good_ones_too() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    let good = "GET /status/400 HTTP/1.1\r\nhost: a\r\n\r\n";
    connection.send(format!("{good}{good}nonsense\r\n\r\n{good}"));
    for _ in 0..2 {
        let reply = connection.reply();
        assert_eq!((reply.status, reply.text().as_str()), (400, "said so"), "the upstream's own");
    }
    let reply = connection.reply();
    assert_eq!((reply.status, reply.header("connection").as_deref()), (400, Some("close")));
    assert_eq!(reply.header("content-type").as_deref(), Some("application/problem+json"));
    assert!(connection.is_closed(), "and nothing after it");
    assert_eq!(gate.metric("tollgate_answers_total{status=\"400\"}"), 1.0);
    assert_eq!(upstream.begun(), 2);
}

/// hyper's bare answer and an upstream's are told apart by when they come, not by how they look.
#[test]
fn an_upstreams_bare_refusal_is_passed_on_as_it_is() {
    let upstream = Raw::start(|stream, _| {
        while Raw::head(stream).is_some() {
            let bare = "HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\n\r\n";
            let _ = std::io::Write::write_all(stream, bare.as_bytes());
        }
    });
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    let good = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
    connection.send(good.repeat(3));
    for _ in 0..3 {
        let reply = connection.reply();
        assert_eq!((reply.status, reply.text().as_str()), (431, ""));
        assert_eq!(reply.header("content-type"), None);
    }
    assert_eq!(connection.get("/").status, 431, "the connection lives");
    assert_eq!(gate.metric("tollgate_answers_total{status=\"431\"}"), 0.0);
}
