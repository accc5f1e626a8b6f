//! Who is asking, over real sockets. PROXY protocol cases (addr-11, addr-13) do not apply yet; the reading of headers is
//! tested whole in `tollgate-http`.

use crate::harness::{Connection, Gate, Upstream};

/// Two requests a minute by address, from `trusted` proxies.
fn by_address(upstream: &Upstream, trusted: &str, limit: u32) -> String {
    format!(
        "client_address: {{ trusted_proxies: [{trusted}], ipv6_prefix: 128 }}\n\
         upstreams: {{ app: {{ servers: [\"{}\"] }} }}\n\
         limits:\n  it: {{ key: [ip], sliding_log: {{ limit: {limit}, window: 1m }} }}\n\
         routes:\n- {{ match: {{ path: /** }}, limits: [it], upstream: app }}\n",
        upstream.address
    )
}

#[test]
fn addr_01_a_stranger_cannot_choose_its_address() {
    let upstream = Upstream::start();
    let gate = Gate::start(&by_address(&upstream, "", 3));
    let mut connection = Connection::open(gate.address);
    let statuses: Vec<u16> = (1..=4)
        .map(|host| {
            connection.ask("GET", "/", &[("x-forwarded-for", &format!("192.0.2.{host}"))]).status
        })
        .collect();
    assert_eq!(statuses, [200, 200, 200, 429]);
    assert_eq!(
        upstream.last().header("x-forwarded-for"),
        Some("127.0.0.1"),
        "nor tell the service another"
    );
}

#[test]
fn addr_05_only_the_named_header_counts() {
    let upstream = Upstream::start();
    let gate = Gate::start(&by_address(&upstream, "\"127.0.0.0/8\"", 1));
    let mut connection = Connection::open(gate.address);
    let mut ask = |forwarded: &str, real: &str| {
        let fields =
            [("forwarded", forwarded), ("x-forwarded-for", "203.0.113.9"), ("x-real-ip", real)];
        connection.ask("GET", "/", &fields).status
    };
    assert_eq!(ask("for=198.51.100.1", "198.51.100.2"), 200);
    assert_eq!(ask("for=198.51.100.7", "198.51.100.8"), 429);
    assert_eq!(upstream.last().header("x-forwarded-for"), Some("203.0.113.9, 127.0.0.1"));
}

#[test]
fn addr_07_ports_and_brackets_are_no_other_address() {
    let upstream = Upstream::start();
    let gate = Gate::start(&by_address(&upstream, "\"127.0.0.0/8\"", 1));
    let mut connection = Connection::open(gate.address);
    let mut ask = |entry: &str| connection.ask("GET", "/", &[("x-forwarded-for", entry)]).status;
    assert_eq!(ask("[2001:db8:1::5]:443"), 200);
    assert_eq!(ask("2001:db8:1::5"), 429);
    assert_eq!(ask("[2001:db8:1::5]"), 429);
    assert_eq!(ask("2001:db8::1:443"), 200, "without brackets the last group is no port");
}

#[test]
fn key_02_spellings_of_a_path_do_not_escape_its_rule() {
    let upstream = Upstream::start();
    let yaml = format!(
        "upstreams: {{ app: {{ servers: [\"{}\"] }} }}\n\
         limits:\n  login: {{ key: [ip], sliding_log: {{ limit: 3, window: 1m }} }}\n  \
         rest: {{ key: [ip], sliding_log: {{ limit: 2500, window: 1m }} }}\n\
         routes:\n\
         - {{ match: {{ path: /api/login/**, ignore_case: true }}, limits: [login], upstream: app }}\n\
         - {{ match: {{ path: /** }}, limits: [rest], upstream: app }}\n",
        upstream.address
    );
    let gate = Gate::start(&yaml);
    let mut connection = Connection::open(gate.address);
    let mut ask = |path: &str| connection.get(path).status;
    let statuses = ["/api/login", "/api/Login", "/api/login/", "/api/%6Cogin"].map(&mut ask);
    assert_eq!(statuses, [200, 200, 200, 429]);
    assert_eq!(ask("/x/../api//./login"), 429);
    assert_eq!(ask("/api/other"), 200);
}

#[test]
fn key_06_a_missing_header_is_nobody() {
    let upstream = Upstream::start();
    let yaml = format!(
        "client_address: {{ trusted_proxies: [\"127.0.0.0/8\"] }}\n\
         identity: {{ session: {{ header: x-session }} }}\n\
         upstreams: {{ app: {{ servers: [\"{}\"] }} }}\n\
         limits:\n  a: {{ key: [session], missing: skip, sliding_log: {{ limit: 1, window: 1m }} }}\n  \
         b: {{ key: [ip], sliding_log: {{ limit: 100, window: 1m }} }}\n\
         routes:\n- {{ match: {{ path: /** }}, limits: [a, b], upstream: app }}\n",
        upstream.address
    );
    let gate = Gate::start(&yaml);
    let mut connection = Connection::open(gate.address);
    for host in 1..=3 {
        let address = format!("203.0.113.{host}");
        let reply = connection.ask("GET", "/", &[("x-forwarded-for", &address), ("x-session", "")]);
        assert_eq!(
            (reply.status, reply.header("x-ratelimit-remaining").as_deref()),
            (200, Some("99"))
        );
    }
    let mut ask = || connection.ask("GET", "/", &[("x-session", "s1")]).status;
    assert_eq!([ask(), ask()], [200, 429]);
}
