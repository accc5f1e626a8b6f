//! What is known of a client by its certificate.

use crate::settings::CertificateField;

/// The names in a client certificate that was verified: its chain leads to an authority of the policy, and the client
/// proved to have its key. What it was verified with is the business of whoever fills this in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The whole distinguished name, as RFC 4514 writes it; empty where there is none.
    pub subject: String,
    /// The common names within it.
    pub common_names: Vec<String>,
    /// DNS names among its alternative names.
    pub dns_names: Vec<String>,
    /// URIs among them.
    pub uris: Vec<String>,
    /// Email addresses among them.
    pub emails: Vec<String>,
}

impl ClientCertificate {
    /// All that it says in `field`.
    pub(crate) fn values(&self, field: CertificateField) -> &[String] {
        match field {
            CertificateField::Subject => std::slice::from_ref(&self.subject),
            CertificateField::CommonName => &self.common_names,
            CertificateField::Dns => &self.dns_names,
            CertificateField::Uri => &self.uris,
            CertificateField::Email => &self.emails,
        }
    }
}
