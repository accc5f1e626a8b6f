//! HTTP/2 to servers.

use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use h2::server::SendResponse;
use http::{Request, Response};

use crate::harness::{Connection, Gate, Nginx, Raw, Setup, Speech, Upstream, request, until};
use crate::policies::{of_pool, of_server, pool};

fn upstream() -> Upstream {
    Upstream::speaking(Speech { http2: true, ..Speech::default() })
}

fn over_http2(upstream: &Upstream) -> Gate {
    let setup = Setup { workers: 1, ..Setup::default() };
    Gate::with(&pool(&[&upstream.address], ", http2: true"), setup)
}

#[test]
fn requests_pass_in_its_form() {
    let upstream = upstream();
    let gate = over_http2(&upstream);
    let mut connection = Connection::open(gate.address);
    let fields = [("x-kept", "1"), ("connection", "x-own"), ("x-own", "1"), ("keep-alive", "9")];
    assert_eq!(connection.ask("GET", "/a/../b?c=%64", &fields).status, 200);
    let seen = upstream.last();
    assert_eq!((seen.method.as_str(), seen.target.as_str()), ("GET", "http://test/b?c=%64"));
    assert_eq!(seen.header("x-kept"), Some("1"));
    for gone in ["connection", "x-own", "keep-alive", "host"] {
        assert_eq!(seen.header(gone), None, "{gone}");
    }
    let answered = connection.get("/status/404");
    assert_eq!((answered.version.as_str(), answered.status), ("HTTP/1.1", 404));
    assert_eq!(connection.ask("HEAD", "/", &[]).status, 200);
    assert_eq!(connection.get("/bytes/2000000").body.len(), 2_000_000);
}

#[test]
fn many_requests_share_one_connection() {
    let upstream = upstream();
    let gate = over_http2(&upstream);
    let mut held: Vec<_> = (0..32)
        .map(|_| {
            let mut connection = Connection::open(gate.address);
            connection.send(request("GET", "/hold", &[]));
            connection
        })
        .collect();
    until("all are on their way", || upstream.begun() == 32);
    assert_eq!(upstream.connections(), 1);
    upstream.let_go();
    for connection in &mut held {
        assert_eq!(connection.reply().status, 200);
    }
    assert_eq!(gate.metric(&of_server("connections", upstream.address, "")), 1.0);
}

#[test]
fn another_connection_is_opened_where_the_peer_allows_few_streams() {
    let upstream =
        Upstream::speaking(Speech { http2: true, most_streams: Some(2), ..Speech::default() });
    let gate = over_http2(&upstream);
    // The peer has said by then how many streams it allows.
    assert_eq!(Connection::open(gate.address).get("/").status, 200);
    let mut held: Vec<_> = (0..20)
        .map(|count| {
            let mut connection = Connection::open(gate.address);
            connection.send(request("GET", "/hold", &[]));
            let most = 1 + (count + 1).min(16);
            until("it is on its way", || upstream.begun() == most);
            connection
        })
        .collect();
    assert_eq!(upstream.connections(), 8, "a few connections, and what does not fit waits");
    upstream.let_go();
    for connection in &mut held {
        assert_eq!(connection.reply().status, 200);
    }
    assert_eq!(upstream.seen().len(), 21);
}

#[test]
fn a_grpc_call_passes_with_its_trailers() {
    let upstream = upstream();
    let gate = over_http2(&upstream);
    let mut connection = Connection::open(gate.address);
    let fields = [
        ("content-type", "application/grpc"),
        ("te", "trailers"),
        ("connection", "te"),
        ("transfer-encoding", "chunked"),
        ("trailer", "x-sum"),
    ];
    connection.send(request("POST", "/grpc/shop.v1.Orders/Get", &fields));
    connection.send("7\r\n\0\0\0\0\x02\x08\x07\r\n0\r\nx-sum: 7\r\n\r\n");
    let reply = connection.reply();
    assert_eq!((reply.status, &reply.body[..]), (200, &b"\0\0\0\0\x02\x08\x07"[..]));
    assert_eq!(reply.trailers, [("grpc-status".to_owned(), "0".to_owned())]);
    let seen = upstream.last();
    assert_eq!((seen.header("te"), seen.body), (Some("trailers"), 7));
    let trailers = seen.trailers.expect("trailers came through");
    assert_eq!(trailers["x-sum"], "7");
}

