//! The access log: what is on a line, which requests have one, and that nobody waits for it.

use std::net::TcpListener;
use std::path::Path;

use crate::harness::{Connection, Gate, Raw, Upstream, request, until};
use crate::policies::{limited_with, open_with, pool_with};

/// The lines of the file at `path`, once there are `count`.
fn lines(path: &Path, count: usize) -> Vec<String> {
    let read = || std::fs::read_to_string(path).unwrap_or_default();
    until(&format!("{count} lines are written"), || read().lines().count() >= count);
    read().lines().map(str::to_owned).collect()
}

/// The member `name` of a line of JSON, as it is written.
fn member<'a>(line: &'a str, name: &str) -> &'a str {
    let begin = format!("\"{name}\":");
    let at = line.find(&begin).unwrap_or_else(|| panic!("no {name} in {line}")) + begin.len();
    let rest = &line[at..];
    if let Some(text) = rest.strip_prefix('"') {
        let end = text.find("\",").or_else(|| text.find("\"}")).expect("it ends");
        return &text[..end];
    }
    &rest[..rest.find([',', '}']).expect("it ends")]
}

fn log(folder: &tempfile::TempDir, more: &str) -> (std::path::PathBuf, String) {
    let path = folder.path().join("access.log");
    let section = format!("access_log: {{ to: \"{}\"{more} }}", path.display());
    (path, section)
}

const TWICE: &str = "{ key: [ip], by: plan, sliding_log: { free: { limit: 2, window: 1m } } }";
const PLAN: &str = "identity: { plan: { sources: [{ query: plan }], default: free } }";

#[test]
fn a_line_tells_what_was_decided_and_what_came_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, section) = log(&folder, ", secret: s3cret");
    let upstream = Upstream::start();
    let more = format!("{section}\n{PLAN}\nclient_address: {{ trusted_proxies: [127.0.0.1] }}");
    let gate = Gate::start(&limited_with(upstream.address, TWICE, &more));
    let mut connection = Connection::open(gate.address);
    for from in ["203.0.113.9", "203.0.113.9", "203.0.113.9", "203.0.113.10"] {
        connection.ask(
            "GET",
            "/bytes/5?token=hush",
            &[("x-forwarded-for", from), ("user-agent", "t")],
        );
    }
    connection.ask("GET", "/a%2Fb", &[]);
    let lines = lines(&path, 5);
    let of = |number: usize, name| member(&lines[number], name);
    for (name, value) in [
        ("client", "203.0.113.9"),
        ("peer", "127.0.0.1"),
        ("method", "GET"),
        ("host", "test"),
        ("path", "/bytes/5"),
        ("protocol", "HTTP/1.1"),
        ("user_agent", "t"),
        ("status", "200"),
        ("bytes_sent", "5"),
        ("decision", "admit"),
        ("judged", "admit"),
        ("route", "0"),
        ("limit", "it"),
        ("class", "free"),
        ("remaining", "1"),
        ("retry_after_us", "null"),
        ("wait_us", "0"),
        ("upstream", "app"),
        ("server", upstream.address.to_string().as_str()),
        ("tries", "1"),
    ] {
        assert_eq!(of(0, name), value, "{name} of {}", lines[0]);
    }
    let (first_byte, all) = (of(0, "first_byte_us"), of(0, "duration_us"));
    let number = |text: &str| text.parse::<u64>().expect("a number");
    assert!(number(first_byte) <= number(all), "{}", lines[0]);
    assert_eq!((of(2, "status"), of(2, "decision")), ("429", "refuse"));
    assert!((1..=60_000_000).contains(&number(of(2, "retry_after_us"))), "{}", lines[2]);
    assert_eq!((of(2, "upstream"), of(2, "first_byte_us")), ("null", "null"));
    assert_eq!((of(2, "server"), of(2, "tries")), ("null", "0"));
    assert!(number(of(2, "bytes_sent")) > 100, "the problem's text");
    let key = of(0, "key");
    assert!(key.len() == 32 && key == of(2, "key") && key != of(3, "key"), "{lines:?}");
    assert_eq!((of(4, "status"), of(4, "decision")), ("400", "null"));
    assert_eq!(of(4, "path"), "/a%2Fb");
    assert_eq!(of(0, "time").len(), "2026-01-01T00:00:00.250000Z".len());
    assert_eq!(gate.metric("tollgate_access_log_lines_total"), 5.0);
    assert_eq!(gate.metric("tollgate_access_log_lines_lost_total"), 0.0);
}

#[test]
fn keys_are_hashed_with_the_policys_secret() {
    let upstream = Upstream::start();
    let key = |secret: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, section) = log(&folder, secret);
        let gate =
            Gate::start(&limited_with(upstream.address, TWICE, &format!("{section}\n{PLAN}")));
        Connection::open(gate.address).get("/");
        member(&lines(&path, 1)[0], "key").to_owned()
    };
    assert_eq!(key(", secret: a"), key(", secret: a"));
    assert_ne!(key(", secret: a"), key(", secret: b"));
    assert_ne!(key(""), key(""), "without one each start has its own");
}

#[test]
fn outcomes_are_sampled_each_by_its_share() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, section) = log(&folder, ", sample: { admitted: 0%, refused: 50%, errors: 100% }");
    let upstream = Raw::start(|stream, _| {
        while let Some(head) = Raw::head(stream) {
            if head.contains(" /broken ") {
                return;
            }
            Raw::answer(stream, "x");
        }
    });
    let more = format!("{section}\n{PLAN}");
    let gate = Gate::start(&limited_with(upstream.address, TWICE, &more));
    let mut connection = Connection::open(gate.address);
    assert_eq!(connection.get("/").status, 200);
    assert_eq!(connection.ask("POST", "/broken", &[("content-length", "0")]).status, 502);
    for _ in 0..1_000 {
        assert_eq!(connection.get("/").status, 429);
    }
    drop(connection);
    drop(gate);
    let lines = lines(&path, 1);
    let with = |status| lines.iter().filter(|line| member(line, "status") == status).count();
    assert_eq!((with("200"), with("502")), (0, 1), "{lines:?}");
    assert!((350..650).contains(&with("429")), "{}", with("429"));
}

