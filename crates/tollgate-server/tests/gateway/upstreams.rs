//! Services that are slow, gone, back again, or several.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::harness::{Connection, Gate, Nginx, Raw, Upstream, request, until};
use crate::policies::{open, open_with};

const HELLO: &str = "location / { return 200 \"hello\"; } location /echo { root html; }";

#[test]
fn nginx_is_killed_and_revived() {
    let Some(mut nginx) = Nginx::start(HELLO) else { return };
    let gate = Gate::start(&open(nginx.address));
    let mut connection = Connection::open(gate.address);
    assert_eq!(connection.get("/").text(), "hello");
    nginx.kill();
    let gone = connection.get("/");
    assert_eq!(gone.status, 502);
    assert_eq!(gone.header("content-type").as_deref(), Some("application/problem+json"));
    nginx.revive();
    assert_eq!(connection.get("/").text(), "hello", "a single server is asked even while it rests");
}

#[test]
fn connections_to_nginx_are_kept_and_used_again() {
    let Some(nginx) =
        Nginx::start("keepalive_requests 100000; location / { return 200 $connection_requests; }")
    else {
        return;
    };
    let gate = Gate::with(
        &open(nginx.address),
        crate::harness::Setup { workers: 1, ..Default::default() },
    );
    let mut one = Connection::open(gate.address);
    let mut other = Connection::open(gate.address);
    for count in 0..50 {
        let connection = if count % 2 == 0 { &mut one } else { &mut other };
        assert_eq!(connection.get("/").text(), (count + 1).to_string());
    }
}

#[test]
fn nginx_closes_a_kept_connection_and_nobody_notices() {
    let Some(nginx) = Nginx::start("keepalive_requests 3; location / { return 200 ok; }") else {
        return;
    };
    let gate = Gate::start(&open(nginx.address));
    let mut connection = Connection::open(gate.address);
    for _ in 0..50 {
        assert_eq!(connection.get("/").status, 200);
    }
}

#[test]
fn a_large_file_of_nginx_passes_whole() {
    let Some(nginx) = Nginx::start("location / { root html; } ") else { return };
    let content: Vec<u8> = (0..3_000_000_u32).map(|place| (place % 251) as u8).collect();
    std::fs::write(nginx.folder().join("html/file"), &content).expect("a file");
    let gate = Gate::start(&open(nginx.address));
    let mut connection = Connection::open(gate.address);
    assert_eq!(connection.get("/file").body, content);
    let part = connection.ask("GET", "/file", &[("range", "bytes=10-19")]);
    assert_eq!((part.status, part.body), (206, content[10..20].to_vec()));
    assert_eq!(connection.get("/none").status, 404);
}

#[test]
fn the_next_server_is_asked_where_one_takes_no_connection() {
    let upstream = Upstream::start();
    let closed = Raw::start(|_, _| {});
    let address = closed.address;
    drop(closed);
    until("the port is closed", || std::net::TcpStream::connect(address).is_err());
    let yaml = format!(
        "upstreams: {{ app: {{ servers: [\"{address}\", \"{}\"] }} }}\n\
         routes:\n- {{ match: {{ path: /** }}, limits: [], upstream: app }}\n",
        upstream.address
    );
    let gate = Gate::start(&yaml);
    let mut connection = Connection::open(gate.address);
    for _ in 0..20 {
        connection.send(request("POST", "/echo", &[("content-length", "2")]));
        connection.send("hi");
        assert_eq!(connection.reply().text(), "hi");
    }
    let failed = gate.metric(&format!(
        "tollgate_upstream_errors_total{{pool=\"app\",server=\"{address}\",error=\"connect\"}}"
    ));
    assert!((1.0..20.0).contains(&failed), "{failed} connects failed: it rests in between");
    let healthy = format!("tollgate_upstream_healthy{{pool=\"app\",server=\"{address}\"}}");
    assert_eq!(gate.metric(&healthy), 0.0);
}