#[test]
fn a_client_that_leaves_resets_its_stream_and_no_other() {
    let upstream = upstream();
    let gate = over_http2(&upstream);
    let mut stays = Connection::open(gate.address);
    stays.send(request("GET", "/hold", &[]));
    until("one is on its way", || upstream.begun() == 1);
    let mut leaves = Connection::open(gate.address);
    leaves.send(request("POST", "/echo", &[("content-length", "10")]));
    leaves.send("half");
    until("the other is, too", || upstream.begun() == 2);
    drop(leaves);
    until("its stream has ended", || upstream.broken_off() == 1);
    upstream.let_go();
    assert_eq!(stays.reply().status, 200);
    assert_eq!(upstream.connections(), 1);
}

#[test]
fn an_upgrade_is_not_passed_on() {
    let upstream = upstream();
    let gate = over_http2(&upstream);
    let fields = [("connection", "upgrade"), ("upgrade", "websocket")];
    let reply = Connection::open(gate.address).ask("GET", "/", &fields);
    assert_eq!(reply.status, 200, "a server need not upgrade");
    assert_eq!(upstream.last().header("upgrade"), None);
}

#[test]
fn nginx_takes_http2_by_prior_knowledge() {
    let Some(nginx) = Nginx::listening("http2", "location / { return 200 $server_protocol; }")
    else {
        return;
    };
    let gate = Gate::start(&pool(&[&nginx.address], ", http2: true"));
    let mut connection = Connection::open(gate.address);
    for _ in 0..2_000 {
        // By default it says goodbye after a thousand requests on a connection.
        assert_eq!(connection.get("/").text(), "HTTP/2.0");
    }
}

/// A server that does with the streams of each of its connections what `script` says.
pub(crate) fn scripted(
    script: impl Fn(usize, usize, Request<h2::RecvStream>, SendResponse<Bytes>) -> Next
    + Send
    + Sync
    + 'static,
) -> Raw {
    let script = Arc::new(script);
    Raw::start(move |stream, number| {
        let stream = stream.try_clone().expect("a socket");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(play(stream, number, &*script));
    })
}

/// What comes after a stream.
pub(crate) enum Next {
    GoOn,
    /// The peer is told that there will be no more.
    GoAway,
}

async fn play(
    stream: TcpStream,
    number: usize,
    script: &(
         dyn Fn(usize, usize, Request<h2::RecvStream>, SendResponse<Bytes>) -> Next + Send + Sync
     ),
) {
    stream.set_nonblocking(true).expect("a socket");
    let stream = tokio::net::TcpStream::from_std(stream).expect("a socket");
    let Ok(mut connection) = h2::server::handshake(stream).await else { return };
    let mut count = 0;
    while let Some(Ok((request, respond))) = connection.accept().await {
        if matches!(script(number, count, request, respond), Next::GoAway) {
            connection.graceful_shutdown();
        }
        count += 1;
    }
}

fn answer(mut respond: SendResponse<Bytes>, body: &'static str) {
    if let Ok(mut stream) = respond.send_response(Response::new(()), false) {
        let _ = stream.send_data(Bytes::from_static(body.as_bytes()), true);
    }
}

#[test]
fn a_refused_stream_goes_again_whatever_its_method() {
    let upstream = scripted(|_, count, _, mut respond| {
        match count % 2 {
            0 => respond.send_reset(h2::Reason::REFUSED_STREAM),
            _ => answer(respond, "taken"),
        }
        Next::GoOn
    });
    let gate = Gate::start(&pool(&[&upstream.address], ", http2: true"));
    let mut connection = Connection::open(gate.address);
    for method in ["GET", "POST", "DELETE", "POST"] {
        let reply = connection.ask(method, "/", &[("content-length", "0")]);
        assert_eq!((reply.status, reply.text().as_str()), (200, "taken"), "{method}");
    }
    let again = of_pool("retries_total", ",reason=\"unprocessed\"");
    assert_eq!(gate.metric(&again), 4.0);
}

