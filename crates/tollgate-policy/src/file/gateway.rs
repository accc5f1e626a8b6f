//! `gateway:`, time and size limits of the reverse proxy. Every one has a default.

use schemars::{Schema, SchemaGenerator};
use serde_json::json;
use tollgate_core::Micros;

use super::node::{Node, Value};
use super::shape::{At, Shape, into_schema, record};
use super::sink::Sink;
use crate::settings::GatewaySettings;

record! {
    /// Time and size limits of the gateway.
    GatewayForm, "`gateway`" {
        /// From the connection's (or the last answer's) end to the last byte of the next header; 30s unless said otherwise.
        optional header_timeout: Micros,
        /// Longest silence within a body, either way; 60s.
        optional body_timeout: Micros,
        /// Longest silence between requests on a kept connection; 75s.
        optional idle_timeout: Micros,
        /// To connect to an upstream server; 3s.
        optional connect_timeout: Micros,
        /// From the request's last byte to the answer's first; 60s.
        optional first_byte_timeout: Micros,
        /// How long connections may finish after SIGTERM; 30s.
        optional drain_timeout: Micros,
        /// Largest header, in bytes; 32768.
        optional max_header_bytes: u64,
        /// Most header fields; 100.
        optional max_headers: u64,
        /// Largest request body, in bytes, or `unlimited` (default). A larger one is 413.
        optional max_body_bytes: UpTo,
        /// Largest body of an answer, in bytes, or `unlimited` (default). A larger one is 502, or cut off where its length was
        /// not stated.
        optional max_response_bytes: UpTo,
        /// Longest body, in bytes, in which `json` and `form` identities are looked for; 65536. So much of a request is read
        /// before it is decided, where one of its limits counts by such an identity.
        optional max_identity_body: u64,
        /// Most connections in; 10000.
        optional max_connections: u64,
        /// Most connections in from one address, which is cut to `ipv6_prefix`, or `unlimited` (default).
        optional max_connections_per_address: UpTo,
        /// Most requests that wait for their delay; 10000.
        optional max_waiting: u64,
        /// Idle connections kept to each upstream server; 64.
        optional max_idle_per_server: u64,
        /// Most requests side by side on one HTTP/2 connection; 128.
        optional max_streams: u64,
        /// Most streams that an HTTP/2 client may reset on one connection beyond as many as it lets finish; 100, of which a tenth
        /// comes back each second. Beyond that the connection is ended.
        optional max_resets: u64,
        /// Most frames on one HTTP/2 connection that carry nothing (PING, SETTINGS, WINDOW_UPDATE, empty DATA), beyond eight for
        /// each request and four for each piece of a body; 1000, of which a tenth comes back each second. Beyond that the
        /// connection is ended.
        optional max_control_frames: u64,
    }
}

/// A number, or `unlimited`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UpTo(pub(super) Option<u64>);

impl Shape for UpTo {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<UpTo> {
        match &node.value {
            Value::Scalar(text) if text == "unlimited" => Some(UpTo(None)),
            _ => u64::decode(node, sink).map(|most| UpTo(Some(most))),
        }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let number = u64::schema(generator);
        into_schema(json!({ "anyOf": [number, { "const": "unlimited" }] }))
    }
}

impl Default for GatewaySettings {
    fn default() -> GatewaySettings {
        GatewaySettings {
            header_timeout: Micros::from_secs(30),
            body_timeout: Micros::from_secs(60),
            idle_timeout: Micros::from_secs(75),
            connect_timeout: Micros::from_secs(3),
            first_byte_timeout: Micros::from_secs(60),
            drain_timeout: Micros::from_secs(30),
            max_header_bytes: 32 << 10,
            max_headers: 100,
            max_body_bytes: None,
            max_response_bytes: None,
            max_identity_body: 64 << 10,
            max_connections: 10_000,
            max_connections_per_address: None,
            max_waiting: 10_000,
            max_idle_per_server: 64,
            max_streams: 128,
            max_resets: 100,
            max_control_frames: 1_000,
        }
    }
}

/// Longest time-out: a day. What is longer is no time-out.
const LONGEST: Micros = Micros::from_secs(86_400);

fn span(form: &Option<At<Micros>>, into: &mut Micros, sink: &mut Sink<'_>) {
    let Some(at) = form else { return };
    if at.value == Micros::ZERO || at.value > LONGEST {
        let help = "write a time between `1us` and `1d`";
        sink.error(at.span, "this is no time limit".to_owned(), help.to_owned());
    }
    *into = at.value;
}

fn count(
    form: &Option<At<u64>>,
    range: std::ops::RangeInclusive<u64>,
    into: &mut usize,
    sink: &mut Sink<'_>,
) {
    let Some(at) = form else { return };
    match usize::try_from(at.value).ok().filter(|_| range.contains(&at.value)) {
        Some(count) => *into = count,
        None => {
            let help = format!("write {} to {}", range.start(), range.end());
            sink.error(at.span, format!("{} is out of range", at.value), help);
        }
    }
}

fn per_address(form: &At<UpTo>, sink: &mut Sink<'_>) -> Option<usize> {
    let most = usize::try_from(form.value.0?).unwrap_or(usize::MAX);
    if most == 0 {
        let help = "write 1 or more, or `unlimited`";
        sink.error(form.span, "no address could connect".to_owned(), help.to_owned());
    }
    Some(most)
}

/// The section's meaning.
pub(crate) fn gateway(section: Option<&At<GatewayForm>>, sink: &mut Sink<'_>) -> GatewaySettings {
    let mut said = GatewaySettings::default();
    let Some(form) = section.map(|section| &section.value) else { return said };
    span(&form.header_timeout, &mut said.header_timeout, sink);
    span(&form.body_timeout, &mut said.body_timeout, sink);
    span(&form.idle_timeout, &mut said.idle_timeout, sink);
    span(&form.connect_timeout, &mut said.connect_timeout, sink);
    span(&form.first_byte_timeout, &mut said.first_byte_timeout, sink);
    span(&form.drain_timeout, &mut said.drain_timeout, sink);
    count(&form.max_header_bytes, 8_192..=16 << 20, &mut said.max_header_bytes, sink);
    count(&form.max_headers, 10..=10_000, &mut said.max_headers, sink);
    count(&form.max_identity_body, 1..=16 << 20, &mut said.max_identity_body, sink);
    count(&form.max_connections, 1..=10_000_000, &mut said.max_connections, sink);
    count(&form.max_waiting, 0..=10_000_000, &mut said.max_waiting, sink);
    count(&form.max_idle_per_server, 0..=100_000, &mut said.max_idle_per_server, sink);
    if let Some(most) = &form.max_connections_per_address {
        said.max_connections_per_address = per_address(most, sink);
    }
    count(&form.max_streams, 1..=10_000, &mut said.max_streams, sink);
    count(&form.max_resets, 10..=1_000_000, &mut said.max_resets, sink);
    count(&form.max_control_frames, 100..=1_000_000, &mut said.max_control_frames, sink);
    if let Some(bytes) = &form.max_body_bytes {
        said.max_body_bytes = bytes.value.0;
    }
    if let Some(bytes) = &form.max_response_bytes {
        said.max_response_bytes = bytes.value.0;
    }
    said
}
