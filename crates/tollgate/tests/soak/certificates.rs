//! A gateway's certificate, which is made anew while it serves.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// An authority, and the folder where the gateway's certificate is.
pub(crate) struct Certificates {
    folder: PathBuf,
    issuer: Issuer<'static, KeyPair>,
    authority: rcgen::Certificate,
}

impl Certificates {
    /// An authority whose certificates go to `folder`, and the first of them.
    pub(crate) fn make(folder: &Path) -> Certificates {
        let key = KeyPair::generate().expect("a key");
        let mut parameters = parameters("authority", Vec::new());
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = parameters.self_signed(&key).expect("a certificate");
        let issuer = Issuer::new(parameters, key);
        let made = Certificates { folder: folder.to_owned(), issuer, authority };
        made.renew();
        made
    }

    /// Another certificate and another key in the place of those that are there.
    pub(crate) fn renew(&self) {
        let key = KeyPair::generate().expect("a key");
        let hosts = vec!["localhost".to_owned()];
        let certificate =
            parameters("gateway", hosts).signed_by(&key, &self.issuer).expect("a certificate");
        self.replace("gateway.pem", &certificate.pem());
        self.replace("gateway.key", &key.serialize_pem());
    }

    fn replace(&self, name: &str, text: &str) {
        let new = self.folder.join(format!("{name}.new"));
        std::fs::write(&new, text).expect("a file");
        std::fs::rename(&new, self.folder.join(name)).expect("a name");
    }

    /// What speaks HTTP/2 with whoever the authority vouches for.
    pub(crate) fn connector(&self) -> TlsConnector {
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.der().clone()).expect("an authority");
        let mut config =
            ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec()];
        TlsConnector::from(Arc::new(config))
    }
}

/// A subject of its own: one that is its issuer's would look as if it had signed itself.
fn parameters(subject: &str, hosts: Vec<String>) -> CertificateParams {
    let mut parameters = CertificateParams::new(hosts).expect("parameters");
    parameters.distinguished_name = DistinguishedName::new();
    parameters.distinguished_name.push(DnType::CommonName, subject);
    parameters
}
