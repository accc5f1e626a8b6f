//! Certificates that are made for one test, and a client that speaks TLS.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// An authority, and the folder that its certificates are in.
pub(crate) struct Authority {
    folder: tempfile::TempDir,
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
}

impl Authority {
    pub(crate) fn new() -> Authority {
        let folder = tempfile::tempdir().expect("a folder");
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.distinguished_name.push(DnType::CommonName, "authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let made = params.self_signed(&key).expect("a certificate");
        std::fs::write(folder.path().join("authority.pem"), made.pem()).expect("a file");
        let certificate = made.der().clone();
        Authority { folder, issuer: Issuer::new(params, key), certificate }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes `NAME.pem` and `NAME.key`: a certificate for `hosts` whose common name is `name`.
    pub(crate) fn sign(&self, name: &str, hosts: &[&str]) {
        let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
        let mut params = CertificateParams::new(hosts).expect("parameters");
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let made = params.signed_by(&key, &self.issuer).expect("a certificate");
        // Renamed into place, as whoever renews certificates does.
        let write = |extension: &str, text: String| {
            let new = self.path("new");
            std::fs::write(&new, text).expect("a file");
            std::fs::rename(new, self.path(&format!("{name}.{extension}"))).expect("a file");
        };
        write("key", key.serialize_pem());
        write("pem", made.pem());
    }

    /// `{ certificate, key }` of `name`, as a policy says it.
    pub(crate) fn pair(&self, name: &str) -> String {
        let file =
            |extension: &str| self.path(&format!("{name}.{extension}")).display().to_string();
        format!("{{ certificate: \"{}\", key: \"{}\" }}", file("pem"), file("key"))
    }

    /// The certificate called `name`, as it is now.
    pub(crate) fn certificate(&self, name: &str) -> CertificateDer<'static> {
        let file = self.path(&format!("{name}.pem"));
        CertificateDer::from_pem_file(file).expect("a certificate")
    }

    /// A client that trusts this authority and offers `protocols`; `own` is its certificate.
    pub(crate) fn client(&self, protocols: &[&str], own: Option<&str>) -> TlsConnector {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).expect("an authority");
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots);
        let mut config = match own {
            None => builder.with_no_client_auth(),
            Some(name) => {
                let key = PrivateKeyDer::from_pem_file(self.path(&format!("{name}.key")));
                let chain = vec![self.certificate(name)];
                builder.with_client_auth_cert(chain, key.expect("a key")).expect("a pair")
            }
        };
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        TlsConnector::from(Arc::new(config))
    }
}

/// Connects to `address` and asks for `name`.
pub(crate) async fn connect(
    client: &TlsConnector,
    address: SocketAddr,
    name: &str,
) -> std::io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from(name.to_owned()).expect("a name");
    client.connect(name, stream).await
}
