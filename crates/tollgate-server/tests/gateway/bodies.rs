//! Bodies: bounded, streamed, and never mistaken for requests.

use std::io::Write;
use std::time::Duration;

use http::{HeaderMap, Request};

use crate::harness::http2::{H2, pieces};
use crate::harness::{Connection, Gate, Raw, Upstream, request, until};
use crate::policies::{limited, open, open_with};

const MIB: usize = 1 << 20;

/// Resident memory of this process, in bytes, where the system tells it.
fn memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kilobytes: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

#[test]
fn a_large_body_passes_both_ways_in_little_memory() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    let before = memory();
    let total = 100 * MIB;
    let length = total.to_string();
    connection.send(request("PUT", "/sink", &[("content-length", &length)]));
    let block = vec![b'y'; MIB];
    for _ in 0..100 {
        connection.send(&block);
    }
    assert_eq!(connection.reply().status, 200);
    assert_eq!(upstream.last().body, total);

    connection.send(request("GET", &format!("/bytes/{total}"), &[]));
    assert_eq!(connection.head().header("content-length"), Some(length));
    let mut buffer = vec![0; MIB];
    let mut read = 0;
    while read < total {
        match connection.read(&mut buffer) {
            0 => break,
            more => read += more,
        }
    }
    assert_eq!(read, total);
    if let (Some(before), Some(after)) = (before, memory()) {
        assert!(after < before + 80 * MIB, "{before} bytes before, {after} after");
    }
}

#[test]
fn an_upstream_that_does_not_read_holds_the_client_back() {
    let (go, gone) = std::sync::mpsc::channel::<()>();
    let gone = std::sync::Mutex::new(gone);
    let upstream = Raw::start(move |stream, _| {
        if Raw::head(stream).is_some() {
            let _ = gone.lock().map(|gone| gone.recv());
        }
    });
    let gate = Gate::start(&open(upstream.address));
    let address = gate.address;
    let sent = std::thread::spawn(move || {
        let stream = std::net::TcpStream::connect(address).expect("a connection");
        stream.set_write_timeout(Some(Duration::from_millis(300))).expect("a time-out");
        let mut stream = stream;
        let head = request("PUT", "/", &[("content-length", "1000000000")]);
        stream.write_all(head.as_bytes()).expect("the head");
        let block = vec![0; 64 * 1024];
        let mut sent = 0;
        while sent < 900 * MIB {
            match stream.write(&block) {
                Ok(written) => sent += written,
                Err(_) => break,
            }
        }
        sent
    });
    let sent = sent.join().expect("a client");
    assert!(sent < 64 * MIB, "{sent} bytes went into a gateway whose upstream reads none");
    drop(go);
}

#[test]
fn a_body_above_the_limit_is_413() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open_with(upstream.address, "gateway: { max_body_bytes: 10 }"));
    let mut connection = Connection::open(gate.address);
    connection.send(request("POST", "/echo", &[("content-length", "10")]));
    connection.send("0123456789");
    assert_eq!(connection.reply().text(), "0123456789");
    connection.send(request("POST", "/echo", &[("content-length", "11")]));
    connection.send("0123456789a");
    assert_eq!(connection.reply().status, 413);
    assert_eq!(connection.get("/bytes/3").text(), "xxx", "a short body is read away");
    connection.send(request("POST", "/echo", &[("transfer-encoding", "chunked")]));
    connection.send("b\r\n0123456789a\r\n");
    let reply = connection.reply();
    assert_eq!((reply.status, reply.header("connection").as_deref()), (413, Some("close")));
    assert_eq!(upstream.seen().iter().filter(|seen| seen.method == "POST").count(), 1);
}

#[test]
fn a_body_that_grows_above_the_limit_on_its_way_is_413() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open_with(upstream.address, "gateway: { max_body_bytes: 10 }"));
    let mut connection = Connection::open(gate.address);
    connection.send(request("POST", "/echo", &[("transfer-encoding", "chunked")]));
    until("its head is there", || upstream.begun() == 1);
    connection.send("5\r\n01234\r\n");
    connection.send("6\r\n56789a\r\n");
    let reply = connection.reply();
    assert_eq!((reply.status, reply.header("connection").as_deref()), (413, Some("close")));
    until("the upstream knows that no more comes", || upstream.broken_off() == 1);
    assert!(upstream.seen().is_empty(), "what broke off is no request");
}

const NONE: &str = "{ key: [ip], fixed_window: { limit: 0, window: 1m } }";

/// http-09: an upload that is refused from its head alone.
fn http_09(fields: &[(&str, &str)], framed: impl Fn(&[u8]) -> Vec<u8>, end: &str) {
    let upstream = Upstream::start();
    let gate = Gate::start(&limited(upstream.address, NONE));
    let mut connection = Connection::open(gate.address);
    connection.send(request("POST", "/upload", fields));
    let reply = connection.reply();
    assert_eq!(reply.status, 429, "before any of the body");
    assert!(reply.header("retry-after").is_none(), "never");
    let mut block = b"GET /admin HTTP/1.1\r\nhost: a\r\n\r\n".repeat(32 * 1024);
    block.truncate(MIB);
    for _ in 0..8 {
        // The gateway may have closed by now.
        if connection.try_send(framed(&block)).is_err() {
            break;
        }
    }
    let _ = connection.try_send(end);
    let again = connection.try_send(request("GET", "/after", &[]));
    if again.is_ok() && reply.header("connection").as_deref() != Some("close") {
        let mut answer = [0; 64];
        let read = connection.read(&mut answer);
        let answer = String::from_utf8_lossy(&answer[..read]).into_owned();
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 429"), "{answer}");
    } else {
        assert!(connection.is_closed(), "no second answer");
    }
    let decided = gate.metric("tollgate_decisions_total{route=\"/**\",outcome=\"refuse\"}");
    assert!(decided <= 2.0, "{decided} decisions: the body was read as requests");
    assert!(upstream.seen().is_empty());
}

