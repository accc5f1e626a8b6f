//! TLS to servers, which must prove that they are who the policy means.

mod anyone;

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tollgate_policy::settings::{UpstreamAddress, UpstreamTls};

use super::stream::Plain;
use anyone::Anyone;

/// What the server may choose to speak.
const HTTP1: &[u8] = b"http/1.1";
const HTTP2: &[u8] = b"h2";

/// What wraps the connections of a pool.
#[derive(Clone)]
pub(super) struct Tls(TlsConnector);

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

/// Why connections of a pool cannot be encrypted.
#[derive(Clone, Debug)]
pub(crate) struct TlsError(Arc<str>);

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Tls {
    /// Reads the files that `settings` names.
    pub(super) fn new(settings: &UpstreamTls, http2: bool) -> Result<Tls, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(wrong)?;
        let builder = if settings.insecure {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(Anyone(provider)))
        } else {
            builder.with_root_certificates(roots(settings.authorities.as_deref())?)
        };
        let mut config = match &settings.identity {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                own_identity_fits(certificate, key, &ring::default_provider())?;
                builder
                    .with_client_auth_cert(certificates(certificate)?, private_key(key)?)
                    .map_err(|error| unusable(certificate, error))?
            }
        };
        config.alpn_protocols = match http2 {
            true => vec![HTTP2.to_vec(), HTTP1.to_vec()],
            false => vec![HTTP1.to_vec()],
        };
        Ok(Tls(TlsConnector::from(Arc::new(config))))
    }

    /// Shakes hands with a server, which must prove that it is `name`.
    pub(super) async fn wrap(
        &self,
        name: &ServerName<'static>,
        stream: Plain,
    ) -> io::Result<TlsStream<Plain>> {
        self.0.connect(name.clone(), stream).await
    }
}

/// Whether the server chose HTTP/2.
pub(super) fn chose_http2(stream: &TlsStream<Plain>) -> bool {
    stream.get_ref().1.alpn_protocol() == Some(HTTP2)
}

/// The name that the certificate of the server at `address` must be for.
pub(super) fn name(settings: &UpstreamTls, address: &UpstreamAddress) -> ServerName<'static> {
    let said = settings.server_name.as_ref().and_then(|name| match name.parse::<IpAddr>() {
        Ok(address) => Some(address.into()),
        Err(_) => ServerName::try_from(name.clone()).ok(),
    });
    said.unwrap_or_else(|| match address {
        UpstreamAddress::Socket(address) => address.ip().into(),
        UpstreamAddress::Name { host, .. } => {
            ServerName::try_from(host.clone()).unwrap_or_else(|_| nobody())
        }
        UpstreamAddress::Unix(_) => nobody(),
    })
}

/// Where there is no name there is none to prove: no certificate is for the unspecified address.
fn nobody() -> ServerName<'static> {
    IpAddr::from([0, 0, 0, 0]).into()
}

fn roots(authorities: Option<&Path>) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    match authorities {
        Some(file) => {
            for certificate in certificates(file)? {
                roots.add(certificate).map_err(|error| unusable(file, error))?;
            }
        }
        None => {
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
            if roots.is_empty() {
                return Err(wrong(
                    "this machine has no trusted certificates; install ca-certificates, or name a file as `authorities`",
                ));
            }
        }
    }
    Ok(roots)
}

/// A key that is not the certificate's would be found out by every server, and by nobody here.
fn own_identity_fits(
    certificate: &Path,
    key: &Path,
    provider: &CryptoProvider,
) -> Result<(), TlsError> {
    let chain = certificates(certificate)?;
    tokio_rustls::rustls::sign::CertifiedKey::from_der(chain, private_key(key)?, provider)
        .map(drop)
        .map_err(|error| unusable(key, error))
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let found = read.map_err(|error| unusable(file, error))?;
    if found.is_empty() { Err(unusable(file, "it has no certificate in it")) } else { Ok(found) }
}

fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_file(file).map_err(|error| unusable(file, error))
}

fn unusable(file: &Path, reason: impl fmt::Display) -> TlsError {
    wrong(format!("{} cannot be used: {reason}", file.display()))
}

fn wrong(reason: impl fmt::Display) -> TlsError {
    TlsError(reason.to_string().into())
}
