//! `listen` and `listeners`: what they mean, and what is wrong with them.

use tollgate_policy::settings::{CertificateField, ListenAt, Listener, Source};

use super::{errors, meaning, warnings};

/// A policy with `listeners` and a route that matches `matcher`.
fn with(listeners: &str, matcher: &str) -> String {
    format!(
        "{listeners}\nupstreams: {{ a: {{ servers: [\"h:1\"] }} }}\n\
         routes: [{{ match: {{ {matcher} }}, limits: [] }}]\n"
    )
}

#[test]
fn each_has_a_name_and_a_place() {
    let settings = meaning(&with(
        "listeners:\n  web: { listen: 0.0.0.0:80 }\n  local: { listen: \"unix:run/t.sock\" }\n  \
         given: { listen: \"systemd:https\" }",
        "listener: [web, given]",
    ))
    .settings;
    let web = ListenAt::Tcp("0.0.0.0:80".parse().unwrap());
    let [first, local, given] = settings.listeners.as_slice() else { panic!("three") };
    assert_eq!(first, &Listener::new("web", web));
    let ListenAt::Unix(path) = &local.at else { panic!("a Unix socket") };
    assert!(path.ends_with("run/t.sock"), "{path:?}");
    assert_eq!(given.at, ListenAt::Systemd("https".to_owned()));
    let named: Vec<&str> = settings.routes[0].matcher.listeners.iter().map(|one| &**one).collect();
    assert_eq!(named, ["web", "given"]);
}

#[test]
fn the_short_form_has_a_name_too() {
    let settings = meaning(&with("listen: 127.0.0.1:80", "listener: default")).settings;
    assert_eq!(*settings.listeners[0].name, *Listener::DEFAULT);
    assert_eq!(settings.routes[0].matcher.listeners.len(), 1);
    let settings = meaning(&with("listen: \"unix:/t.sock\"", "")).settings;
    assert_eq!(settings.listeners[0].at, ListenAt::Unix("/t.sock".into()));
}

#[test]
fn what_is_wrong_is_said() {
    let long = format!("listen: unix:/{}", "x".repeat(110));
    let cases: [(&str, &str, &str); 12] = [
        ("listeners: {}", "", "no listener is named"),
        ("listeners: { a: {} }", "", "needs the field `listen`"),
        ("listeners: { a: { listen: 80 } }", "", "no address to listen on"),
        ("listeners: { a: { lisen: 1.2.3.4:80 } }", "", "did you mean `listen`?"),
        ("listeners: { \"a b\": { listen: 1.2.3.4:80 } }", "", "no name for a listener"),
        ("listeners: { a: { listen: 1.2.3.4:80 } }\nlisten: 1.2.3.4:81", "", "go not together"),
        (
            "listeners: { a: { listen: 1.2.3.4:80 }, b: { listen: 1.2.3.4:80 } }",
            "",
            "`a` listens on 1.2.3.4:80 already",
        ),
        (
            "listeners: { a: { listen: 1.2.3.4:80 } }\nadmin: 1.2.3.4:80",
            "",
            "listens there already",
        ),
        ("listen: \"unix:\"", "", "needs a path"),
        (&long, "", "at most 103 bytes"),
        ("listen: \"systemd:\"", "", "no name of a socket"),
        ("listeners: { web: { listen: 1.2.3.4:80 } }", "listener: wbe", "did you mean `web`?"),
    ];
    for (listeners, matcher, said) in cases {
        let report = errors(&with(listeners, matcher)).join("\n");
        assert!(report.contains(said), "{listeners}:\n{report}");
    }
    let report =
        errors("listeners: { a: { listen: 1.2.3.4:80 } }\nroutes: [{ limits: [] }]\n").join("\n");
    assert!(report.contains("leave `listeners` out"), "{report}");
    let report = errors("routes: [{ match: { listener: a }, limits: [] }]\n").join("\n");
    assert!(report.contains("there is no listener `a`"), "{report}");
}

#[test]
fn a_route_of_one_listener_hides_no_other() {
    let routes = "listeners: { a: { listen: 1.2.3.4:80 }, b: { listen: 1.2.3.4:81 } }\n\
                  upstreams: { a: { servers: [\"h:1\"] } }\nroutes:\n\
                  - { match: { listener: a }, limits: [] }\n- { match: { listener: b }, limits: [] }\n";
    assert!(meaning(routes).warnings.is_empty());
}

#[test]
fn tls_names_its_files() {
    let text = with(
        "listeners:\n  web:\n    listen: 0.0.0.0:443\n    http2: false\n    tls:\n      certificates:\n      \
         - { certificate: a.pem, key: /etc/a.key }\n      client_certificates: { authorities: ca.pem }\n  \
         plain: { listen: 0.0.0.0:80 }",
        "",
    );
    let settings = meaning(&text).settings;
    let [web, plain] = settings.listeners.as_slice() else { panic!("two") };
    assert_eq!((web.http2, plain.http2, plain.tls.is_none()), (false, true, true));
    let tls = web.tls.as_ref().unwrap();
    assert_eq!(tls.certificates[0].certificate.to_str(), Some("/nowhere/a.pem"));
    assert_eq!(tls.certificates[0].key.to_str(), Some("/etc/a.key"));
    let clients = tls.clients.as_ref().unwrap();
    assert_eq!((clients.authorities.to_str(), clients.required), (Some("/nowhere/ca.pem"), false));
    // A policy is checked also where the files are not; that is a warning for each.
    assert_eq!(warnings(&text).iter().filter(|one| one.contains("cannot be read")).count(), 3);
}

#[test]
fn what_is_wrong_with_tls_is_said() {
    let tls = |tls: &str| format!("listeners: {{ a: {{ listen: 1.2.3.4:443, tls: {tls} }} }}");
    let cases = [
        ("{}", "needs the field `certificates`"),
        ("{ certificates: [] }", "TLS without a certificate"),
        ("{ certificates: [{ certificate: a }] }", "needs the field `key`"),
        ("{ certificates: [{ cert: a, key: b }] }", "has no field `cert`"),
        (
            "{ certificates: [{ certificate: a, key: b }], client_certificates: { required: true } }",
            "needs the field `authorities`",
        ),
        ("true", "`tls` is a map"),
    ];
    for (form, said) in cases {
        let report = errors(&with(&tls(form), "")).join("\n");
        assert!(report.contains(said), "{form}:\n{report}");
    }
}

#[test]
fn an_identity_may_come_from_a_certificate() {
    let text = |field: &str| {
        format!(
            "identity: {{ who: {{ client_certificate: {field} }} }}\nroutes: [{{ limits: [] }}]\n"
        )
    };
    for (word, field) in [
        ("common_name", CertificateField::CommonName),
        ("subject", CertificateField::Subject),
        ("dns", CertificateField::Dns),
        ("uri", CertificateField::Uri),
        ("email", CertificateField::Email),
    ] {
        let sources = &meaning(&text(word)).settings.identities[0].sources;
        assert!(matches!(sources[..], [Source::ClientCertificate(found)] if found == field));
    }
    let report = errors(&text("serial")).join("\n");
    assert!(report.contains("common_name"), "{report}");
}
