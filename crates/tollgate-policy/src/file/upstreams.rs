//! `upstreams:`, the pools of servers, and the addresses that the program listens on.

mod address;
mod ejection;
mod health;
mod retries;
mod tls;

use std::net::SocketAddr;
use std::ops::RangeInclusive;

use schemars::{Schema, SchemaGenerator};
use serde_json::json;
use tollgate_core::Micros;

use super::collections::{Named, OneOrMany, Short};
use super::diagnostic::Span;
use super::node::{Node, Value};
use super::shape::{At, Shape, into_schema, record};
use super::sink::Sink;
use crate::settings::{Upstream, UpstreamServer};
use ejection::EjectionForm;
use health::HealthForm;
use retries::RetriesForm;
use tls::TlsForm;

record! {
    /// A pool of servers. A request goes to the one with fewer requests on their way of two that are picked at random.
    UpstreamForm, "an upstream" {
        /// Each `host:port` or `unix:/path`; all addresses of a name are servers.
        required servers: OneOrMany<Short<String, ServerForm>>,
        /// Connections are encrypted, and servers prove who they are. Off unless said otherwise.
        optional tls: TlsForm,
        /// HTTP/2 is spoken: in the clear by prior knowledge, through TLS where the server chooses it. Off unless said otherwise.
        optional http2: bool,
        /// Interim answers, such as `103 Early Hints`, are passed on, from HTTP/1.1 to HTTP/1.1. Off unless said otherwise.
        optional early_hints: bool,
        /// Most connections to each address; beyond it a request waits for at most `connect_timeout`. Or `unlimited` (default).
        optional max_connections: Connections,
        /// A kept connection that was not used for this long is closed; 50s unless said otherwise.
        optional idle_timeout: Micros,
        /// To connect, TLS included; the gateway's own unless said otherwise.
        optional connect_timeout: Micros,
        /// From the request's last byte to the answer's first; the gateway's own unless said otherwise.
        optional first_byte_timeout: Micros,
        /// How often names are looked up again, 1s to 1d; 30s unless said otherwise. Also where a connection fails.
        optional resolve_every: Micros,
        /// How servers are asked whether they are well, or the path that they are asked for. They are not unless said so.
        optional health_check: HealthForm,
        /// When servers that fail requests are left out for a while; `off` for never.
        optional ejection: EjectionForm,
        /// Which requests are sent again.
        optional retries: RetriesForm,
    }
}

record! {
    /// A server with a part of its own.
    ServerForm, "a server" {
        /// `host:port` or `unix:/path`.
        required address: String,
        /// Its part of the requests, relative to the others', 1 to 1000; 1 unless said otherwise.
        optional weight: u64,
    }
}

/// A number of connections, or `unlimited`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connections(Option<u64>);

impl Shape for Connections {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<Connections> {
        match &node.value {
            Value::Scalar(text) if text == "unlimited" => Some(Connections(None)),
            _ => u64::decode(node, sink).map(|most| Connections(Some(most))),
        }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let number = u64::schema(generator);
        into_schema(json!({ "anyOf": [number, { "const": "unlimited" }] }))
    }
}

/// The pools, everything in them checked.
pub(crate) fn upstreams(
    section: Option<&At<Vec<Named<UpstreamForm>>>>,
    sink: &mut Sink<'_>,
) -> Vec<Upstream> {
    let declared = section.map_or(&[][..], |section| section.value.as_slice());
    declared.iter().map(|one| upstream(one, sink)).collect()
}

fn upstream(named: &Named<UpstreamForm>, sink: &mut Sink<'_>) -> Upstream {
    let mut made = Upstream::new(&named.name, Vec::new());
    let Some(form) = named.value.as_ref().map(|form| &form.value) else { return made };
    made.servers = servers(form, sink);
    made.tls = tls::tls(form.tls.as_ref(), &made.servers, sink);
    made.http2 = form.http2.as_ref().is_some_and(|http2| http2.value);
    made.early_hints = early_hints(form, &made, sink);
    made.max_connections = form.max_connections.as_ref().and_then(|most| {
        let number = At { value: most.value.0?, span: most.span, name: most.name };
        let mut most = 1;
        count(&Some(number), 1..=1_000_000, &mut most, sink);
        usize::try_from(most).ok()
    });
    let (shortest, longest) = (Micros::new(1), Micros::from_secs(86_400));
    span(&form.idle_timeout, shortest, longest, &mut made.idle_timeout, sink);
    for (said, into) in [
        (&form.connect_timeout, &mut made.connect_timeout),
        (&form.first_byte_timeout, &mut made.first_byte_timeout),
    ] {
        if said.is_some() {
            span(said, shortest, longest, into.insert(shortest), sink);
        }
    }
    span(&form.resolve_every, Micros::from_secs(1), longest, &mut made.resolve_every, sink);
    made.health_check = health::health_check(form.health_check.as_ref(), made.http2, sink);
    made.ejection = ejection::ejection(form.ejection.as_ref(), sink);
    made.retries = retries::retries(form.retries.as_ref(), sink);
    made
}

