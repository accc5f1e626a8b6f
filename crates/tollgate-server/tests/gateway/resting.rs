//! Connections in a longer silence: what is kept of them, and that nobody notices.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::client::TlsStream;

use crate::harness::http2::H2;
use crate::harness::tls::{Authority, connect};
use crate::harness::{Connection, Gate, Setup, Upstream, request, until};
use crate::policies::{open, open_with};

const ASK: [(&str, &str); 2] = [("connection", "Upgrade"), ("upgrade", "echo")];

/// A gateway of one thread, on which silences end in the order in which they began.
fn gate(yaml: &str) -> Gate {
    Gate::with(yaml, Setup { workers: 1, ..Setup::default() })
}

/// Waits until so many connections rest.
#[track_caller]
fn until_rest(gate: &Gate, many: f64) {
    until("they rest", || gate.metric("tollgate_connections_at_rest") == many);
}

/// A connection that asked, and rests.
#[track_caller]
fn rested(gate: &Gate) -> Connection {
    let before = gate.metric("tollgate_connections_at_rest");
    let mut connection = Connection::open(gate.address);
    assert_eq!(connection.get("/first").status, 200);
    until_rest(gate, before + 1.0);
    connection
}

#[test]
fn who_rested_is_answered_as_before() {
    let upstream = Upstream::start();
    let gate = gate(&open(upstream.address));
    let mut connection = rested(&gate);
    for _ in 0..2 {
        assert_eq!(connection.get("/again").status, 200);
        assert_eq!(upstream.last().header("x-forwarded-for"), Some("127.0.0.1"));
        assert_eq!(gate.metric("tollgate_connections_at_rest"), 0.0, "it is served");
        assert_eq!(gate.metric("tollgate_connections"), 1.0);
        until_rest(&gate, 1.0);
    }
    let reply = connection.ask("POST", "/status/204", &[("content-length", "0")]);
    assert_eq!(reply.status, 204);
    assert_eq!(gate.handle.connections(), 1, "it kept its place");
}

