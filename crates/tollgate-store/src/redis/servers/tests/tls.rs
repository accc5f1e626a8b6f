//! TLS: certificates are checked, unless somebody says in so many words that they shall not be.

use super::calls::{add_surely, connected, options};
use super::harness::{Certificates, Program, Server, until};
use crate::redis::RedisOptionsError;
use crate::redis::servers::Servers;

/// A server with TLS; `None` where the program was built without.
fn server(certificates: &Certificates, clients: &str) -> Option<(Server, u16)> {
    let program = Program::redis()?;
    let port = std::net::TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
    let arguments = certificates.arguments(port, &["--tls-auth-clients", clients]);
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Some((Server::with(&program, &words), port))
}

#[test]
fn a_trusted_server_is_spoken_to_and_no_other() {
    let certificates = Certificates::make();
    let Some((_server, port)) = server(&certificates, "no") else { return };
    let path = |name: &str| certificates.path(name).display().to_string();

    let authority = path("authority.pem");
    for host in ["localhost", "127.0.0.1"] {
        let url = format!("rediss://{host}:{port}?tls_ca={authority}");
        add_surely(&connected(&options(&url)), "k");
    }
    add_surely(&connected(&options(&format!("rediss://127.0.0.1:{port}?tls_insecure=true"))), "k");

    for wrong in [
        format!("rediss://127.0.0.1:{port}"),
        format!("rediss://127.0.0.1:{port}?tls_ca={}", path("stranger.pem")),
        format!("rediss://127.0.0.2:{port}?tls_ca={authority}"),
        format!("redis://127.0.0.1:{port}"),
    ] {
        let servers = match Servers::start(&options(&wrong)) {
            Ok(servers) => servers,
            // A machine may trust nobody at all.
            Err(RedisOptionsError::Tls { .. }) => continue,
            Err(error) => panic!("{error}"),
        };
        until("it was tried", || servers.observed().connect_failures > 0);
        assert_eq!(servers.observed().connected, 0, "{wrong}");
    }
}

#[test]
fn a_server_that_asks_for_a_certificate_gets_ours() {
    let certificates = Certificates::make();
    let Some((_server, port)) = server(&certificates, "yes") else { return };
    let path = |name: &str| certificates.path(name).display().to_string();
    let plain = format!("rediss://localhost:{port}?tls_ca={}", path("authority.pem"));
    let ours = format!("{plain}&tls_cert={}&tls_key={}", path("client.pem"), path("client.key"));
    add_surely(&connected(&options(&ours)), "k");

    let servers = Servers::start(&options(&plain)).expect("options");
    until("it was tried", || servers.observed().connect_failures > 0);
    assert_eq!(servers.observed().connected, 0);
}

#[test]
fn a_file_that_cannot_be_used_is_named() {
    let certificates = Certificates::make();
    for (file, says) in
        [("none.pem", "none.pem cannot be used"), ("server.key", "server.key cannot be used")]
    {
        let url = format!("rediss://h?tls_ca={}", certificates.path(file).display());
        let error = Servers::start(&options(&url)).expect_err("no certificate").to_string();
        assert!(error.contains(says), "{error}");
    }
}
