//! TLS to servers: whom the gateway believes, and whom it does not.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use crate::harness::{Connection, Gate, Speech, Upstream, request, until};
use crate::policies::{of_server, pool};
use crate::servers::Certificates;

/// What a server with the certificate `name` agrees to; `clients` must have one of our authority's.
fn config(of: &Certificates, name: &str, protocols: &[&str], clients: bool) -> Arc<ServerConfig> {
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("versions");
    let builder = if clients {
        let mut roots = RootCertStore::empty();
        roots.add(certificate(&of.path("authority.pem"))).expect("an authority");
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
        builder.with_client_cert_verifier(verifier.expect("a verifier"))
    } else {
        builder.with_no_client_auth()
    };
    let chain = vec![certificate(&of.path(&format!("{name}.pem")))];
    let key = PrivateKeyDer::from_pem_file(of.path(&format!("{name}.key"))).expect("a key");
    let mut config = builder.with_single_cert(chain, key).expect("a certificate and its key");
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    Arc::new(config)
}

fn certificate(path: &Path) -> CertificateDer<'static> {
    CertificateDer::from_pem_file(path).expect("a certificate")
}

fn upstream(of: &Certificates, name: &str, protocols: &[&str]) -> Upstream {
    let tls = Some(config(of, name, protocols, false));
    Upstream::speaking(Speech { tls, ..Speech::default() })
}

fn trusting(of: &Certificates, more: &str) -> String {
    format!(", tls: {{ authorities: \"{}\"{more} }}", of.path("authority.pem").display())
}

#[test]
fn the_right_certificate_is_believed_and_connections_are_kept() {
    let made = Certificates::make();
    let upstream = upstream(&made, "server", &["http/1.1"]);
    let gate = Gate::start(&pool(&[&upstream.address], &trusting(&made, "")));
    let mut connection = Connection::open(gate.address);
    for _ in 0..10 {
        connection.send(request("POST", "/echo", &[("content-length", "2")]));
        connection.send("hi");
        assert_eq!(connection.reply().text(), "hi");
    }
    assert!(upstream.connections() <= 2, "{}", upstream.connections());
    let large = connection.get("/bytes/3000000");
    assert_eq!(large.body.len(), 3_000_000);
}

#[test]
fn http2_is_agreed_on_where_both_speak_it() {
    let made = Certificates::make();
    let yaml = |upstream: &Upstream| {
        pool(&[&upstream.address], &format!(", http2: true{}", trusting(&made, "")))
    };
    let (both, old) =
        (upstream(&made, "server", &["h2", "http/1.1"]), upstream(&made, "server", &["http/1.1"]));
    let gate = Gate::start(&yaml(&both));
    let mut connection = Connection::open(gate.address);
    for _ in 0..5 {
        assert_eq!(connection.get("/a").status, 200);
    }
    assert_eq!(both.last().target, "https://test/a", "HTTP/2 has the whole URI");
    gate.reload(&yaml(&old));
    for _ in 0..5 {
        assert_eq!(connection.get("/a").status, 200);
    }
    assert_eq!((old.last().target.as_str(), old.last().header("host")), ("/a", Some("test")));
    assert!(old.connections() <= 2, "{}", old.connections());
}

#[test]
fn who_does_not_prove_who_he_is_gets_no_request() {
    let made = Certificates::make();
    let stranger = format!(", tls: {{ authorities: \"{}\" }}", made.path("stranger.pem").display());
    for (name, tls, words) in [
        ("elsewhere", trusting(&made, ""), "another name"),
        ("expired", trusting(&made, ""), "expired"),
        ("server", stranger, "an unknown authority"),
        ("server", trusting(&made, ", server_name: elsewhere.test"), "not the name that is asked"),
    ] {
        let upstream = upstream(&made, name, &["http/1.1"]);
        let gate = Gate::start(&pool(&[&upstream.address], &tls));
        let mut connection = Connection::open(gate.address);
        let refused = connection.get("/secret");
        assert_eq!(refused.status, 502, "{words}");
        assert!(refused.text().contains("does not prove"), "{words}: {}", refused.text());
        let errors = of_server("errors_total", upstream.address, ",error=\"tls\"");
        assert_eq!(gate.metric(&errors), 1.0, "{words}");
        assert_eq!(upstream.begun(), 0, "{words}");
        // One who must not be believed is in nobody's way.
        assert_eq!(connection.get("/secret").status, 502, "{words}");
    }
}

#[test]
fn the_name_may_be_another_than_the_address() {
    let made = Certificates::make();
    let upstream = upstream(&made, "elsewhere", &[]);
    let gate =
        Gate::start(&pool(&[&upstream.address], &trusting(&made, ", server_name: elsewhere.test")));
    assert_eq!(Connection::open(gate.address).get("/").status, 200);
}

#[test]
fn a_server_may_ask_who_we_are() {
    let made = Certificates::make();
    let tls = Some(config(&made, "server", &[], true));
    let upstream = Upstream::speaking(Speech { tls, ..Speech::default() });
    let own = format!(
        ", certificate: \"{}\", key: \"{}\"",
        made.path("client.pem").display(),
        made.path("client.key").display()
    );
    let gate = Gate::start(&pool(&[&upstream.address], &trusting(&made, &own)));
    let mut connection = Connection::open(gate.address);
    assert_eq!(connection.get("/").status, 200);
    gate.reload(&pool(&[&upstream.address], &trusting(&made, "")));
    assert_eq!(connection.get("/").status, 502, "without a certificate it lets nobody in");
    assert_eq!(upstream.begun(), 1);
}

#[test]
fn whoever_answers_is_believed_where_the_policy_says_so() {
    let made = Certificates::make();
    let upstream = upstream(&made, "expired", &[]);
    let gate = Gate::start(&pool(&[&upstream.address], ", tls: { insecure: true }"));
    assert_eq!(Connection::open(gate.address).get("/").status, 200);
}

#[test]
fn a_server_that_speaks_in_the_clear_is_no_tls_server() {
    let upstream = Upstream::start();
    let made = Certificates::make();
    let gate = Gate::start(&pool(&[&upstream.address], &trusting(&made, "")));
    assert_eq!(Connection::open(gate.address).get("/").status, 502);
    assert_eq!(upstream.begun(), 0);
    let errors = of_server("errors_total", upstream.address, ",error=\"tls\"");
    until("it is counted", || gate.metric(&errors) == 1.0);
}

#[test]
fn the_next_server_is_asked_where_one_cannot_be_trusted() {
    let made = Certificates::make();
    let (bad, good) = (upstream(&made, "expired", &[]), upstream(&made, "server", &[]));
    let gate = Gate::start(&pool(&[&bad.address, &good.address], &trusting(&made, "")));
    let mut connection = Connection::open(gate.address);
    for _ in 0..10 {
        connection.send(request("POST", "/echo", &[("content-length", "2")]));
        connection.send("hi");
        assert_eq!(connection.reply().text(), "hi");
    }
    assert_eq!(bad.begun(), 0);
}
