//! `health_check:`, how servers are asked whether they are well.

use schemars::{Schema, SchemaGenerator};
use serde_json::json;
use tollgate_core::Micros;

use super::{count, is_host, span, statuses};
use crate::file::collections::{AtLeastOne, Short};
use crate::file::node::Node;
use crate::file::scalars::text_of;
use crate::file::shape::{At, Shape, into_schema, record};
use crate::file::sink::Sink;
use crate::settings::{HealthCheck, Probe};

/// A path, or a check that is written out.
pub(super) type HealthForm = Short<String, HealthCheckForm>;

record! {
    /// How servers are asked whether they are well. Exactly one of `path` and `grpc`.
    HealthCheckForm, "a health check" {
        /// `GET` of this path.
        optional path: String,
        /// The statuses of a healthy server; any from 200 to 299 unless said otherwise. With `path`.
        optional status: AtLeastOne<u64>,
        /// The host that is named; the server's own address unless said otherwise. With `path`.
        optional host: String,
        /// `grpc.health.v1`, for the service of this name; `true` asks about the whole server. With `http2`.
        optional grpc: GrpcService,
        /// How often, 100ms to 1h; 5s unless said otherwise, up to a tenth less at random.
        optional every: Micros,
        /// How long a check may take, at most `every`; 1s unless said otherwise.
        optional timeout: Micros,
        /// Failures in a row that make a server unhealthy; 3 unless said otherwise.
        optional failures: u64,
        /// Successes in a row that make it healthy again; 2 unless said otherwise.
        optional successes: u64,
    }
}

/// A gRPC service's name; empty is the whole server.
#[derive(Clone, Debug)]
pub(crate) struct GrpcService(String);

impl Shape for GrpcService {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<GrpcService> {
        let text = text_of(node, "`true` or a gRPC service", sink)?;
        if text == "true" {
            return Some(GrpcService(String::new()));
        }
        let fine = |byte: u8| byte.is_ascii_alphanumeric() || b"._".contains(&byte);
        if text.is_empty() || text.len() > 200 || text == "false" || !text.bytes().all(fine) {
            let help = "write `true`, or a service such as `shop.v1.Orders`";
            sink.error(node.span, format!("`{text}` is no gRPC service"), help.to_owned());
            return None;
        }
        Some(GrpcService(text.to_owned()))
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        into_schema(json!({ "anyOf": [
            { "const": true },
            { "type": "string", "examples": ["shop.v1.Orders"] },
        ] }))
    }
}

/// The field's meaning, where HTTP/2 is spoken or not.
pub(super) fn health_check(
    form: Option<&At<HealthForm>>,
    http2: bool,
    sink: &mut Sink<'_>,
) -> Option<HealthCheck> {
    let form = form?;
    let mut check = HealthCheck {
        probe: Probe::Http { path: String::new(), host: None, status: (200..=299).collect() },
        every: Micros::from_secs(5),
        timeout: Micros::from_secs(1),
        failures: 3,
        successes: 2,
    };
    match &form.value {
        Short::Short(path) => {
            let path = At { value: path.clone(), span: form.span, name: form.name };
            check.probe = Probe::Http {
                path: target(&path, sink),
                host: None,
                status: (200..=299).collect(),
            };
        }
        Short::Long(long) => {
            check.probe =
                probe(&At { value: long, span: form.span, name: form.name }, http2, sink)?;
            pace(long, &mut check, sink);
        }
    }
    Some(check)
}

fn pace(form: &HealthCheckForm, check: &mut HealthCheck, sink: &mut Sink<'_>) {
    span(&form.every, Micros::new(100_000), Micros::from_secs(3_600), &mut check.every, sink);
    span(&form.timeout, Micros::new(1_000), Micros::from_secs(3_600), &mut check.timeout, sink);
    count(&form.failures, 1..=100, &mut check.failures, sink);
    count(&form.successes, 1..=100, &mut check.successes, sink);
    if check.timeout > check.every {
        match &form.timeout {
            Some(timeout) => {
                let help =
                    "one check ends before the next begins: make `timeout` shorter than `every`";
                sink.error(
                    timeout.span,
                    "`timeout` is longer than `every`".to_owned(),
                    help.to_owned(),
                );
            }
            None => check.timeout = check.every,
        }
    }
}

fn probe(form: &At<&HealthCheckForm>, http2: bool, sink: &mut Sink<'_>) -> Option<Probe> {
    let check = form.value;
    let written = check.written.among(&["path", "grpc"]);
    if written.len() != 1 {
        if !(written.is_empty() && check.written.strangers()) {
            let message = "a health check has a `path`, or `grpc`".to_owned();
            let help = "write `path: /healthz`, or `grpc: true`";
            sink.error(form.name, message, help.to_owned());
        }
        return None;
    }
    if let Some(grpc) = &check.grpc {
        if !http2 {
            let help = "add `http2: true` to the upstream";
            sink.error(grpc.name, "gRPC is spoken over HTTP/2".to_owned(), help.to_owned());
        }
        for (key, at) in check.written.among(&["status", "host"]) {
            let help = "a gRPC check is answered by a word, not by a status";
            sink.error(at, format!("`{key}` goes with `path`"), help.to_owned());
        }
        return Some(Probe::Grpc { service: grpc.value.0.clone() });
    }
    let path = check.path.as_ref().map(|path| target(path, sink))?;
    let status = check.status.as_ref().map(|list| statuses(&list.value.0, 100..=599, sink));
    let host = check.host.as_ref().map(|host| named(host, sink));
    Some(Probe::Http { path, host, status: status.unwrap_or_else(|| (200..=299).collect()) })
}

/// A path that a request line can carry.
fn target(path: &At<String>, sink: &mut Sink<'_>) -> String {
    let visible = path.value.bytes().all(|byte| (b'!'..=b'~').contains(&byte) && byte != b'#');
    if !path.value.starts_with('/') || !visible {
        let help = "write a path, such as `/healthz`";
        sink.error(path.span, format!("`{}` is no path", path.value), help.to_owned());
    }
    path.value.clone()
}

fn named(host: &At<String>, sink: &mut Sink<'_>) -> String {
    let bare = host.value.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok());
    if !is_host(bare.map_or(host.value.as_str(), |(bare, _)| bare)) {
        let help = "write a name, such as `app.internal`";
        sink.error(host.span, format!("`{}` is no host", host.value), help.to_owned());
    }
    host.value.clone()
}
