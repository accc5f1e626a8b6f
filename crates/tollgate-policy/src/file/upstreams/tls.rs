//! `tls:` of an upstream: whom the gateway believes, and who it says it is.

use std::path::PathBuf;

use super::is_host;
use crate::file::collections::Short;
use crate::file::shape::{At, record};
use crate::file::sink::Sink;
use crate::settings::{UpstreamAddress, UpstreamServer, UpstreamTls};

/// `true`, `false`, or what is special.
pub(super) type TlsForm = Short<bool, UpstreamTlsForm>;

record! {
    /// How a server proves who it is: by a certificate for its name, from an authority that the machine trusts.
    UpstreamTlsForm, "an upstream's `tls`" {
        /// A PEM file of authorities to trust in place of the machine's; beside the policy unless absolute.
        optional authorities: String,
        /// The name that the certificate must be for, where it is not the server's own.
        optional server_name: String,
        /// A PEM file with the gateway's own certificate, for a server that asks for one; with `key`.
        optional certificate: String,
        /// A PEM file with the certificate's private key.
        optional key: String,
        /// Whoever answers is believed. For trying out.
        optional insecure: bool,
    }
}

/// The field's meaning; `servers` are those that must prove who they are.
pub(super) fn tls(
    form: Option<&At<TlsForm>>,
    servers: &[UpstreamServer],
    sink: &mut Sink<'_>,
) -> Option<UpstreamTls> {
    let form = form?;
    let made = match &form.value {
        Short::Short(false) => return None,
        Short::Short(true) => UpstreamTls::default(),
        Short::Long(long) => {
            written_out(&At { value: long, span: form.span, name: form.name }, sink)
        }
    };
    let nameless = servers.iter().any(|server| matches!(server.address, UpstreamAddress::Unix(_)));
    if nameless && made.server_name.is_none() && !made.insecure {
        let message = "a Unix socket has no name that a certificate could be for".to_owned();
        let help = "add `server_name: app.internal` to `tls`, or leave `tls` out";
        sink.error(form.name, message, help.to_owned());
    }
    Some(made)
}

fn written_out(form: &At<&UpstreamTlsForm>, sink: &mut Sink<'_>) -> UpstreamTls {
    let UpstreamTlsForm { authorities, server_name, certificate, key, insecure, .. } = form.value;
    if let Some(name) = server_name
        && !is_host(&name.value)
        && name.value.parse::<std::net::IpAddr>().is_err()
    {
        let help = "write a DNS name or an IP address, such as `app.internal`";
        sink.error(name.span, format!("`{}` is no server's name", name.value), help.to_owned());
    }
    if certificate.is_some() != key.is_some() {
        let message = "`certificate` and `key` go together".to_owned();
        sink.error(form.name, message, "name both files, or neither".to_owned());
    }
    let insecure = insecure.as_ref().filter(|insecure| insecure.value);
    if let Some(insecure) = insecure {
        let message = "whoever answers for these servers is believed".to_owned();
        sink.warn(insecure.name, message, "name their authority as `authorities` in production");
    }
    let mut file = |file: &Option<At<String>>| file.as_ref().map(|file| readable(file, sink));
    let (authorities, certificate, key) = (file(authorities), file(certificate), file(key));
    UpstreamTls {
        authorities,
        server_name: server_name.as_ref().map(|name| name.value.clone()),
        identity: certificate.zip(key),
        insecure: insecure.is_some(),
    }
}

/// The path of a file that has to be there where the policy runs.
fn readable(file: &At<String>, sink: &mut Sink<'_>) -> PathBuf {
    let path = sink.surroundings.path(&file.value);
    if let Err(wrong) = std::fs::File::open(&path) {
        let message = format!("`{}` cannot be read: {wrong}", file.value);
        let help = format!("it is looked up as {}", path.display());
        if sink.surroundings.is_serving() {
            sink.error(file.span, message, help);
        } else {
            sink.warn(
                file.span,
                message,
                &format!("{help}: no gateway serves this policy without it"),
            );
        }
    }
    path
}
