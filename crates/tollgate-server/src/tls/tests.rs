//! Files that are read again.

use std::path::PathBuf;

use rcgen::{CertificateParams, DnType, KeyPair, SanType, date_time_ymd};
use tollgate_policy::settings::{CertificateFiles, ListenAt};

use super::*;

/// A folder of certificates.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a certificate for `name` that expires in `year`.
    fn write(&self, file: &str, name: &str, year: i32) -> CertificateFiles {
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().expect("a key");
        let made = params.self_signed(&key).expect("a certificate");
        let files = self.files(file);
        std::fs::write(&files.certificate, made.pem()).expect("written");
        std::fs::write(&files.key, key.serialize_pem()).expect("written");
        files
    }

    fn files(&self, file: &str) -> CertificateFiles {
        let (certificate, key) = (format!("{file}.pem"), format!("{file}.key"));
        CertificateFiles { certificate: self.path(&certificate), key: self.path(&key) }
    }
}

fn settings(certificates: Vec<CertificateFiles>) -> ListenerTls {
    ListenerTls { certificates, clients: None }
}

fn load(settings: &ListenerTls) -> Result<Tls, TlsError> {
    let at = ListenAt::Tcp(([127, 0, 0, 1], 0).into());
    let listener = Listener { tls: Some(settings.clone()), ..Listener::new("web", at) };
    Tls::load(&listener).map(|tls| tls.expect("it speaks TLS"))
}

fn year(tls: &Tls) -> u64 {
    1970 + tls.expiries()[0].1 / 31_556_952
}

#[test]
fn a_new_pair_takes_the_place_of_the_old() {
    let folder = Folder::new();
    let settings = settings(vec![folder.write("a", "a.example", 2090)]);
    let tls = load(&settings).expect("it works");
    assert!(!tls.refresh(&settings).changed, "the files are the same");
    folder.write("a", "a.example", 2095);
    let refreshed = tls.refresh(&settings);
    assert!(refreshed.changed && refreshed.kept.is_empty(), "{refreshed:?}");
    assert_eq!(year(&tls), 2095);
}

#[test]
fn what_is_broken_or_expired_changes_nothing() {
    let folder = Folder::new();
    let both =
        settings(vec![folder.write("a", "a.example", 2090), folder.write("b", "b.example", 2090)]);
    let tls = load(&both).expect("it works");
    folder.write("a", "a.example", 2020);
    let refreshed = tls.refresh(&both);
    assert!(!refreshed.changed);
    assert!(refreshed.kept[0].to_string().contains("it has expired"), "{refreshed:?}");
    std::fs::write(folder.path("a.pem"), "no certificate").expect("written");
    assert!(tls.refresh(&both).kept[0].to_string().contains("no certificate in it"));
    // Another's key, as between two writes.
    std::fs::copy(folder.path("b.pem"), folder.path("a.pem")).expect("copied");
    assert!(!tls.refresh(&both).changed);
    std::fs::remove_file(folder.path("a.key")).expect("removed");
    let refreshed = tls.refresh(&both);
    assert!(refreshed.kept[0].to_string().contains("a.key"), "{refreshed:?}");
    assert_eq!(year(&tls), 2090);
    // The other pair goes on by itself.
    folder.write("b", "b.example", 2095);
    let refreshed = tls.refresh(&both);
    assert!(refreshed.changed && refreshed.kept.len() == 1, "{refreshed:?}");
}

#[test]
fn nothing_is_served_without_its_files() {
    let folder = Folder::new();
    let error = load(&settings(vec![folder.files("none")])).expect_err("there are none");
    assert!(error.to_string().contains("none.pem cannot be used"), "{error}");
    let expired = settings(vec![folder.write("a", "a.example", 2020)]);
    assert!(load(&expired).is_ok(), "clients decide what they make of it");
    let clients = ClientAuthorities { authorities: folder.path("a.key"), required: true };
    let error = load(&ListenerTls { clients: Some(clients), ..expired }).expect_err("no authority");
    assert!(error.to_string().contains("a.key cannot be used"), "{error}");
}

#[test]
fn all_names_of_a_certificate_are_read() {
    let mut params = CertificateParams::new(vec!["Svc.example".to_owned()]).expect("a name");
    params.distinguished_name.push(DnType::CommonName, "billing, inc");
    params.distinguished_name.push(DnType::OrganizationName, "Acme");
    let uri = "spiffe://acme/billing".try_into().expect("a URI");
    let email = "ops@acme.example".try_into().expect("an address");
    params.subject_alt_names.extend([SanType::URI(uri), SanType::Rfc822Name(email)]);
    let key = KeyPair::generate().expect("a key");
    let made = params.self_signed(&key).expect("a certificate");
    let names = names_of(made.der()).expect("a certificate");
    assert_eq!(names.common_names.last().map(String::as_str), Some("billing, inc"));
    assert!(names.subject.contains("CN=billing\\, inc"), "{}", names.subject);
    assert_eq!(names.dns_names, ["svc.example"]);
    assert_eq!(names.uris, ["spiffe://acme/billing"]);
    assert_eq!(names.emails, ["ops@acme.example"]);
    assert_eq!(names_of(b"nothing"), None);
}
