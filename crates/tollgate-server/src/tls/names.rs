//! The names in a certificate.

use tollgate_policy::ClientCertificate;
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::{DirectoryString, GeneralName};

/// `commonName` (RFC 4519, 2.3).
const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");

/// What the certificate in `der` says of its holder; `None` where it is none, which a verified one never is.
pub(crate) fn names_of(der: &[u8]) -> Option<ClientCertificate> {
    let certificate = Certificate::from_der(der).ok()?;
    let subject = certificate.tbs_certificate().subject();
    let common_name = |attribute: &x509_cert::attr::AttributeTypeAndValue| {
        let value = (attribute.oid == COMMON_NAME)
            .then(|| attribute.value.decode_as::<DirectoryString>().ok())??;
        Some(value.value().into_owned())
    };
    let mut names = ClientCertificate {
        subject: subject.to_string(),
        common_names: subject.iter().filter_map(common_name).collect(),
        ..ClientCertificate::default()
    };
    let alternatives = certificate.tbs_certificate().get_extension::<SubjectAltName>();
    for name in alternatives.ok().flatten().map(|(_, names)| names.0).unwrap_or_default() {
        match name {
            GeneralName::DnsName(name) => names.dns_names.push(name.as_str().to_ascii_lowercase()),
            GeneralName::UniformResourceIdentifier(uri) => names.uris.push(uri.as_str().to_owned()),
            GeneralName::Rfc822Name(email) => names.emails.push(email.as_str().to_owned()),
            _ => {}
        }
    }
    Some(names)
}

/// When the certificate in `der` expires, in seconds since the epoch.
pub(super) fn expiry_of(der: &[u8]) -> Option<u64> {
    let certificate = Certificate::from_der(der).ok()?;
    Some(certificate.tbs_certificate().validity().not_after.to_unix_duration().as_secs())
}
