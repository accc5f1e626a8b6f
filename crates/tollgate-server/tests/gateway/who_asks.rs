//! Who is asking, from the body: a bounded part of it is read before the decision, and the upstream gets all of it.

use crate::harness::{Connection, Gate, Reply, Upstream, request, until};

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

/// `/login` takes one request a minute for each account that its body names; the rest of the site is open.
fn by_body(upstream: &Upstream, missing: &str, gateway: &str) -> String {
    format!(
        "gateway: {{ {gateway} }}\n\
         upstreams: {{ app: {{ servers: [\"{}\"] }} }}\n\
         identity: {{ account: [{{ json: /user }}, {{ form: user }}] }}\n\
         limits:\n  it: {{ key: [account], missing: {missing}, sliding_log: {{ limit: 1, window: 1m }} }}\n\
         routes:\n\
         - {{ match: {{ path: /login/** }}, limits: [it], upstream: app }}\n\
         - {{ match: {{ path: /** }}, limits: [], upstream: app }}\n",
        upstream.address
    )
}

fn post(gate: &Gate, path: &str, kind: &str, body: &str) -> Reply {
    let mut connection = Connection::open(gate.address);
    let length = body.len().to_string();
    connection.send(request("POST", path, &[("content-type", kind), ("content-length", &length)]));
    connection.send(body);
    connection.reply()
}