#[test]
fn a_template_keeps_a_line_a_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, section) = log(
        &folder,
        ", query: true, format: '{client} \"{method} {path}\" {user_agent} {status} {limit}'",
    );
    let upstream = Upstream::start();
    let gate = Gate::start(&open_with(upstream.address, &section));
    let mut connection = Connection::open(gate.address);
    connection.send(b"GET /x?q=1 HTTP/1.1\r\nhost: test\r\nuser-agent: a\tb\"\\\xe9\r\n\r\n");
    assert_eq!(connection.reply().status, 200);
    assert_eq!(connection.get("/").status, 200);
    let lines = lines(&path, 2);
    assert_eq!(lines[0], "127.0.0.1 \"GET /x?q=1\" a\\x09b\\x22\\x5c\\xe9 200 -");
    assert_eq!(lines[1], "127.0.0.1 \"GET /\" - 200 -");
}

#[test]
fn a_renamed_log_is_opened_anew_and_a_reload_moves_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, section) = log(&folder, ", format: '{path}'");
    let upstream = Upstream::start();
    let gate = Gate::start(&open_with(upstream.address, &section));
    let mut connection = Connection::open(gate.address);
    connection.get("/one");
    assert_eq!(lines(&path, 1), ["/one"]);
    let rotated = folder.path().join("access.log.1");
    std::fs::rename(&path, &rotated).expect("renamed");
    connection.get("/two");
    assert_eq!(lines(&path, 1), ["/two"]);
    assert_eq!(lines(&rotated, 1), ["/one"]);

    let other = folder.path().join("other.log");
    let section = format!("access_log: {{ to: \"{}\", format: '{{method}}' }}", other.display());
    gate.reload(&open_with(upstream.address, &section));
    connection.get("/three");
    assert_eq!(lines(&other, 1), ["GET"]);
    gate.reload(&open_with(upstream.address, ""));
    connection.get("/four");
    assert_eq!((lines(&path, 1).len(), lines(&other, 1).len()), (1, 1));
}

#[test]
fn a_full_disk_costs_lines_and_no_request() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open_with(upstream.address, "access_log: { to: /dev/full }"));
    let mut connection = Connection::open(gate.address);
    for _ in 0..100 {
        assert_eq!(connection.get("/").status, 200);
    }
    let lost = || gate.metric("tollgate_access_log_lines_lost_total");
    until("the lines are counted as lost", || lost() == 100.0);
    assert_eq!(gate.metric("tollgate_access_log_lines_total"), 0.0);
}

#[test]
fn a_line_names_the_server_that_answered_and_how_many_were_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, section) = log(&folder, ", format: '{status} {upstream} {server} {tries}'");
    let (bad, good) = (Raw::start(|_, _| ()), Upstream::start());
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|one| one.local_addr());
    let closed = closed.expect("an address");
    let more = ", retries: { on: [broken] }, ejection: off";
    let gate = Gate::start(&pool_with(&[&bad.address, &closed, &good.address], more, &section));
    let mut connection = Connection::open(gate.address);
    for _ in 0..30 {
        assert_eq!(connection.get("/").status, 200);
    }
    let all = lines(&path, 30);
    let said = |tries: usize| format!("200 app {} {tries}", good.address);
    assert!(all.iter().all(|line| (1..=3).any(|tries| *line == said(tries))), "{all:?}");
    assert!(all.contains(&said(2)) || all.contains(&said(3)), "{all:?}");
    // Where none answered, the last that was asked.
    gate.reload(&pool_with(&[&bad.address], more, &section));
    assert_eq!(connection.get("/").status, 502);
    assert_eq!(lines(&path, 31)[30], format!("502 app {} 1", bad.address));
}

#[test]
fn a_client_that_leaves_while_it_waits_has_a_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, section) = log(&folder, ", sample: { admitted: 0% }");
    let upstream = Upstream::start();
    let slow = "{ key: [ip], leaky_bucket: { rate: 1 per 1h, burst: 9, max_wait: unlimited } }";
    let gate = Gate::start(&limited_with(upstream.address, slow, &section));
    assert_eq!(Connection::open(gate.address).get("/").status, 200);
    let mut waiting = Connection::open(gate.address);
    waiting.send(request("GET", "/waits", &[]));
    until("it waits", || gate.metric("tollgate_requests_waiting") == 1.0);
    drop(waiting);
    let lines = lines(&path, 1);
    assert_eq!(member(&lines[0], "path"), "/waits");
    assert_eq!((member(&lines[0], "status"), member(&lines[0], "decision")), ("null", "delay"));
    assert_eq!(member(&lines[0], "upstream"), "null");
}

#[test]
fn a_tunnel_has_a_line_when_it_is_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, section) = log(&folder, "");
    let upstream = Upstream::start();
    let gate = Gate::start(&open_with(upstream.address, &section));
    let mut tunnel = Connection::open(gate.address);
    tunnel.send(request("GET", "/upgrade", &[("connection", "upgrade"), ("upgrade", "echo")]));
    assert_eq!(tunnel.head().status, 101);
    Connection::open(gate.address).get("/before");
    assert_eq!(member(&lines(&path, 1)[0], "path"), "/before");
    drop(tunnel);
    let lines = lines(&path, 2);
    assert_eq!((member(&lines[1], "path"), member(&lines[1], "status")), ("/upgrade", "101"));
}
