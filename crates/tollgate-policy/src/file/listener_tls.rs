//! `tls:` of a listener: its certificates, and whose certificates its clients may show.

use std::path::PathBuf;

use super::shape::{At, record};
use super::sink::Sink;
use crate::settings::{CertificateFiles, ClientAuthorities, ListenerTls};

/// Most certificates of a listener.
const MOST: usize = 1_000;

record! {
    /// TLS at a listener. Files are read again when they change and at SIGHUP; a pair that is broken or has expired does not
    /// take the place of one that works.
    ListenerTlsForm, "a listener's `tls`" {
        /// Certificates with their keys. The name that a client asks for chooses among them; the first is for any other.
        required certificates: Vec<At<ListenerCertificateForm>>,
        /// Certificates that clients may or must show. Without it they are not asked for one.
        optional client_certificates: ClientCertificatesForm,
    }
}

record! {
    /// A certificate.
    ListenerCertificateForm, "a certificate" {
        /// The chain in PEM, the server's own certificate first. It is for the DNS names that are in it.
        required certificate: String,
        /// The private key in PEM.
        required key: String,
    }
}

record! {
    /// Whose certificates clients may show.
    ClientCertificatesForm, "`client_certificates`" {
        /// A file of certificates in PEM, one of which must have signed the client's.
        required authorities: String,
        /// Whether a client without a certificate is refused; unless said so it is not, and the identity `client_certificate`
        /// is missing.
        optional required: bool,
    }
}

/// What a listener's TLS is made of.
pub(crate) fn tls_of(form: &At<ListenerTlsForm>, sink: &mut Sink<'_>) -> Option<ListenerTls> {
    let certificates = form.value.certificates.as_ref()?;
    if certificates.value.is_empty() {
        let help = "add `{ certificate: chain.pem, key: key.pem }`";
        sink.error(certificates.span, "TLS without a certificate".to_owned(), help.to_owned());
    }
    if certificates.value.len() > MOST {
        let message = format!("{} certificates", certificates.value.len());
        sink.error(certificates.span, message, format!("at most {MOST} at one listener"));
    }
    let clients = form.value.client_certificates.as_ref().and_then(|form| clients(form, sink));
    let files = |form: &At<ListenerCertificateForm>, sink: &mut Sink<'_>| {
        let certificate = file(form.value.certificate.as_ref()?, sink);
        Some(CertificateFiles { certificate, key: file(form.value.key.as_ref()?, sink) })
    };
    let certificates = certificates.value.iter().filter_map(|form| files(form, sink)).collect();
    Some(ListenerTls { certificates, clients })
}

fn clients(form: &At<ClientCertificatesForm>, sink: &mut Sink<'_>) -> Option<ClientAuthorities> {
    let authorities = file(form.value.authorities.as_ref()?, sink);
    let required = form.value.required.as_ref().is_some_and(|required| required.value);
    Some(ClientAuthorities { authorities, required })
}

/// The path of a file that a gateway needs: a policy is also checked and tested where the keys are not, and a gateway that
/// reads them says what is wrong with them.
fn file(name: &At<String>, sink: &mut Sink<'_>) -> PathBuf {
    let path = sink.surroundings.path(&name.value);
    if !sink.surroundings.is_serving()
        && let Err(error) = std::fs::metadata(&path)
    {
        let message = format!("`{}` cannot be read: {error}", name.value);
        let help = format!("it is looked up as {}; no gateway serves without it", path.display());
        sink.warn(name.span, message, &help);
    }
    path
}