#[test]
fn json_and_forms_are_counted_by_what_they_say() {
    let upstream = Upstream::start();
    let gate = Gate::start(&by_body(&upstream, "reject", ""));
    let login = |kind, body| post(&gate, "/login", kind, body).status;
    assert_eq!(login(JSON, r#"{"user":"ada"}"#), 200);
    assert_eq!(login(JSON, r#"{"x":[],"user":"ada"}"#), 429);
    assert_eq!(login(JSON, r#"{"user":"bob"}"#), 200);
    assert_eq!(login(FORM, "user=ada&password=x"), 429, "it is the same account");
    assert_eq!(login(FORM, "user=eve&password=y"), 200);
    assert_eq!(login(JSON, r#"{"user":"eve"}"#), 429);
    for (kind, body) in [
        (JSON, r#"{"user":"cyd""#),
        (JSON, r#"{"user":["cyd"]}"#),
        (JSON, r#"{"user":"cyd","user":"dan"}"#),
        (JSON, "user=cyd"),
        (FORM, "user=cyd&user=dan"),
        ("text/plain", r#"{"user":"cyd"}"#),
    ] {
        assert_eq!(login(kind, body), 400, "{kind} {body}");
    }
    let coded = [("content-type", JSON), ("content-encoding", "gzip"), ("content-length", "14")];
    let mut connection = Connection::open(gate.address);
    connection.send(request("POST", "/login", &coded));
    connection.send(r#"{"user":"cyd"}"#);
    assert_eq!(connection.reply().status, 400, "compressed");
    assert_eq!(connection.get("/").status, 200, "the connection stays");
    assert_eq!(upstream.begun_for("/login"), 3);
}

#[test]
fn a_body_that_was_read_goes_on_unchanged() {
    let upstream = Upstream::start();
    let gate = Gate::start(&by_body(&upstream, "reject", ""));
    let body = r#"{"user":"ada","x":"é"}"#;
    let reply = post(&gate, "/login", JSON, body);
    assert_eq!((reply.status, reply.text().as_str()), (200, body));
    let seen = upstream.last();
    assert_eq!(seen.header("content-length"), Some(body.len().to_string().as_str()));
    assert_eq!(seen.header("transfer-encoding"), None);

    let mut connection = Connection::open(gate.address);
    let fields = [("content-type", JSON), ("transfer-encoding", "chunked"), ("trailer", "x-sum")];
    connection.send(request("POST", "/login", &fields));
    connection.send("e\r\n{\"user\":\"cam\"}\r\n0\r\n\r\n");
    assert_eq!(connection.reply().text(), r#"{"user":"cam"}"#);
    assert_eq!(connection.get("/").status, 200, "the connection stays");
    connection.send(request("POST", "/login", &fields));
    connection.send("8\r\n{\"user\":\r\n1;ext=1\r\n\"\r\n5\r\nbob\"}\r\n0\r\nx-sum: 7\r\n\r\n");
    let reply = connection.reply();
    assert_eq!((reply.status, reply.text().as_str()), (200, r#"{"user":"bob"}"#));
    let seen = upstream.last();
    assert_eq!(seen.header("content-length"), None);
    assert_eq!(seen.header("transfer-encoding"), Some("chunked"));
    assert_eq!(seen.trailers.expect("trailers")["x-sum"], "7");
    assert!(connection.is_closed(), "behind trailers nothing is served");
}

/// The client waits to be asked for its body, and is, because nobody knows who it is before.
#[test]
fn a_client_that_expects_100_is_told_to_continue() {
    let upstream = Upstream::start();
    let gate = Gate::start(&by_body(&upstream, "reject", ""));
    let fields = [("content-type", JSON), ("content-length", "14"), ("expect", "100-continue")];
    let mut connection = Connection::open(gate.address);
    for status in [200, 429, 429] {
        connection.send(request("POST", "/login", &fields));
        assert_eq!(connection.head().status, 100);
        connection.send(r#"{"user":"ada"}"#);
        let reply = connection.reply();
        assert_eq!((reply.status, reply.header("connection")), (status, None));
    }
    assert_eq!(upstream.begun(), 1);
}

#[test]
fn a_longer_body_is_passed_on_as_it_comes_and_names_nobody() {
    let upstream = Upstream::start();
    let gate = Gate::start(&by_body(&upstream, "ip", "max_identity_body: 100"));
    let long = format!(r#"{{"user":"ada","x":"{}"}}"#, "x".repeat(200_000));
    assert_eq!(post(&gate, "/login/sink", JSON, &long).status, 200);
    assert_eq!(upstream.last().body, long.len());
    assert_eq!(post(&gate, "/login", JSON, &long).status, 429, "the address stands in");
    assert_eq!(post(&gate, "/login", JSON, r#"{"user":"ada"}"#).status, 200);

    // Neither is it held back: its beginning comes through before its end is there.
    let other = Gate::start(&by_body(&upstream, "ip", "max_identity_body: 100"));
    let mut connection = Connection::open(other.address);
    let fields = [("content-type", JSON), ("transfer-encoding", "chunked")];
    let begun = upstream.begun_for("/login/chunks");
    connection.send(request("POST", "/login/chunks", &fields));
    connection.send(format!("65\r\n{}\r\n", "[".repeat(0x65)));
    until("it goes on", || upstream.begun_for("/login/chunks") == begun + 1);
    connection.send("1\r\n]\r\n0\r\n\r\n");
    let reply = connection.reply();
    assert_eq!((reply.status, reply.body.len()), (200, 0x66));
    assert_eq!(other.metric("tollgate_identity_bodies_total{result=\"too_large\"}"), 1.0);
}

#[test]
fn nothing_else_waits_for_its_body() {
    let upstream = Upstream::start();
    let gate = Gate::start(&by_body(&upstream, "reject", ""));
    for (path, kind) in [("/elsewhere", JSON), ("/login/x/../../other", JSON)] {
        let mut connection = Connection::open(gate.address);
        let begun = upstream.begun();
        let fields = [("content-type", kind), ("content-length", "4")];
        connection.send(request("POST", path, &fields));
        until("it goes on", || upstream.begun() == begun + 1);
        connection.send("body");
        assert_eq!(connection.reply().text(), "body");
    }
    // Of a type that says nothing, it is refused at once.
    let mut connection = Connection::open(gate.address);
    let fields = [("content-type", "image/png"), ("content-length", "4")];
    connection.send(request("POST", "/login", &fields));
    assert_eq!(connection.reply().status, 400);
}

#[test]
fn a_body_that_falls_silent_is_408_and_counts() {
    let upstream = Upstream::start();
    let gate = Gate::start(&by_body(&upstream, "ip", "body_timeout: 150ms"));
    let fields = [("content-type", JSON), ("content-length", "14")];
    let mut connection = Connection::open(gate.address);
    connection.send(request("POST", "/login", &fields));
    connection.send(r#"{"user""#);
    let reply = connection.reply();
    assert_eq!((reply.status, reply.header("connection").as_deref()), (408, Some("close")));
    assert!(connection.is_closed());
    assert_eq!(upstream.begun(), 0);
    assert_eq!(gate.metric("tollgate_identity_bodies_total{result=\"silent\"}"), 1.0);
    let mut connection = Connection::open(gate.address);
    connection.send(request("POST", "/login", &fields));
    assert_eq!(connection.reply().status, 429, "the address stands in, and was charged");
}

#[test]
fn a_body_that_is_none_is_400() {
    let upstream = Upstream::start();
    let gate = Gate::start(&by_body(&upstream, "ip", ""));
    let mut connection = Connection::open(gate.address);
    let fields = [("content-type", JSON), ("transfer-encoding", "chunked")];
    connection.send(request("POST", "/login", &fields));
    connection.send("5\r\n{\"use\r\nzz\r\nGET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n");
    assert_eq!(connection.reply().status, 400);
    assert!(connection.is_closed());
    assert_eq!(upstream.begun(), 0);
    assert_eq!(gate.metric("tollgate_identity_bodies_total{result=\"broken\"}"), 1.0);
}