#[test]
fn servers_share_the_work() {
    let (one, other) = (Upstream::start(), Upstream::start());
    let yaml = format!(
        "upstreams: {{ app: {{ servers: [\"{}\", \"{}\"] }} }}\n\
         routes:\n- {{ match: {{ path: /** }}, limits: [], upstream: app }}\n",
        one.address, other.address
    );
    let gate = Gate::start(&yaml);
    let mut connection = Connection::open(gate.address);
    for _ in 0..20 {
        assert_eq!(connection.get("/").status, 200);
    }
    assert_eq!((one.seen().len(), other.seen().len()), (10, 10));
}

/// A service that answers the first request of each connection, takes the second and closes without a word.
fn forgetful() -> (Raw, Arc<AtomicUsize>) {
    let taken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&taken);
    let raw = Raw::start(move |stream, _| {
        if Raw::head(stream).is_some() {
            count.fetch_add(1, Ordering::SeqCst);
            Raw::answer(stream, "first");
        }
        if Raw::head(stream).is_some() {
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    (raw, taken)
}

#[test]
fn an_idempotent_request_goes_again_where_a_kept_connection_broke() {
    let (upstream, taken) = forgetful();
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    for _ in 0..4 {
        assert_eq!(connection.get("/").text(), "first");
    }
    assert_eq!((taken.load(Ordering::SeqCst), upstream.connections()), (7, 4));
}

#[test]
fn a_post_never_goes_twice() {
    let (upstream, taken) = forgetful();
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    assert_eq!(connection.get("/").text(), "first");
    assert_eq!(connection.ask("POST", "/", &[("content-length", "0")]).status, 502);
    assert_eq!((taken.load(Ordering::SeqCst), upstream.connections()), (2, 1));
}

#[test]
fn an_upstream_that_says_nothing_is_504() {
    let upstream = Raw::start(|stream, _| {
        if Raw::head(stream).is_some() {
            let _ = std::io::copy(stream, &mut std::io::sink());
        }
    });
    let gate = Gate::start(&open_with(upstream.address, "gateway: { first_byte_timeout: 150ms }"));
    let mut connection = Connection::open(gate.address);
    let late = connection.get("/");
    assert_eq!(late.status, 504);
    assert_eq!(late.header("content-type").as_deref(), Some("application/problem+json"));
    connection.send(request("POST", "/", &[("content-length", "3")]));
    connection.send("abc");
    assert_eq!(connection.reply().status, 504);
    assert_eq!(connection.get("/").status, 504, "the client's connection stays");
}

#[test]
fn a_slow_upload_is_not_a_slow_answer() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open_with(upstream.address, "gateway: { first_byte_timeout: 200ms }"));
    let mut connection = Connection::open(gate.address);
    connection.send(request("POST", "/echo", &[("content-length", "5")]));
    // Longer in all than an answer may take, never silent for that long.
    for byte in ["a", "b", "c", "d", "e"] {
        std::thread::sleep(std::time::Duration::from_millis(80));
        connection.send(byte);
    }
    assert_eq!(connection.reply().text(), "abcde");
}

#[test]
fn a_client_that_is_slow_to_begin_its_body_is_not_a_slow_answer() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open_with(
        upstream.address,
        "gateway: { first_byte_timeout: 100ms, body_timeout: 2s }",
    ));
    let mut connection = Connection::open(gate.address);
    connection.send(request("POST", "/echo", &[("content-length", "2")]));
    std::thread::sleep(std::time::Duration::from_millis(250));
    connection.send("ok");
    assert_eq!(connection.reply().text(), "ok");
    connection.send(request("POST", "/echo", &[("content-length", "2")]));
    assert_eq!(connection.reply().status, 408, "and a silent one is told so");
}

#[test]
fn a_server_that_hangs_up_at_once_is_a_bad_gateway() {
    let upstream = Raw::start(|stream, _| {
        let _ = stream.flush();
    });
    let gate = Gate::start(&open(upstream.address));
    assert_eq!(Connection::open(gate.address).get("/").status, 502);
}

#[test]
fn a_client_that_leaves_takes_its_upstream_request_along() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    connection.send(request("GET", "/hold", &[]));
    until("it is on its way", || upstream.begun() == 1);
    drop(connection);
    until("its connection has ended", || gate.handle.connections() == 0);
    let open =
        format!("tollgate_upstream_connections{{pool=\"app\",server=\"{}\"}}", upstream.address);
    until("the upstream connection has, too", || gate.metric(&open) == 0.0);
    upstream.let_go();
}
