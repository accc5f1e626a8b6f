//! TLS to a server, which must show a certificate that is trusted: the shared store, and services behind a gateway. And the PEM
//! files of either side.

mod anyone;
mod error;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use anyone::Anyone;
pub use error::TlsError;

/// How a connection is encrypted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsOptions {
    /// Whose certificates are trusted.
    pub trust: Trust,
    /// Our own certificate, for servers that ask for one.
    pub identity: Option<Identity>,
}

/// Whose certificates are trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Those that this machine trusts.
    #[default]
    System,
    /// Those that authorities in this PEM file signed, and no others.
    Authorities(PathBuf),
    /// Any: the connection is encrypted, and nobody knows to whom.
    Anyone,
}

/// Our own certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// A PEM file with the certificate, and those that lead to its authority.
    pub certificate: PathBuf,
    /// A PEM file with its private key.
    pub key: PathBuf,
}

impl TlsOptions {
    /// What rustls, with ring, goes by: TLS 1.2 and 1.3, no protocol by ALPN. Reads the files.
    ///
    /// # Errors
    /// [`TlsError`] where a file cannot be used, where the key is not the certificate's, and where this machine trusts nobody.
    pub fn client_config(&self) -> Result<ClientConfig, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(TlsError::of)?;
        let roots = self.trust.roots()?;
        let builder = match roots {
            Some(roots) => builder.with_root_certificates(roots),
            None => {
                let anyone = Arc::new(Anyone(Arc::clone(&provider)));
                builder.dangerous().with_custom_certificate_verifier(anyone)
            }
        };
        let Some(Identity { certificate, key }) = &self.identity else {
            return Ok(builder.with_no_client_auth());
        };
        fits(certificate, key, &provider)?;
        builder
            .with_client_auth_cert(certificates(certificate)?, private_key(key)?)
            .map_err(|error| TlsError::file(certificate, error))
    }
}

impl Trust {
    /// The authorities; `None` where anybody is believed.
    fn roots(&self) -> Result<Option<RootCertStore>, TlsError> {
        let mut roots = RootCertStore::empty();
        match self {
            Trust::Anyone => return Ok(None),
            Trust::Authorities(file) => {
                for certificate in certificates(file)? {
                    roots.add(certificate).map_err(|error| TlsError::file(file, error))?;
                }
            }
            Trust::System => {
                let found = rustls_native_certs::load_native_certs();
                roots.add_parsable_certificates(found.certs);
                if roots.is_empty() {
                    return Err(TlsError::of(
                        "this machine has no trusted certificates; install ca-certificates, or name a file of authorities",
                    ));
                }
            }
        }
        Ok(Some(roots))
    }
}

/// A key that is not the certificate's would be found out by every server, and by nobody here.
fn fits(certificate: &Path, key: &Path, provider: &CryptoProvider) -> Result<(), TlsError> {
    CertifiedKey::from_der(certificates(certificate)?, private_key(key)?, provider)
        .map(drop)
        .map_err(|error| TlsError::file(key, error))
}

/// The certificates in a PEM file, in its order; at least one.
///
/// # Errors
/// [`TlsError`] where the file cannot be read, is malformed, or has none in it.
pub fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let found = read.map_err(|error| TlsError::file(file, error))?;
    if found.is_empty() {
        return Err(TlsError::file(file, "it has no certificate in it"));
    }
    Ok(found)
}

/// The first private key in a PEM file.
///
/// # Errors
/// [`TlsError`] where the file cannot be read, is malformed, or has none in it.
pub fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_file(file).map_err(|error| TlsError::file(file, error))
}
