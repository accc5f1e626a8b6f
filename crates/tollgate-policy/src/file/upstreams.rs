//! `upstreams:`, the pools of servers, and the addresses that the program listens on.

use std::net::{Ipv6Addr, SocketAddr};

use super::collections::{Named, OneOrMany};
use super::diagnostic::Span;
use super::shape::{At, record};
use super::sink::Sink;
use crate::settings::Upstream;

record! {
    /// A pool of servers.
    UpstreamForm, "an upstream" {
        /// Each `host:port`; HTTP/1.1 is spoken to them.
        required servers: OneOrMany<String>,
    }
}

/// The pools, each server checked.
pub(crate) fn upstreams(
    section: Option<&At<Vec<Named<UpstreamForm>>>>,
    sink: &mut Sink<'_>,
) -> Vec<Upstream> {
    let declared = section.map_or(&[][..], |section| section.value.as_slice());
    declared.iter().map(|one| upstream(one, sink)).collect()
}

fn upstream(named: &Named<UpstreamForm>, sink: &mut Sink<'_>) -> Upstream {
    let mut servers: Vec<String> = Vec::new();
    if let Some(list) = named.value.as_ref().and_then(|form| form.value.servers.as_ref()) {
        for server in &list.value.0 {
            if let Err(help) = check_server(&server.value) {
                sink.error(server.span, format!("`{}` is no server", server.value), help);
            }
            if servers.contains(&server.value) {
                let message = format!("`{}` is here twice", server.value);
                sink.error(server.span, message, "name each server once".to_owned());
            }
            servers.push(server.value.clone());
        }
        if servers.is_empty() {
            let help = "name at least one, such as `127.0.0.1:9001`";
            sink.error(list.span, "an upstream without servers".to_owned(), help.to_owned());
        }
    }
    Upstream { name: named.name.as_str().into(), servers }
}

/// `host:port`: a name, an IPv4 address, or an IPv6 address in brackets.
fn check_server(server: &str) -> Result<(), String> {
    if let Some((scheme, rest)) = server.split_once("://") {
        let rest = rest.trim_end_matches('/');
        return Err(match scheme {
            "http" => format!("write host and port alone, such as `{rest}`"),
            _ => "only plain HTTP is spoken to upstreams; write `host:port`".to_owned(),
        });
    }
    let form = || "write `host:port`, such as `127.0.0.1:9001` or `[::1]:9001`".to_owned();
    let (host, port) = server.rsplit_once(':').ok_or_else(form)?;
    if port.parse::<u16>().ok().filter(|port| *port > 0).is_none() || port.starts_with('+') {
        return Err("the port is a number from 1 to 65535".to_owned());
    }
    let fine = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => is_host(host),
    };
    if fine { Ok(()) } else { Err(form()) }
}

/// Whether `host` is a DNS name or an IPv4 address.
pub(crate) fn is_host(host: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    host.len() <= 253 && host.split('.').all(label)
}

/// An address and port to listen on.
pub(crate) fn socket(text: &str, at: Span, sink: &mut Sink<'_>) -> Option<SocketAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    let help = match text.rsplit_once(':') {
        Some(("", port)) => format!("write `0.0.0.0:{port}` for all addresses"),
        Some(("localhost", port)) => format!("write `127.0.0.1:{port}`"),
        _ => "write an address and a port, such as `127.0.0.1:8080` or `[::1]:8080`".to_owned(),
    };
    sink.error(at, format!("`{text}` is no address to listen on"), help);
    None
}