#[test]
fn http_09_a_refused_upload_of_known_length_is_no_request() {
    http_09(&[("content-length", &(8 * MIB).to_string())], <[u8]>::to_vec, "");
}

#[test]
fn http_09_a_refused_chunked_upload_is_no_request() {
    let framed = |block: &[u8]| {
        let mut chunk = format!("{:x}\r\n", block.len()).into_bytes();
        chunk.extend_from_slice(block);
        chunk.extend_from_slice(b"\r\n");
        chunk
    };
    http_09(&[("transfer-encoding", "chunked")], framed, "0\r\n\r\n");
}

#[test]
fn http_09_a_client_that_sends_all_before_it_reads_gets_its_answer() {
    let upstream = Upstream::start();
    let gate = Gate::start(&limited(upstream.address, NONE));
    let mut connection = Connection::open(gate.address);
    connection.send(request("POST", "/upload", &[("content-length", &(8 * MIB).to_string())]));
    let block = vec![b'z'; MIB];
    for _ in 0..8 {
        connection.send(&block);
    }
    assert_eq!(connection.reply().status, 429, "not only a reset");
}

#[test]
fn a_short_refused_body_is_read_away_and_the_connection_lives() {
    let upstream = Upstream::start();
    let gate = Gate::start(&limited(upstream.address, NONE));
    let mut connection = Connection::open(gate.address);
    for _ in 0..3 {
        connection.send(request("POST", "/", &[("content-length", "32")]));
        assert_eq!(connection.reply().status, 429);
        connection.send("GET /smuggled HTTP/1.1\r\n\r\n--\r\n-\r");
    }
    connection.send(request("POST", "/", &[("transfer-encoding", "chunked")]));
    connection.send("3\r\nabc\r\n0\r\n\r\n");
    assert_eq!(connection.reply().status, 429);
    assert_eq!(connection.get("/").status, 429);
}

#[test]
fn a_body_is_asked_for_only_where_it_is_wanted() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    let fields = [("content-length", "5"), ("expect", "100-continue")];
    connection.send(request("POST", "/echo", &fields));
    assert_eq!(connection.head().status, 100);
    connection.send("hello");
    assert_eq!(connection.reply().text(), "hello");

    let gate = Gate::start(&limited(upstream.address, NONE));
    let mut connection = Connection::open(gate.address);
    connection.send(request("POST", "/echo", &fields));
    let refused = connection.reply();
    assert_eq!(refused.status, 429, "and no 100 before it");
    assert_eq!(
        refused.header("connection").as_deref(),
        Some("close"),
        "whether the body comes is not known"
    );
}

/// hyper once sent such a request on without its body: a GET need not have one, but this one has.
#[test]
fn a_body_of_unknown_length_passes_with_any_method() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    for method in ["GET", "POST", "DELETE", "OPTIONS", "QUERY"] {
        connection.send(request(method, "/echo", &[("transfer-encoding", "chunked")]));
        connection.send("5\r\nhello\r\n0\r\n\r\n");
        assert_eq!(connection.reply().text(), "hello", "{method}");
    }
    let mut client = H2::open(gate.address);
    let asked = Request::get("http://test/echo").body(pieces(&["one", "two"], HeaderMap::new()));
    assert_eq!(client.send(asked.expect("a request")).expect("an answer").text(), "onetwo");
    let head = Request::head("http://test/echo").body(pieces(&["one"], HeaderMap::new()));
    assert_eq!(client.send(head.expect("a request")).expect("an answer").status, 200);
    assert_eq!(upstream.last().body, 3);
}

#[test]
fn a_client_that_stops_within_its_body_is_408() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open_with(upstream.address, "gateway: { body_timeout: 150ms }"));
    let mut connection = Connection::open(gate.address);
    connection.send(request("POST", "/echo", &[("content-length", "10")]));
    connection.send("01234");
    let reply = connection.reply();
    assert_eq!((reply.status, reply.header("connection").as_deref()), (408, Some("close")));
    assert!(connection.is_closed());
}

#[test]
fn an_upstream_that_stops_within_its_body_breaks_the_answer_off() {
    let upstream = Raw::start(|stream, _| {
        if Raw::head(stream).is_some() {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n01234");
            let mut rest = [0; 1];
            let _ = std::io::Read::read(stream, &mut rest);
        }
    });
    let gate = Gate::start(&open_with(upstream.address, "gateway: { body_timeout: 150ms }"));
    let mut connection = Connection::open(gate.address);
    connection.send(request("GET", "/", &[]));
    assert_eq!(connection.head().status, 200);
    let mut body = [0; 16];
    let mut length = 0;
    while let read @ 1.. = connection.read(&mut body) {
        length += read;
    }
    assert_eq!(length, 5);
    let late = format!(
        "tollgate_upstream_errors_total{{pool=\"app\",server=\"{}\",error=\"timeout\"}}",
        upstream.address
    );
    assert_eq!(gate.metric(&late), 1.0);
}

#[test]
fn an_early_answer_passes_while_the_upload_goes_on() {
    let upstream = Raw::start(|stream, _| {
        if Raw::head(stream).is_some() {
            Raw::answer(stream, "enough");
            let mut rest = vec![0; 64 * 1024];
            while matches!(std::io::Read::read(stream, &mut rest), Ok(1..)) {}
        }
    });
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    connection.send(request("POST", "/", &[("content-length", "1000000")]));
    assert_eq!(connection.reply().text(), "enough");
    drop(connection);
    until("the connection has ended", || gate.handle.connections() == 0);
}
