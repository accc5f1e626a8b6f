//! `upstreams:`: what pools are, what goes with what, and what is wrong.

use tollgate_core::Micros;
use tollgate_policy::file::{self, Surroundings};
use tollgate_policy::settings::{
    Ejection, HealthCheck, Probe, Retries, Upstream, UpstreamAddress, UpstreamServer, UpstreamTls,
};

use super::{errors, meaning, warnings};

/// A policy with this pool and nothing else.
fn with_pool(pool: &str) -> String {
    format!("upstreams: {{ a: {pool} }}\nroutes: []\n")
}

/// A policy whose pool has one server and `more`.
fn with(more: &str) -> String {
    with_pool(&format!("{{ servers: [\"h:1\"], {more} }}"))
}

fn pool(text: &str) -> Upstream {
    meaning(text).settings.upstreams.remove(0)
}

#[test]
fn a_pool_and_its_defaults() {
    let made = pool(&with_pool("{ servers: \"127.0.0.1:9001\" }"));
    let address = UpstreamAddress::Socket("127.0.0.1:9001".parse().unwrap());
    assert_eq!(made, Upstream::new("a", vec![UpstreamServer { address, weight: 1 }]));
    assert_eq!((made.tls, made.http2, made.max_connections), (None, false, None));
    assert_eq!((made.health_check, made.ejection), (None, Some(Ejection::default())));
    assert_eq!(made.retries, Retries::default());
    assert!(!made.retries.any());
}

#[test]
fn servers_are_addresses_names_and_sockets() {
    let made = pool(&with_pool(
        "{ servers: [\"[::1]:1\", \"app.internal:2\", { address: \"unix:/run/a.sock\", weight: 7 }, \"unix:///b\"] }",
    ));
    let said: Vec<_> =
        made.servers.iter().map(|server| (server.address.to_string(), server.weight)).collect();
    let expected = [("[::1]:1", 1), ("app.internal:2", 1), ("unix:/run/a.sock", 7), ("unix:/b", 1)];
    assert_eq!(said, expected.map(|(text, weight)| (text.to_owned(), weight)));
    assert_eq!(
        made.servers[1].address,
        UpstreamAddress::Name { host: "app.internal".to_owned(), port: 2 }
    );
}

#[test]
fn hints_pass_over_http1_only() {
    assert!(!pool(&with("http2: false")).early_hints);
    let hints = |more: &str| {
        let text = with(&format!("early_hints: true{more}"));
        assert!(pool(&text).early_hints, "{more}");
        warnings(&text).iter().any(|line| line.contains("no hints are passed on"))
    };
    assert!(!hints(""));
    assert!(hints(", http2: true"));
    assert!(!hints(", http2: true, tls: {}"), "a server may choose HTTP/1.1");
}

#[test]
fn everything_about_a_pool() {
    let made = pool(&with(
        "http2: true, max_connections: 100, idle_timeout: 10s, connect_timeout: 1s,\n\
         \x20 first_byte_timeout: 5s, resolve_every: 1m,\n\
         \x20 health_check: { path: \"/health?x\", host: \"app:80\", status: 204, every: 2s, timeout: 500ms, failures: 1, successes: 4 },\n\
         \x20 ejection: { failures: 7, status: [503, 429], first: 1s, longest: 10s, share: 30% },\n\
         \x20 retries: { on: [502, timeout, broken], attempts: 2, budget: { share: 10%, floor: 3 } }",
    ));
    assert!(made.http2 && made.retries.any());
    assert_eq!(made.max_connections, Some(100));
    assert_eq!(made.idle_timeout, Micros::from_secs(10));
    assert_eq!(made.connect_timeout, Some(Micros::from_secs(1)));
    assert_eq!(made.first_byte_timeout, Some(Micros::from_secs(5)));
    assert_eq!(made.resolve_every, Micros::from_secs(60));
    let probe = Probe::Http {
        path: "/health?x".to_owned(),
        host: Some("app:80".to_owned()),
        status: vec![204],
    };
    let check = HealthCheck {
        probe,
        every: Micros::from_secs(2),
        timeout: Micros::new(500_000),
        failures: 1,
        successes: 4,
    };
    assert_eq!(made.health_check, Some(check));
    let ejection = Ejection {
        failures: 7,
        status: vec![503, 429],
        first: Micros::from_secs(1),
        longest: Micros::from_secs(10),
        share: 30,
    };
    assert_eq!(made.ejection, Some(ejection));
    let retries = Retries {
        status: vec![502],
        timeout: true,
        broken: true,
        attempts: 2,
        share: 10,
        floor: 3,
    };
    assert_eq!(made.retries, retries);
}

#[test]
fn short_forms() {
    let check = pool(&with("health_check: /healthz")).health_check.unwrap();
    let Probe::Http { path, host: None, status } = check.probe else { panic!("a path") };
    assert_eq!((path.as_str(), status.len(), status[0]), ("/healthz", 100, 200));
    assert_eq!((check.every, check.timeout), (Micros::from_secs(5), Micros::from_secs(1)));
    for (grpc, service) in [("true", ""), ("shop.v1.Orders", "shop.v1.Orders")] {
        let text = with(&format!("http2: true, health_check: {{ grpc: {grpc} }}"));
        let probe = pool(&text).health_check.unwrap().probe;
        assert_eq!(probe, Probe::Grpc { service: service.to_owned() });
    }
    let quick = pool(&with("health_check: { path: /, every: 200ms }")).health_check.unwrap();
    assert_eq!(quick.timeout, quick.every, "a check ends before the next begins");
    assert_eq!(pool(&with("ejection: off")).ejection, None);
    assert_eq!(
        pool(&with("ejection: { first: 10m }")).ejection.unwrap().longest.get(),
        600_000_000
    );
    assert_eq!(pool(&with("max_connections: unlimited")).max_connections, None);
    assert_eq!(pool(&with("tls: true")).tls, Some(UpstreamTls::default()));
    assert_eq!(pool(&with("tls: false")).tls, None);
}

