//! TLS from clients.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::CertificateDer;

use crate::harness::http2::H2;
use crate::harness::tls::{Authority, connect};
use crate::harness::{Connection, Gate, Upstream, request, until};

/// A policy with a TLS listener `web` whose `tls:` says `certificates` and `more`, and a plain one `plain`.
fn policy(upstream: &Upstream, certificates: &str, more: &str, gateway: &str) -> String {
    format!(
        "listeners:\n  web: {{ listen: 127.0.0.1:0, tls: {{ certificates: [{certificates}] {more} }} }}\n  \
         plain: {{ listen: 127.0.0.1:0 }}\n\
         gateway: {{ {gateway} }}\n\
         identity: {{ service: {{ client_certificate: common_name }} }}\n\
         upstreams: {{ app: {{ servers: [\"{}\"] }} }}\n\
         limits:\n  each: {{ key: [service], missing: skip, sliding_log: {{ limit: 2, window: 1m }} }}\n\
         routes:\n- {{ match: {{ path: /** }}, limits: [each], upstream: app }}\n",
        upstream.address
    )
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// The certificate that `name` is shown.
fn shown(
    client: &TlsConnector,
    address: SocketAddr,
    name: &str,
) -> Option<CertificateDer<'static>> {
    let stream = runtime().block_on(connect(client, address, name)).ok()?;
    Some(stream.get_ref().1.peer_certificates()?.first()?.clone().into_owned())
}

/// What one request over HTTP/1.1 is answered, to the end of the connection.
fn ask(client: &TlsConnector, address: SocketAddr) -> std::io::Result<String> {
    runtime().block_on(async {
        let mut stream = connect(client, address, "a.example").await?;
        stream.write_all(request("GET", "/", &[("connection", "close")]).as_bytes()).await?;
        let mut reply = String::new();
        stream.read_to_string(&mut reply).await?;
        Ok(reply)
    })
}

#[test]
fn the_name_that_is_asked_for_chooses_the_certificate() {
    let (upstream, authority) = (Upstream::start(), Authority::new());
    authority.sign("a", &["a.example", "localhost"]);
    authority.sign("b", &["b.example", "*.b.example"]);
    let pairs = [authority.pair("a"), authority.pair("b")].join(", ");
    let gate = Gate::of(&policy(&upstream, &pairs, "", ""));
    let client = authority.client(&[], None);
    let address = gate.listener("web");
    for (name, file) in
        [("a.example", "a"), ("b.example", "b"), ("x.b.example", "b"), ("localhost", "a")]
    {
        assert_eq!(shown(&client, address, name), Some(authority.certificate(file)), "{name}");
    }
    // Any other name gets the first, which is not for it.
    assert_eq!(shown(&client, address, "c.example"), None);
    assert_eq!(shown(&client, address, "x.y.b.example"), None);
    until("both are told of", || {
        gate.metric("tollgate_tls_handshakes_total{listener=\"web\",result=\"failed\"}") == 2.0
    });
}

#[test]
fn both_versions_are_agreed_on() {
    let (upstream, authority) = (Upstream::start(), Authority::new());
    authority.sign("a", &["a.example"]);
    let gate = Gate::of(&policy(&upstream, &authority.pair("a"), "", ""));
    let address = gate.listener("web");
    let reply = ask(&authority.client(&["http/1.1"], None), address).expect("a reply");
    assert!(reply.starts_with("HTTP/1.1 200 OK\r\n"), "{reply}");
    assert_eq!(upstream.last().header("x-forwarded-proto"), Some("https"));
    let client = authority.client(&["h2", "http/1.1"], None);
    let mut client =
        H2::over(async { connect(&client, address, "a.example").await.expect("a handshake") });
    assert_eq!(client.get("/bytes/1000000").body.len(), 1_000_000);
    assert_eq!(upstream.last().header("x-forwarded-proto"), Some("https"));
    assert_eq!(gate.metric("tollgate_tls_handshakes_total{listener=\"web\",result=\"done\"}"), 2.0);
}

#[test]
fn certificates_change_without_a_dropped_connection() {
    let (upstream, authority) = (Upstream::start(), Authority::new());
    authority.sign("a", &["a.example"]);
    let gate = Gate::of(&policy(&upstream, &authority.pair("a"), "", ""));
    let address = gate.listener("web");
    let client = authority.client(&["h2"], None);
    let mut open =
        H2::over(async { connect(&client, address, "a.example").await.expect("a handshake") });
    assert_eq!(open.get("/").status, 200);
    let first = authority.certificate("a");
    authority.sign("a", &["a.example"]);
    gate.handle.refresh_certificates();
    let second = authority.certificate("a");
    assert_ne!(first, second);
    let fresh = authority.client(&[], None);
    assert_eq!(shown(&fresh, address, "a.example"), Some(second.clone()));
    assert_eq!(open.get("/").status, 200, "it goes on");
    std::fs::write(authority.path("a.pem"), "half").expect("a file");
    gate.handle.refresh_certificates();
    assert_eq!(shown(&fresh, address, "a.example"), Some(second));
    let reloads = |result: &str| {
        let labels = format!("{{listener=\"web\",result=\"{result}\"}}");
        gate.metric(&format!("tollgate_tls_certificate_reloads_total{labels}"))
    };
    assert_eq!((reloads("ok"), reloads("error")), (1.0, 1.0));
    let page = gate.metrics.render().expect("a page");
    assert!(page.contains("tollgate_tls_certificate_expiry_timestamp_seconds{"), "{page}");
}

