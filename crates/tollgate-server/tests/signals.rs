//! Signals, in a process of their own, because they concern all of it.

#[path = "harness/mod.rs"]
mod harness;

use std::net::SocketAddr;
use std::process::Command;

use harness::{Connection, Upstream, get, request, until};
use tollgate_server::{Options, Started, serve_with_signals};

fn signal(name: &str) {
    let killed =
        Command::new("kill").args([format!("-{name}"), std::process::id().to_string()]).status();
    assert!(killed.expect("kill is there").success());
}

fn metric(admin: SocketAddr, series: &str) -> f64 {
    let page = get(admin, "/metrics").text();
    let line =
        page.lines().find(|line| line.split_once(' ').is_some_and(|(name, _)| name == series));
    line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0.0)
}

#[test]
fn hangup_reloads_and_terminate_drains() {
    let upstream = Upstream::start();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("policy.yaml");
    let yaml = format!(
        "upstreams: {{ app: {{ servers: [\"{}\"] }} }}\n\
         routes:\n- {{ match: {{ path: /** }}, limits: [], upstream: app }}\n",
        upstream.address
    );
    std::fs::write(&path, yaml).expect("a file");
    let (tell, told) = std::sync::mpsc::channel::<Started>();
    let thread = std::thread::spawn(move || {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let options = Options { listen: Some(any), admin: Some(any), ..Options::default() };
        serve_with_signals(&path, &options, move |started| {
            let _ = tell.send(started);
        })
    });
    let started = told.recv().expect("it started");
    let gateway = started.gateway().expect("an address");
    let admin = started.admin.expect("an admin listener");
    assert_eq!(get(admin, "/readyz").status, 200);

    signal("HUP");
    until("the policy was read again", || metric(admin, "tollgate_policy_version") == 2.0);

    let mut busy = Connection::open(gateway);
    busy.send(request("GET", "/hold", &[]));
    until("it is on its way", || upstream.begun() == 1);
    signal("TERM");
    until("it drains", || get(admin, "/readyz").status == 503);
    assert!(!thread.is_finished());
    upstream.let_go();
    assert_eq!(busy.reply().status, 200);
    let served = thread.join().expect("no panic");
    assert!(served.is_ok());
}
