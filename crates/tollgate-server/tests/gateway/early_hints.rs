//! Interim answers (1xx): who gets them, in which place among the answers, and how many.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::harness::http2::H2;
use crate::harness::tls::{Authority, connect};
use crate::harness::{Connection, Gate, Raw, Reply, Upstream, request, until};
use crate::policies::{limited, pool, pool_with};

const HINTS: &str = "HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n\r\n";
const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// A server that answers every request with `answer`.
fn saying(answer: impl Into<String>) -> Raw {
    let answer = answer.into();
    Raw::start(move |stream, _| {
        while Raw::head(stream).is_some() {
            let _ = stream.write_all(answer.as_bytes());
        }
    })
}

fn hinting(upstream: &Raw) -> Gate {
    Gate::start(&pool(&[&upstream.address], ", early_hints: true"))
}

/// The statuses of what comes up to a final answer, and that.
#[track_caller]
fn all(connection: &mut Connection) -> (Vec<u16>, Reply) {
    let mut interim = Vec::new();
    loop {
        let reply = connection.reply();
        if reply.status >= 200 {
            return (interim, reply);
        }
        interim.push(reply.status);
    }
}

fn counted(gate: &Gate, result: &str) -> f64 {
    gate.metric(&format!("tollgate_interim_answers_total{{result=\"{result}\"}}"))
}

#[test]
fn they_come_before_their_answer_and_count_as_none() {
    let more = "HTTP/1.1 102 Processing\r\nconnection: close, x-own\r\nx-own: 1\r\n\r\n";
    let upstream = saying(format!("HTTP/1.1 100 Continue\r\n\r\n{HINTS}{more}{OK}"));
    let gate = hinting(&upstream);
    let mut connection = Connection::open(gate.address);
    for _ in 0..3 {
        connection.send(request("GET", "/", &[]));
        let hints = connection.reply();
        assert_eq!((hints.version.as_str(), hints.status), ("HTTP/1.1", 103));
        assert_eq!(hints.headers, [("link".to_owned(), "</a.css>; rel=preload".to_owned())]);
        let processing = connection.reply();
        assert_eq!((processing.status, processing.headers.len()), (102, 0));
        let reply = connection.reply();
        assert_eq!((reply.status, reply.text().as_str(), reply.header("link")), (200, "ok", None));
    }
    assert_eq!((upstream.connections(), counted(&gate, "passed")), (1, 6.0));
    let answered = |status| {
        let of = format!("pool=\"app\",server=\"{}\",status=\"{status}\"", upstream.address);
        gate.metric(&format!("tollgate_upstream_responses_total{{{of}}}"))
    };
    assert_eq!((answered("1xx"), answered("2xx")), (0.0, 3.0));
}

#[test]
fn they_come_at_once() {
    let (go, gone) = std::sync::mpsc::channel::<()>();
    let gone = std::sync::Mutex::new(gone);
    let upstream = Raw::start(move |stream, _| {
        while Raw::head(stream).is_some() {
            for _ in 0..2 {
                let _ = stream.write_all(HINTS.as_bytes());
                let _ = gone.lock().map(|gone| gone.recv());
            }
            let _ = stream.write_all(OK.as_bytes());
        }
    });
    let gate = hinting(&upstream);
    let mut connection = Connection::open(gate.address);
    for _ in 0..2 {
        connection.send(request("GET", "/", &[]));
        for _ in 0..2 {
            assert_eq!(connection.head().status, 103, "while the server still thinks");
            go.send(()).expect("a server");
        }
        assert_eq!(connection.reply().status, 200);
    }
}

#[test]
fn only_those_get_them_who_can_and_where_a_policy_says_so() {
    let upstream = saying(format!("{HINTS}{OK}"));
    let gate = Gate::start(&pool(&[&upstream.address], ""));
    let mut connection = Connection::open(gate.address);
    assert_eq!(connection.get("/").status, 200, "off unless said otherwise");
    let gate = hinting(&upstream);
    let mut old = Connection::open(gate.address);
    old.send("GET / HTTP/1.0\r\nhost: a\r\n\r\n");
    assert_eq!(old.reply().text(), "ok", "HTTP/1.0 knows none");
    assert_eq!(H2::open(gate.address).get("/").text(), "ok");
    assert_eq!(counted(&gate, "passed"), 0.0);
}

#[test]
fn a_refused_request_has_none() {
    let upstream = saying(format!("{HINTS}{OK}"));
    let limit = "{ key: [], sliding_log: { limit: 1, window: 1m } }";
    let policy = limited(upstream.address, limit).replace("] } }", "], early_hints: true } }");
    let gate = Gate::start(&policy);
    let mut connection = Connection::open(gate.address);
    connection.send(request("GET", "/", &[]).repeat(2));
    assert_eq!(all(&mut connection).0, [103]);
    let (interim, refused) = all(&mut connection);
    assert_eq!((interim.len(), refused.status), (0, 429));
}

