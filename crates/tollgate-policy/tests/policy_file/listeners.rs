//! `listen` and `listeners`: what they mean, and what is wrong with them.

use tollgate_policy::settings::{ListenAt, Listener};

use super::{errors, meaning};

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
