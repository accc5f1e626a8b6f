//! A certificate and its key, as they were read.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::sign::CertifiedKey;
use tollgate_policy::settings::CertificateFiles;
use tollgate_store::tls::{certificates, private_key};

use super::TlsError;
use super::names::{expiry_of, names_of};

/// A certificate that works, with its key.
#[derive(Debug)]
pub(super) struct Pair {
    files: CertificateFiles,
    certified: Arc<CertifiedKey>,
    /// DNS names in lower case, of which some may begin with `*.`.
    names: Vec<String>,
    expires: u64,
}

impl Pair {
    pub(super) fn read(files: &CertificateFiles) -> Result<Pair, TlsError> {
        let file = files.certificate.as_path();
        let chain = certificates(file)?;
        let Some(own) = chain.first() else {
            return Err(TlsError::file(file, "it has no certificate in it"));
        };
        let (Some(names), Some(expires)) = (names_of(own), expiry_of(own)) else {
            return Err(TlsError::file(file, "the first certificate in it is malformed"));
        };
        let key = private_key(&files.key)?;
        let certified = CertifiedKey::from_der(chain, key, &ring::default_provider())
            .map_err(|error| TlsError::file(&files.key, error))?;
        let certified = Arc::new(certified);
        Ok(Pair { files: files.clone(), certified, names: names.dns_names, expires })
    }

    /// The certificate's file.
    pub(super) fn file(&self) -> &Path {
        &self.files.certificate
    }

    pub(super) fn is_of(&self, files: &CertificateFiles) -> bool {
        self.files == *files
    }

    /// A certificate is for one key, so it is the same where the chain is.
    pub(super) fn is_same(&self, other: &Pair) -> bool {
        self.certified.cert == other.certified.cert
    }

    pub(super) fn certified(&self) -> &Arc<CertifiedKey> {
        &self.certified
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// When, in seconds since the epoch.
    pub(super) fn expires(&self) -> u64 {
        self.expires
    }

    pub(super) fn has_expired(&self, now: u64) -> bool {
        self.expires < now
    }
}