#[test]
fn what_is_no_pool() {
    for (pool, place, words) in [
        ("{ servers: [\"unix:run/a\"] }", "1:29", &["whole path", "`unix:/run/app.sock`"][..]),
        ("{ servers: [\"grpc://h:1\"] }", "1:29", &["`host:port`"]),
        ("{ servers: [{ address: \"h\" }] }", "1:40", &["`h` is no server"]),
        ("{ servers: [{ weight: 2 }] }", "1:29", &["needs the field `address`"]),
        ("{ servers: [{ address: \"h:1\", weight: 0 }] }", "1:55", &["1 to 1000"]),
        ("{ servers: [\"h:1\", { address: \"h:1\" }] }", "1:36", &["here twice"]),
        ("{ servers: [\"127.0.0.1:1\", \"127.0.0.1:1\"] }", "1:44", &["here twice"]),
        ("{ server: \"h:1\" }", "1:19", &["did you mean `servers`?"]),
    ] {
        said_once(&with_pool(pool), place, words);
    }
}

#[test]
fn what_goes_with_what() {
    let column = "upstreams: { a: { servers: [\"h:1\"], ".len() + 1;
    for (more, offset, words) in [
        ("max_connections: 0", 17, &["1 to 1000000"][..]),
        ("resolve_every: 1ms", 15, &["`1s` and `1d`"]),
        ("idle_timeout: 0s", 14, &["`1us` and `1d`"]),
        ("connect_timeout: 2d", 17, &["`1us` and `1d`"]),
        ("health_check: {}", 0, &["has a `path`, or `grpc`"]),
        ("health_check: { path: /, grpc: true }", 0, &["has a `path`, or `grpc`"]),
        ("health_check: { pth: / }", 16, &["did you mean `path`?"]),
        ("health_check: healthz", 14, &["`healthz` is no path", "`/healthz`"]),
        ("health_check: { grpc: true }", 16, &["over HTTP/2", "`http2: true`"]),
        ("http2: true, health_check: { grpc: \"a b\" }", 35, &["no gRPC service"]),
        (
            "http2: true, health_check: { grpc: true, status: 200 }",
            41,
            &["`status` goes with `path`"],
        ),
        ("health_check: { path: /, status: [99] }", 34, &["100 to 599"]),
        ("health_check: { path: /, host: \"a/b\" }", 31, &["no host"]),
        ("health_check: { path: /, every: 1ms }", 32, &["`100ms` and `1h`"]),
        ("health_check: { path: /, timeout: 6s }", 34, &["longer than `every`"]),
        ("health_check: { path: /, failures: 0 }", 35, &["1 to 100"]),
        ("ejection: on", 10, &["`off`"]),
        ("ejection: { failures: 0 }", 22, &["1 to 1000"]),
        ("ejection: { status: [200] }", 21, &["400 to 599"]),
        ("ejection: { first: 1ms }", 19, &["`10ms` and `1d`"]),
        ("ejection: { first: 10s, longest: 5s }", 33, &["shorter than `first`"]),
        ("ejection: { share: 101% }", 19, &["0 to 100"]),
        ("retries: { on: [404] }", 16, &["500 to 599"]),
        ("retries: { on: [reset] }", 16, &["`timeout` or `broken`"]),
        ("retries: { on: [503], attempts: 6 }", 32, &["1 to 5"]),
        ("retries: { attempts: 2 }", 11, &["`attempts` goes with `on`", "`on: [502, 503, 504]`"]),
        ("retries: { budget: { share: 120% } }", 28, &["0 to 100"]),
        ("tls: { certificate: a.pem }", 0, &["go together"]),
        ("tls: { server_name: \"a b\" }", 20, &["no server's name"]),
        ("tls: { verify: false }", 7, &["the fields are `authorities`"]),
        ("tls: yes", 5, &["truth value"]),
    ] {
        said_once(&with(more), &format!("1:{}", column + offset), words);
    }
    let unix = with_pool("{ servers: [\"unix:/a\"], tls: true }");
    said_once(&unix, "1:41", &["has no name", "`server_name: app.internal`"]);
    assert!(errors(&unix.replace("true", "{ server_name: app.internal }")).is_empty());
}

#[track_caller]
fn said_once(text: &str, place: &str, words: &[&str]) {
    let found = errors(text);
    assert_eq!(found.len(), 1, "{found:#?} of {text}");
    assert!(found[0].starts_with(&format!("{place} ")), "{found:#?} of {text}, not at {place}");
    assert!(words.iter().all(|word| found[0].contains(word)), "{found:#?} of {text}");
}

#[test]
fn files_of_certificates_must_be_there_where_the_policy_runs() {
    let text = with("tls: { authorities: ca.pem, insecure: true }");
    let found = warnings(&text);
    assert!(found[0].contains("`ca.pem` cannot be read"), "{found:#?}");
    assert!(found[1].contains("whoever answers for these servers is believed"), "{found:#?}");
    let folder = tempfile::tempdir().unwrap();
    let serving = || Surroundings::new(folder.path()).serving();
    assert!(file::read("p", &text, &serving()).is_err());
    std::fs::write(folder.path().join("ca.pem"), "").unwrap();
    let read = file::read("p", &text, &serving()).unwrap();
    let tls = read.settings.upstreams[0].tls.clone().unwrap();
    assert_eq!(tls.authorities, Some(folder.path().join("ca.pem")));
}
