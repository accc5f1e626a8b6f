//! Several listeners, on addresses and Unix sockets.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use tollgate_policy::settings::{ListenAt, Listener};

use crate::harness::{Connection, Gate, PATIENCE, Upstream, request, until};
use crate::reloading;

/// A policy with `listeners`, and `routes` to one upstream.
fn policy(upstream: &Upstream, listeners: &str, routes: &str) -> String {
    format!(
        "listeners: {{ {listeners} }}\n\
         upstreams: {{ app: {{ servers: [\"{}\"] }} }}\n\
         limits:\n  it: {{ key: [ip], sliding_log: {{ limit: 1, window: 1m }} }}\n\
         routes:\n{routes}",
        upstream.address
    )
}

const ANY: &str = "- { match: { path: /** }, limits: [it], upstream: app }\n";

/// Asks for `path` through the Unix socket at `at` and reads until the end.
fn ask(at: &Path, path: &str, fields: &[(&str, &str)]) -> String {
    let mut stream = UnixStream::connect(at).expect("somebody listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
    let fields = [fields, &[("connection", "close")]].concat();
    stream.write_all(request("GET", path, &fields).as_bytes()).expect("it takes it");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("a reply");
    reply
}

#[test]
fn routes_tell_listeners_apart() {
    let upstream = Upstream::start();
    let routes = "- { match: { path: /admin/**, listener: inner }, limits: [], upstream: app }\n\
                  - { match: { path: /public/**, listener: [outer, inner] }, limits: [], upstream: app }\n";
    let listeners = "inner: { listen: 127.0.0.1:0 }, outer: { listen: 127.0.0.1:0 }";
    let gate = Gate::of(&policy(&upstream, listeners, routes));
    let [inner, outer] = ["inner", "outer"].map(|name| gate.listener(name));
    assert_ne!(inner, outer);
    let mut connection = Connection::open(inner);
    assert_eq!(connection.get("/admin/x").status, 200);
    assert_eq!(connection.get("/public/x").status, 200);
    let mut connection = Connection::open(outer);
    assert_eq!(connection.get("/admin/x").status, 404);
    assert_eq!(connection.get("/public/x").status, 200);
    assert_eq!(upstream.seen().len(), 3);
}

#[test]
fn a_unix_socket_is_there_as_long_as_the_gateway() {
    let upstream = Upstream::start();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("gate.sock");
    // One that a gateway left behind when it was killed.
    drop(std::os::unix::net::UnixListener::bind(&path).expect("a free path"));
    let listeners = format!("local: {{ listen: \"unix:{}\" }}", path.display());
    let mut gate = Gate::of(&policy(&upstream, &listeners, ANY));
    let reply = ask(&path, "/", &[("x-forwarded-for", "203.0.113.9")]);
    assert!(reply.starts_with("HTTP/1.1 200 OK\r\n"), "{reply}");
    assert_eq!(upstream.last().header("x-forwarded-for"), Some("unknown"));
    // Nobody has an address there, so all share one budget.
    assert!(ask(&path, "/", &[]).starts_with("HTTP/1.1 429 "));
    gate.stop();
    until("it is removed", || !path.exists());
    gate.ended();
}

#[test]
fn a_taken_path_is_an_error() {
    let upstream = Upstream::start();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("gate.sock");
    let listeners = format!("local: {{ listen: \"unix:{}\" }}", path.display());
    let yaml = policy(&upstream, &listeners, ANY);
    let _gate = Gate::of(&yaml);
    let error = reloading::bind(&yaml).expect("it is taken");
    assert!(error.contains("somebody listens on unix:"), "{error}");
    assert!(ask(&path, "/", &[]).starts_with("HTTP/1.1 200 "), "the first is unharmed");
}

#[test]
fn the_command_line_takes_the_place_of_one_listener() {
    let upstream = Upstream::start();
    let one = "outer: { listen: 127.0.0.1:1 }";
    let gate = Gate::start(&policy(&upstream, one, ANY));
    let at = ListenAt::Tcp(gate.address);
    assert_eq!(gate.listeners, [Listener::new("outer", at)]);
    let two = "inner: { listen: 127.0.0.1:0 }, outer: { listen: 127.0.0.1:0 }";
    let error = reloading::bind_at(&policy(&upstream, two, ANY), Some(gate.address));
    let error = error.expect("which one?");
    assert!(error.contains("the policy has 2"), "{error}");
}

#[test]
fn a_socket_that_was_not_handed_over_is_an_error() {
    let upstream = Upstream::start();
    let yaml = policy(&upstream, "web: { listen: \"systemd:web\" }", ANY);
    let error = reloading::bind(&yaml).expect("there is none");
    assert!(error.contains("not started with a socket called `web`"), "{error}");
}