#[test]
fn who_has_not_asked_rests_at_once() {
    let upstream = Upstream::start();
    let gate = gate(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    until_rest(&gate, 1.0);
    assert_eq!(gate.metric("tollgate_connections"), 1.0);
    assert_eq!(connection.get("/").status, 200);
    // Also where it turns out to speak HTTP/2.
    let mut client = H2::open(gate.address);
    assert_eq!(client.get("/").version, "HTTP/2.0");
}

#[test]
fn a_request_may_come_in_pieces_after_a_rest() {
    let upstream = Upstream::start();
    let gate = gate(&open(upstream.address));
    let mut connection = rested(&gate);
    connection.send("P");
    until_rest(&gate, 0.0);
    let whole = "POST /pieces HTTP/1.1\r\nhost: test\r\ncontent-length: 6\r\n\r\nabcdef";
    for byte in whole.as_bytes().iter().skip(1) {
        connection.send([*byte]);
    }
    assert_eq!(connection.reply().text(), "abcdef");
    until_rest(&gate, 1.0);
    // A body whose end comes long after its begin: nothing rests within a request.
    connection.send(
        "POST /slow HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
    );
    until("it is on its way", || upstream.begun() == 3);
    let _other = rested(&gate);
    assert_eq!(gate.metric("tollgate_connections_at_rest"), 1.0, "the other");
    connection.send("2\r\nde\r\n0\r\n\r\n");
    assert_eq!(connection.reply().text(), "abcde");
}

#[test]
fn requests_that_come_together_are_answered_in_turn_after_a_rest() {
    let upstream = Upstream::start();
    let gate = gate(&open(upstream.address));
    let mut connection = rested(&gate);
    connection.send([request("GET", "/bytes/3", &[]), request("GET", "/bytes/5", &[])].concat());
    assert_eq!(connection.reply().text(), "xxx");
    assert_eq!(connection.reply().text(), "xxxxx");
}

#[test]
fn what_was_read_of_a_next_request_is_not_lost() {
    let upstream = Upstream::start();
    let gate = gate(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    let next = request("GET", "/bytes/7", &[("x-last", "one")]);
    let (begin, end) = next.split_at(20);
    connection.send([&request("GET", "/bytes/2", &[]), begin].concat());
    assert_eq!(connection.reply().text(), "xx");
    // Its silence began before that of another one, which rests by now.
    let _other = rested(&gate);
    assert_eq!(gate.metric("tollgate_connections_at_rest"), 1.0, "it has begun a request");
    connection.send(end);
    assert_eq!(connection.reply().text(), "xxxxxxx");
    assert_eq!(upstream.last().header("x-last"), Some("one"));
    until_rest(&gate, 2.0);
    assert_eq!(connection.get("/").status, 200);
}

#[test]
fn a_next_request_that_only_began_has_the_time_of_a_header() {
    let upstream = Upstream::start();
    let gate = gate(&open_with(upstream.address, "gateway: { header_timeout: 600ms }"));
    let mut connection = Connection::open(gate.address);
    connection.send([&request("GET", "/", &[]), "GET /next HTTP/1.1\r\nho"].concat());
    assert_eq!(connection.reply().status, 200);
    assert_eq!(connection.reply().status, 408);
    assert!(connection.is_closed());
}

#[test]
fn a_tunnel_opens_after_a_rest_and_never_rests() {
    let upstream = Upstream::start();
    let gate = gate(&open(upstream.address));
    let mut tunnel = rested(&gate);
    tunnel.send(request("GET", "/upgrade", &ASK));
    assert_eq!(tunnel.head().status, 101);
    let _other = rested(&gate);
    assert_eq!(gate.metric("tollgate_connections_at_rest"), 1.0, "the other");
    tunnel.send("word");
    let mut echo = [0; 4];
    let mut read = 0;
    while read < echo.len() {
        let more = tunnel.read(&mut echo[read..]);
        assert!(more > 0, "the tunnel ended");
        read += more;
    }
    assert_eq!(&echo, b"word");
}

#[test]
fn http_2_does_not_rest() {
    let upstream = Upstream::start();
    let gate = gate(&open(upstream.address));
    let mut client = H2::open(gate.address);
    assert_eq!(client.get("/").status, 200);
    let _other = rested(&gate);
    assert_eq!(gate.metric("tollgate_connections_at_rest"), 1.0, "the other");
    assert_eq!(client.get("/").status, 200);
}

#[test]
fn who_rests_too_long_is_closed() {
    let upstream = Upstream::start();
    let gate = gate(&open_with(upstream.address, "gateway: { idle_timeout: 1500ms }"));
    let mut connection = rested(&gate);
    assert!(connection.is_closed());
    until("its place is free", || gate.handle.connections() == 0);
    assert_eq!(gate.metric("tollgate_connections"), 0.0);
    assert_eq!(gate.metric("tollgate_connections_at_rest"), 0.0);
}

#[test]
fn who_leaves_while_it_rests_frees_its_place() {
    let upstream = Upstream::start();
    let gate = gate(&open_with(upstream.address, "gateway: { max_connections: 1 }"));
    drop(rested(&gate));
    until("its place is free", || gate.handle.connections() == 0);
    drop(rested(&gate));
    until("its place is free again", || gate.handle.connections() == 0);
    // Who never asked, too.
    let silent = Connection::open(gate.address);
    until_rest(&gate, 1.0);
    assert_eq!(Connection::open(gate.address).reply().status, 503, "the only place is taken");
    drop(silent);
    until("its place is free once more", || gate.handle.connections() == 0);
}

#[test]
fn those_who_rest_are_closed_when_the_gateway_stops() {
    let upstream = Upstream::start();
    let mut gate = gate(&open(upstream.address));
    let mut many: Vec<_> = (0..200)
        .map(|_| {
            let mut connection = Connection::open(gate.address);
            assert_eq!(connection.get("/").status, 200);
            connection
        })
        .collect();
    until_rest(&gate, 200.0);
    gate.stop();
    assert!(many.iter_mut().all(Connection::is_closed));
    gate.ended();
    assert_eq!(gate.metric("tollgate_connections_at_rest"), 0.0);
}

/// Asks over `stream` and reads an answer without a body.
async fn ask(stream: &mut TlsStream<tokio::net::TcpStream>, bytes: impl AsRef<[u8]>) -> String {
    stream.write_all(bytes.as_ref()).await.expect("it takes what is sent");
    let mut reply = Vec::new();
    while !reply.ends_with(b"\r\n\r\n") {
        reply.push(stream.read_u8().await.expect("a whole head"));
    }
    String::from_utf8(reply).expect("text")
}

#[test]
fn tls_rests_and_goes_on_and_the_certificate_is_remembered() {
    let (upstream, authority) = (Upstream::start(), Authority::new());
    authority.sign("a", &["a.example"]);
    authority.sign("billing", &[]);
    let yaml = format!(
        "listeners:\n  web: {{ listen: 127.0.0.1:0, tls: {{ certificates: [{}], client_certificates: {{ authorities: \"{}\", required: true }} }} }}\n\
         identity: {{ service: {{ client_certificate: common_name }} }}\n\
         upstreams: {{ app: {{ servers: [\"{}\"] }} }}\n\
         limits:\n  each: {{ key: [service], sliding_log: {{ limit: 3, window: 1h }} }}\n\
         routes:\n- {{ match: {{ path: /** }}, limits: [each], upstream: app }}\n",
        authority.pair("a"),
        authority.path("authority.pem").display(),
        upstream.address
    );
    let gate = Gate::with(&yaml, Setup { workers: 1, free_port: false, ..Setup::default() });
    let (client, address) = (authority.client(&[], Some("billing")), gate.listener("web"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let mut stream =
        runtime.block_on(connect(&client, address, "a.example")).expect("a connection");
    let request = request("GET", "/status/204", &[]);
    assert!(runtime.block_on(ask(&mut stream, &request)).starts_with("HTTP/1.1 204"));
    until_rest(&gate, 1.0);
    // One and a half.
    let (begin, end) = request.split_at(9);
    let both = [&request, begin].concat();
    assert!(runtime.block_on(ask(&mut stream, both)).starts_with("HTTP/1.1 204"));
    let mut other = runtime.block_on(connect(&client, address, "a.example")).expect("another");
    let refused = crate::harness::request("GET", "/status/204", &[]);
    assert!(runtime.block_on(ask(&mut other, refused)).starts_with("HTTP/1.1 204"), "the third");
    until_rest(&gate, 1.0);
    let reply = runtime.block_on(ask(&mut stream, end));
    assert!(reply.starts_with("HTTP/1.1 429"), "it is the same one as before: {reply}");
    drop((stream, other));
    until("both places are free", || gate.handle.connections() == 0);
}