#[test]
fn a_server_that_refuses_every_stream_is_a_bad_gateway() {
    let taken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&taken);
    let upstream = scripted(move |_, _, _, mut respond| {
        count.fetch_add(1, Ordering::SeqCst);
        respond.send_reset(h2::Reason::REFUSED_STREAM);
        Next::GoOn
    });
    let gate = Gate::start(&pool(&[&upstream.address], ", http2: true"));
    assert_eq!(Connection::open(gate.address).get("/").status, 502);
    assert!(taken.load(Ordering::SeqCst) <= 3, "it is not asked for ever");
}

#[test]
fn a_reset_for_another_reason_is_no_licence_to_send_again() {
    let taken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&taken);
    let upstream = scripted(move |_, _, _, mut respond| {
        count.fetch_add(1, Ordering::SeqCst);
        respond.send_reset(h2::Reason::INTERNAL_ERROR);
        Next::GoOn
    });
    let gate = Gate::start(&pool(&[&upstream.address], ", http2: true"));
    let reply = Connection::open(gate.address).ask("POST", "/", &[("content-length", "0")]);
    assert_eq!((reply.status, taken.load(Ordering::SeqCst)), (502, 1));
}

#[test]
fn a_connection_that_goes_away_loses_nothing() {
    // Each connection serves three requests and says so only then.
    let upstream = scripted(|_, count, _, respond| {
        answer(respond, "served");
        if count == 2 { Next::GoAway } else { Next::GoOn }
    });
    let gate = Gate::start(&pool(&[&upstream.address], ", http2: true"));
    let mut clients: Vec<_> = (0..4).map(|_| Connection::open(gate.address)).collect();
    for _ in 0..10 {
        for client in &mut clients {
            let reply = client.ask("POST", "/", &[("content-length", "0")]);
            assert_eq!((reply.status, reply.text().as_str()), (200, "served"));
        }
    }
    assert!(upstream.connections() >= 8, "{}", upstream.connections());
}

#[test]
fn what_came_after_the_last_stream_of_a_goaway_goes_again() {
    let upstream = Raw::start(|stream, number| {
        if number == 0 {
            unprocessed(stream);
        } else {
            let stream = stream.try_clone().expect("a socket");
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let served = |_: usize, _: usize, _: Request<h2::RecvStream>, respond| {
                answer(respond, "second");
                Next::GoOn
            };
            runtime.expect("a runtime").block_on(play(stream, number, &served));
        }
    });
    let gate = Gate::start(&pool(&[&upstream.address], ", http2: true"));
    let reply = Connection::open(gate.address).ask("POST", "/", &[("content-length", "0")]);
    assert_eq!((reply.status, reply.text().as_str()), (200, "second"));
    assert_eq!(gate.metric(&of_pool("retries_total", ",reason=\"unprocessed\"")), 1.0);
}

/// Reads a request and says that it was not looked at: `GOAWAY` with last stream 0.
fn unprocessed(stream: &mut TcpStream) {
    use std::io::{Read, Write};
    const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    const GOAWAY: [u8; 17] = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let mut preface = [0; 24];
    if stream.read_exact(&mut preface).is_err() || stream.write_all(&SETTINGS).is_err() {
        return;
    }
    loop {
        let mut head = [0; 9];
        if stream.read_exact(&mut head).is_err() {
            return;
        }
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        if stream.read_exact(&mut payload).is_err() {
            return;
        }
        // HEADERS: the request has begun.
        if head[3] == 1 {
            let _ = stream.write_all(&GOAWAY);
            let _ = std::io::copy(stream, &mut std::io::sink());
            return;
        }
    }
}