#[test]
fn certificates_change_under_load_and_no_request_is_lost() {
    let (upstream, authority) = (Upstream::start(), Authority::new());
    authority.sign("a", &["a.example"]);
    let gate = Gate::of(&policy(&upstream, &authority.pair("a"), "", ""));
    let address = gate.listener("web");
    let (over, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    let going = || !over.load(Ordering::Relaxed);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            // One connection for all requests, and one for each.
            scope.spawn(|| {
                let client = authority.client(&["h2"], None);
                let connecting = async { connect(&client, address, "a.example").await };
                let mut client = H2::over(async { connecting.await.expect("a handshake") });
                while going() {
                    assert_eq!(client.get("/bytes/100000").body.len(), 100_000);
                    asked.fetch_add(1, Ordering::Relaxed);
                }
            });
            scope.spawn(|| {
                let client = authority.client(&[], None);
                while going() {
                    let reply = ask(&client, address).expect("a reply");
                    assert!(reply.starts_with("HTTP/1.1 200 OK\r\n"), "{reply}");
                    asked.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let fresh = authority.client(&[], None);
        for _ in 0..10 {
            let before = asked.load(Ordering::Relaxed);
            authority.sign("a", &["a.example"]);
            gate.handle.refresh_certificates();
            assert_eq!(shown(&fresh, address, "a.example"), Some(authority.certificate("a")));
            until("requests go on", || asked.load(Ordering::Relaxed) > before + 8);
        }
        over.store(true, Ordering::Relaxed);
    });
    let labels = "{listener=\"web\",result=\"failed\"}";
    assert_eq!(gate.metric(&format!("tollgate_tls_handshakes_total{labels}")), 0.0);
}

#[test]
fn a_client_certificate_says_who_asks() {
    let (upstream, authority) = (Upstream::start(), Authority::new());
    authority.sign("a", &["a.example"]);
    authority.sign("billing", &[]);
    authority.sign("search", &[]);
    let clients = |required: bool| {
        let file = authority.path("authority.pem");
        let file = file.display();
        format!(", client_certificates: {{ authorities: \"{file}\", required: {required} }}")
    };
    let gate = Gate::of(&policy(&upstream, &authority.pair("a"), &clients(false), ""));
    let address = gate.listener("web");
    let ask = |own: Option<&str>| {
        ask(&authority.client(&[], own), address).map(|reply| reply[9..12].to_owned())
    };
    let mut statuses = Vec::new();
    for own in [Some("billing"), Some("billing"), Some("billing"), Some("search"), None, None, None]
    {
        statuses.push(ask(own).expect("a reply"));
    }
    assert_eq!(statuses, ["200", "200", "429", "200", "200", "200", "200"]);
    let gate = Gate::of(&policy(&upstream, &authority.pair("a"), &clients(true), ""));
    let address = gate.listener("web");
    let own = authority.client(&[], Some("billing"));
    assert!(crate::tls::ask(&own, address).is_ok());
    let none = authority.client(&[], None);
    assert!(crate::tls::ask(&none, address).is_err(), "it has to show one");
    let stranger = Authority::new();
    stranger.sign("billing", &[]);
    std::fs::copy(stranger.path("billing.pem"), authority.path("forged.pem")).expect("copied");
    std::fs::copy(stranger.path("billing.key"), authority.path("forged.key")).expect("copied");
    let forged = authority.client(&[], Some("forged"));
    assert!(crate::tls::ask(&forged, address).is_err(), "another authority's");
}

#[test]
fn those_who_speak_the_wrong_protocol_are_told() {
    let (upstream, authority) = (Upstream::start(), Authority::new());
    authority.sign("a", &["a.example"]);
    let gate = Gate::of(&policy(&upstream, &authority.pair("a"), "", ""));
    let mut plain = Connection::open(gate.listener("web"));
    let reply = plain.get("/");
    assert_eq!(reply.status, 400);
    assert!(reply.text().contains("use https:// here"), "{}", reply.text());
    assert!(plain.is_closed());
    // The first bytes of a handshake, and many more.
    let mut encrypted = Connection::open(gate.listener("plain"));
    encrypted.send([&[0x16, 3, 1, 2, 0, 1][..], &[0; 600]].concat());
    let reply = encrypted.reply();
    assert_eq!(reply.status, 400);
    assert!(reply.text().contains("what came is TLS"), "{}", reply.text());
    assert!(encrypted.is_closed());
    assert!(upstream.seen().is_empty());
}

#[test]
fn a_slow_handshake_ends() {
    let (upstream, authority) = (Upstream::start(), Authority::new());
    authority.sign("a", &["a.example"]);
    let gateway = "header_timeout: 300ms";
    let gate = Gate::of(&policy(&upstream, &authority.pair("a"), "", gateway));
    let mut slow = Connection::open(gate.listener("web"));
    slow.send([0x16, 3, 1, 2]);
    assert!(slow.is_closed());
    assert!(Connection::open(gate.listener("web")).is_closed());
    until("both are told of", || {
        gate.metric("tollgate_tls_handshakes_total{listener=\"web\",result=\"slow\"}") == 2.0
    });
    assert!(ask(&authority.client(&[], None), gate.listener("web")).is_ok());
}
