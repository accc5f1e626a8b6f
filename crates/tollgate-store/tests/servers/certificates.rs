//! Certificates that are made for one test.

use std::path::PathBuf;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
};
use tempfile::TempDir;

/// An authority, a server's certificate for `localhost` and 127.0.0.1, a client's, one for another name, one whose time is over,
/// and another authority that signed none.
#[derive(Debug)]
pub(crate) struct Certificates {
    folder: TempDir,
}

impl Certificates {
    pub(crate) fn make() -> Certificates {
        let made = Certificates { folder: tempfile::tempdir().expect("a folder") };
        let issuer = made.authority("authority.pem");
        made.authority("stranger.pem");
        let here = ["localhost", "127.0.0.1"];
        made.signed("server", parameters("server", &here), &issuer);
        made.signed("client", parameters("client", &here), &issuer);
        made.signed("elsewhere", parameters("elsewhere", &["elsewhere.test"]), &issuer);
        let mut expired = parameters("expired", &here);
        expired.not_after = rcgen::date_time_ymd(2020, 1, 1);
        made.signed("expired", expired, &issuer);
        made
    }

    /// The path of `authority.pem` or `stranger.pem`, or of the `.pem` or `.key` of `server`, `client`, `elsewhere` or `expired`.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The arguments of a server that speaks TLS on a port of its own, and `more`.
    pub(crate) fn arguments(&self, port: u16, more: &[&str]) -> Vec<String> {
        let path = |name: &str| self.path(name).to_string_lossy().into_owned();
        let words = [
            ("--tls-port", port.to_string()),
            ("--tls-cert-file", path("server.pem")),
            ("--tls-key-file", path("server.key")),
            ("--tls-ca-cert-file", path("authority.pem")),
        ];
        let words = words.into_iter().flat_map(|(name, value)| [name.to_owned(), value]);
        words.chain(more.iter().map(|&word| word.to_owned())).collect()
    }

    fn authority(&self, name: &str) -> Issuer<'static, KeyPair> {
        let key = KeyPair::generate().expect("a key");
        let mut parameters = parameters(name, &[]);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = parameters.self_signed(&key).expect("a certificate");
        self.write(name, &certificate.pem());
        Issuer::new(parameters, key)
    }

    fn signed(&self, name: &str, parameters: CertificateParams, issuer: &Issuer<'_, KeyPair>) {
        let key = KeyPair::generate().expect("a key");
        let certificate = parameters.signed_by(&key, issuer).expect("a certificate");
        self.write(&format!("{name}.pem"), &certificate.pem());
        self.write(&format!("{name}.key"), &key.serialize_pem());
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("a file");
    }
}

/// A subject of its own: one that is its issuer's would look as if it had signed itself.
fn parameters(subject: &str, hosts: &[&str]) -> CertificateParams {
    let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
    let mut parameters = CertificateParams::new(hosts).expect("parameters");
    parameters.distinguished_name = DistinguishedName::new();
    parameters.distinguished_name.push(DnType::CommonName, subject);
    parameters
}
