//! Active health checks, over HTTP and gRPC.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response};

use crate::harness::{Connection, Gate, Raw, Upstream, until};
use crate::policies::{of_server, pool};

/// A service that serves requests whatever its health is, which `status` says.
fn service(status: &Arc<AtomicUsize>) -> (Raw, Arc<AtomicUsize>) {
    let (status, asked) = (Arc::clone(status), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&asked);
    let raw = Raw::start(move |stream, _| {
        while let Some(head) = Raw::head(stream) {
            if head.starts_with("GET /health?deep=1 HTTP/1.1\r\n") {
                assert!(head.contains("host: app.internal\r\n"), "{head}");
                let status = status.load(Ordering::SeqCst);
                let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n");
                let _ = stream.write_all(answer.as_bytes());
            } else {
                count.fetch_add(1, Ordering::SeqCst);
                Raw::answer(stream, "served");
            }
        }
    });
    (raw, asked)
}

const CHECKED: &str = ", health_check: { path: \"/health?deep=1\", host: app.internal, every: 100ms, \
                       timeout: 100ms, failures: 2, successes: 2, status: [200, 204] }";

#[test]
fn a_server_that_is_not_well_gets_no_requests_until_it_is() {
    let status = Arc::new(AtomicUsize::new(200));
    let (sick, asked) = service(&status);
    let (well, _) = service(&Arc::new(AtomicUsize::new(204)));
    let gate = Gate::start(&pool(&[&sick.address, &well.address], CHECKED));
    let healthy = of_server("healthy", sick.address, "");
    let passed = of_server("health_checks_total", sick.address, ",result=\"ok\"");
    until("it was checked", || gate.metric(&passed) >= 2.0);
    assert_eq!(gate.metric(&healthy), 1.0);

    status.store(503, Ordering::SeqCst);
    until("it is left out", || gate.metric(&healthy) == 0.0);
    let before = asked.load(Ordering::SeqCst);
    let mut connection = Connection::open(gate.address);
    for _ in 0..20 {
        assert_eq!(connection.get("/").text(), "served");
    }
    assert_eq!(asked.load(Ordering::SeqCst), before);
    let failed = of_server("health_checks_total", sick.address, ",result=\"failed\"");
    assert!(gate.metric(&failed) >= 2.0);

    status.store(204, Ordering::SeqCst);
    until("it is back", || gate.metric(&healthy) == 1.0);
    for _ in 0..20 {
        assert_eq!(connection.get("/").text(), "served");
    }
    assert!(asked.load(Ordering::SeqCst) > before);
}

#[test]
fn all_are_asked_where_none_is_well() {
    let status = Arc::new(AtomicUsize::new(500));
    let (one, asked) = service(&status);
    let (other, _) = service(&status);
    let gate = Gate::start(&pool(&[&one.address, &other.address], CHECKED));
    for server in [one.address, other.address] {
        until("it is left out", || gate.metric(&of_server("healthy", server, "")) == 0.0);
    }
    assert_eq!(gate.handle.upstreams_note().as_deref(), Some("no server does well of: app"));
    let mut connection = Connection::open(gate.address);
    for _ in 0..10 {
        assert_eq!(connection.get("/").text(), "served");
    }
    assert!(asked.load(Ordering::SeqCst) > 0);
}

#[test]
fn a_server_that_is_silent_or_gone_is_not_well() {
    let silent = Raw::start(|stream, _| {
        let _ = std::io::copy(stream, &mut std::io::sink());
    });
    let gone = Raw::start(|_, _| {});
    let address = gone.address;
    drop(gone);
    let upstream = Upstream::start();
    let more = ", health_check: { path: /status/200, every: 100ms, timeout: 50ms, failures: 2 }";
    let gate = Gate::start(&pool(&[&silent.address, &address, &upstream.address], more));
    for server in [silent.address, address] {
        until("it is left out", || gate.metric(&of_server("healthy", server, "")) == 0.0);
    }
    let mut connection = Connection::open(gate.address);
    for _ in 0..10 {
        assert_eq!(connection.get("/").status, 200);
    }
}

#[test]
fn checks_end_with_the_policy_that_asked_for_them() {
    let status = Arc::new(AtomicUsize::new(500));
    let (sick, asked) = service(&status);
    let gate = Gate::start(&pool(&[&sick.address], CHECKED));
    let healthy = of_server("healthy", sick.address, "");
    until("it is left out", || gate.metric(&healthy) == 0.0);
    gate.reload(&pool(&[&sick.address], ""));
    until("it is used", || gate.metric(&healthy) == 1.0);
    assert_eq!(Connection::open(gate.address).get("/").text(), "served");
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

/// A gRPC service whose health of `shop.v1.Orders` is `status`, by its number in the protocol.
fn grpc_service(status: &Arc<AtomicU8>) -> Raw {
    let status = Arc::clone(status);
    Raw::start(move |stream, _| {
        let stream = stream.try_clone().expect("a socket");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(serve(stream, &status));
    })
}

async fn serve(stream: TcpStream, status: &AtomicU8) {
    stream.set_nonblocking(true).expect("a socket");
    let stream = tokio::net::TcpStream::from_std(stream).expect("a socket");
    let Ok(mut connection) = h2::server::handshake(stream).await else { return };
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        let head = Response::builder().header("content-type", "application/grpc");
        let head = head.body(()).expect("a head");
        let Ok(mut stream) = respond.send_response(head, false) else { return };
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", HeaderValue::from_static("0"));
        if request.uri().path() == "/grpc.health.v1.Health/Check" {
            assert_eq!(request.headers()["content-type"], "application/grpc");
            let status = status.load(Ordering::SeqCst);
            if status == u8::MAX {
                trailers.insert("grpc-status", HeaderValue::from_static("5"));
            } else {
                let message = Bytes::from(vec![0, 0, 0, 0, 2, 8, status]);
                let _ = stream.send_data(message, false);
            }
        }
        let _ = stream.send_trailers(trailers);
    }
}

#[test]
fn a_grpc_service_says_how_it_is() {
    let status = Arc::new(AtomicU8::new(1));
    let (one, other) = (grpc_service(&status), grpc_service(&Arc::new(AtomicU8::new(1))));
    let more = ", http2: true, \
                health_check: { grpc: shop.v1.Orders, every: 100ms, timeout: 100ms, failures: 1, successes: 1 }";
    let gate = Gate::start(&pool(&[&one.address, &other.address], more));
    let healthy = of_server("healthy", one.address, "");
    let passed = of_server("health_checks_total", one.address, ",result=\"ok\"");
    until("it was checked", || gate.metric(&passed) >= 2.0);
    for ill in [2, 3, 0, u8::MAX] {
        status.store(ill, Ordering::SeqCst);
        until("it is left out", || gate.metric(&healthy) == 0.0);
        status.store(1, Ordering::SeqCst);
        until("it is back", || gate.metric(&healthy) == 1.0);
    }
    assert_eq!(Connection::open(gate.address).get("/").status, 200);
}