fn early_hints(form: &UpstreamForm, made: &Upstream, sink: &mut Sink<'_>) -> bool {
    let Some(hints) = form.early_hints.as_ref().filter(|hints| hints.value) else { return false };
    if made.http2 && made.tls.is_none() {
        let message = "these servers are spoken to in HTTP/2, from which no hints are passed on";
        sink.warn(hints.span, message.to_owned(), "leave out `early_hints` or `http2`");
    }
    true
}

fn servers(form: &UpstreamForm, sink: &mut Sink<'_>) -> Vec<UpstreamServer> {
    let Some(list) = &form.servers else { return Vec::new() };
    let mut servers: Vec<UpstreamServer> = Vec::new();
    for one in &list.value.0 {
        let Some(server) = server(one, sink) else { continue };
        if servers.iter().any(|other| other.address == server.address) {
            let message = format!("`{}` is here twice", server.address);
            sink.error(one.span, message, "name each server once".to_owned());
        }
        servers.push(server);
    }
    if list.value.0.is_empty() {
        let help = "name at least one, such as `127.0.0.1:9001`";
        sink.error(list.span, "an upstream without servers".to_owned(), help.to_owned());
    }
    servers
}

fn server(form: &At<Short<String, ServerForm>>, sink: &mut Sink<'_>) -> Option<UpstreamServer> {
    let (text, at, weight) = match &form.value {
        Short::Short(text) => (text, form.span, &None),
        Short::Long(long) => {
            let address = long.address.as_ref()?;
            (&address.value, address.span, &long.weight)
        }
    };
    let mut said = 1;
    count(weight, 1..=1_000, &mut said, sink);
    match address::address(text) {
        Ok(address) => Some(UpstreamServer { address, weight: said }),
        Err(help) => {
            sink.error(at, format!("`{text}` is no server"), help);
            None
        }
    }
}

/// A whole number within `range`.
fn count(form: &Option<At<u64>>, range: RangeInclusive<u32>, into: &mut u32, sink: &mut Sink<'_>) {
    let Some(at) = form else { return };
    match u32::try_from(at.value).ok().filter(|number| range.contains(number)) {
        Some(number) => *into = number,
        None => {
            let help = format!("write {} to {}", range.start(), range.end());
            sink.error(at.span, format!("{} is out of range", at.value), help);
        }
    }
}

/// A time between two others.
fn span(
    form: &Option<At<Micros>>,
    shortest: Micros,
    longest: Micros,
    into: &mut Micros,
    sink: &mut Sink<'_>,
) {
    let Some(at) = form else { return };
    if at.value < shortest || at.value > longest {
        let help = format!("write a time between `{}` and `{}`", words(shortest), words(longest));
        sink.error(at.span, "this time is out of range".to_owned(), help);
    }
    *into = at.value;
}

/// A time as a policy writes it.
fn words(time: Micros) -> String {
    let units = [("d", 86_400_000_000), ("h", 3_600_000_000), ("s", 1_000_000), ("ms", 1_000)];
    let fit =
        units.iter().find(|(_, size)| time.get() >= *size && time.get().is_multiple_of(*size));
    fit.map_or_else(
        || format!("{}us", time.get()),
        |(unit, size)| format!("{}{unit}", time.get() / size),
    )
}

fn statuses(list: &[At<u64>], range: RangeInclusive<u16>, sink: &mut Sink<'_>) -> Vec<u16> {
    list.iter().filter_map(|one| status(one, range.clone(), sink)).collect()
}

/// A status within `range`.
fn status(form: &At<u64>, range: RangeInclusive<u16>, sink: &mut Sink<'_>) -> Option<u16> {
    let fitting = u16::try_from(form.value).ok().filter(|status| range.contains(status));
    if fitting.is_none() {
        let help = format!("write a status from {} to {}", range.start(), range.end());
        sink.error(form.span, format!("{} is no status for this", form.value), help);
    }
    fitting
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
