//! TLS to the server, which must show a certificate that is trusted.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

use crate::redis::{RedisOptionsError, TlsOptions, Trust};

/// What wraps connections.
#[derive(Clone)]
pub(super) struct Tls(TlsConnector);

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

impl Tls {
    /// Reads the files.
    pub(super) fn new(options: &TlsOptions) -> Result<Tls, RedisOptionsError> {
        let provider = Arc::new(ring::default_provider());
        let verifier = verifier(&options.trust, &provider)?;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| RedisOptionsError::Tls { reason: error.to_string() })?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let config = match &options.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => builder
                .with_client_auth_cert(certificates(&identity.certificate)?, key(&identity.key)?)
                .map_err(|error| RedisOptionsError::Tls { reason: error.to_string() })?,
        };
        Ok(Tls(TlsConnector::from(Arc::new(config))))
    }

    /// Shakes hands with the server, which must prove that it is `host`.
    pub(super) async fn wrap(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        self.0.connect(name, stream).await
    }
}

fn verifier(
    trust: &Trust,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, RedisOptionsError> {
    let roots = match trust {
        Trust::Anyone => return Ok(Arc::new(Anyone(Arc::clone(provider)))),
        Trust::System => system_roots()?,
        Trust::Authorities(file) => {
            let mut roots = RootCertStore::empty();
            for certificate in certificates(file)? {
                roots.add(certificate).map_err(|error| unusable(file, error))?;
            }
            roots
        }
    };
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map(|verifier| verifier as Arc<dyn ServerCertVerifier>)
        .map_err(|error| RedisOptionsError::Tls { reason: error.to_string() })
}

fn system_roots() -> Result<RootCertStore, RedisOptionsError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        return Err(RedisOptionsError::Tls {
            reason: "this machine has no trusted certificates; install ca-certificates, or name a file with tls_ca"
                .to_owned(),
        });
    }
    Ok(roots)
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, RedisOptionsError> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let found = read.map_err(|error| unusable(file, error))?;
    if found.is_empty() { Err(unusable(file, "it has no certificate in it")) } else { Ok(found) }
}

fn key(file: &Path) -> Result<PrivateKeyDer<'static>, RedisOptionsError> {
    PrivateKeyDer::from_pem_file(file).map_err(|error| unusable(file, error))
}

fn unusable(file: &Path, reason: impl fmt::Display) -> RedisOptionsError {
    RedisOptionsError::File { path: file.to_owned(), reason: reason.to_string() }
}

/// Takes any certificate: the connection is encrypted, and nobody knows to whom.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        tokio_rustls::rustls::crypto::verify_tls12_signature(
            message,
            certificate,
            signed,
            algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        tokio_rustls::rustls::crypto::verify_tls13_signature(
            message,
            certificate,
            signed,
            algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