/// Requests one behind the other, of a client that reads nothing until all have been sent: what is half out stays whole.
#[test]
fn among_pipelined_answers_each_stands_before_its_own() {
    let body = "x".repeat(3_000_000);
    let large = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let upstream = saying(format!("{HINTS}{HINTS}{large}"));
    let gate = hinting(&upstream);
    let mut connection = Connection::open(gate.address);
    connection.send(request("GET", "/", &[]).repeat(4));
    until("the first is on its way", || upstream.connections() == 1);
    std::thread::sleep(std::time::Duration::from_millis(100));
    for _ in 0..4 {
        let (interim, reply) = all(&mut connection);
        assert_eq!((interim, reply.body.len()), (vec![103, 103], body.len()));
    }
}

#[test]
fn a_client_that_waits_for_100_gets_both() {
    let upstream = Raw::start(|stream, _| {
        while Raw::head(stream).is_some() {
            let _ = stream.write_all(HINTS.as_bytes());
            let mut body = [0; 5];
            let _ = stream.read_exact(&mut body);
            let _ = stream.write_all(OK.as_bytes());
        }
    });
    let gate = hinting(&upstream);
    let mut connection = Connection::open(gate.address);
    connection.send(request("POST", "/", &[("content-length", "5"), ("expect", "100-continue")]));
    let mut interim = [connection.head().status, connection.head().status];
    interim.sort_unstable();
    assert_eq!(interim, [100, 103]);
    connection.send("hello");
    assert_eq!(all(&mut connection).1.text(), "ok");
}

#[test]
fn too_many_are_dropped() {
    let large = format!("HTTP/1.1 103 Early Hints\r\nlink: {}\r\n\r\n", "a".repeat(20_000));
    let upstream = saying(format!("{large}{}{OK}", HINTS.repeat(1_000)));
    let gate = hinting(&upstream);
    let mut connection = Connection::open(gate.address);
    connection.send(request("GET", "/", &[]));
    let (interim, reply) = all(&mut connection);
    assert_eq!((interim.len(), reply.text().as_str()), (16, "ok"));
    assert_eq!((counted(&gate, "passed"), counted(&gate, "dropped")), (16.0, 985.0));
}

#[test]
fn they_come_before_a_failure_too_and_a_client_that_leaves_costs_nothing() {
    let upstream = Raw::start(|stream: &mut TcpStream, number| {
        let Some(_) = Raw::head(stream) else { return };
        let _ = stream.write_all(HINTS.as_bytes());
        if number > 0 {
            // The client is gone by then: it is told by the end of its connection.
            let _ = stream.read(&mut [0]);
        }
    });
    let gate = hinting(&upstream);
    let mut connection = Connection::open(gate.address);
    connection.send(request("POST", "/", &[("content-length", "0")]));
    let (interim, reply) = all(&mut connection);
    assert_eq!((interim, reply.status), (vec![103], 502));
    connection.send(request("POST", "/", &[("content-length", "0")]));
    assert_eq!(connection.head().status, 103);
    drop(connection);
    until("nothing is left", || gate.metric("tollgate_requests_in_flight") == 0.0);
}

#[test]
fn an_upgrade_may_follow() {
    let agreed =
        "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\nhi";
    let upstream = saying(format!("{HINTS}{agreed}"));
    let gate = hinting(&upstream);
    let mut connection = Connection::open(gate.address);
    connection.send(request("GET", "/", &[("connection", "upgrade"), ("upgrade", "echo")]));
    assert_eq!([connection.head().status, connection.head().status], [103, 101]);
    let mut hi = [0; 2];
    assert_eq!((connection.read(&mut hi), &hi), (2, b"hi"));
}

#[test]
fn they_pass_through_tls() {
    let (upstream, authority) = (saying(format!("{HINTS}{OK}")), Authority::new());
    authority.sign("a", &["a.example"]);
    let listeners = format!(
        "listeners: {{ web: {{ listen: 127.0.0.1:0, tls: {{ certificates: [{}] }} }} }}",
        authority.pair("a")
    );
    let gate = Gate::of(&pool_with(&[&upstream.address], ", early_hints: true", &listeners));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let reply = runtime.expect("a runtime").block_on(async {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let client = authority.client(&[], None);
        let stream = connect(&client, gate.listener("web"), "a.example").await;
        let mut stream = stream.expect("a handshake");
        let asked = request("GET", "/", &[("connection", "close")]);
        stream.write_all(asked.as_bytes()).await.expect("it is taken");
        let mut reply = String::new();
        stream.read_to_string(&mut reply).await.expect("text");
        reply
    });
    assert!(reply.starts_with(&format!("{HINTS}HTTP/1.1 200 OK\r\n")), "{reply}");
}

/// Over HTTP/2 a server's hints are its own affair: the library shows them to nobody.
#[test]
fn a_server_of_http2_answers_as_ever() {
    let upstream = Upstream::speaking(crate::harness::Speech { http2: true, ..Default::default() });
    let gate = Gate::start(&pool(&[&upstream.address], ", http2: true, early_hints: true"));
    let mut connection = Connection::open(gate.address);
    assert_eq!(connection.get("/bytes/3").text(), "xxx");
}
