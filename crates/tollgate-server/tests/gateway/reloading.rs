//! Policies that change while the gateway runs. rel-06's duplicates are the validator's own tests.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use tokio::sync::oneshot;
use tollgate_core::Timestamp;
use tollgate_server::{Options, serve_until};
use tollgate_store::ManualClock;

use crate::harness::{Connection, Gate, Setup, Upstream, get, until};
use crate::policies::limited;

/// What `serve_until` says of the policy `yaml` where it is wrong.
pub(crate) fn bind(yaml: &str) -> Option<String> {
    bind_at(yaml, None)
}

/// The same, with a place to listen from the command line.
pub(crate) fn bind_at(yaml: &str, listen: Option<SocketAddr>) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("policy.yaml");
    fs::write(&path, yaml).expect("a file");
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let any = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    let options = Options { listen, admin: any, ..Options::default() };
    let served = runtime.block_on(serve_until(&path, &options, async {}, |_| {}));
    served.err().map(|error| error.to_string())
}

/// `tollgate serve`, but for its signals.
struct Served {
    /// Removed with it.
    folder: Option<tempfile::TempDir>,
    gateway: SocketAddr,
    admin: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    fn start(yaml: &str) -> Served {
        Served::beside(yaml, |_| {})
    }

    /// `files` puts further files into the policy's folder.
    fn beside(yaml: &str, files: impl FnOnce(&Path)) -> Served {
        let folder = tempfile::tempdir().expect("a folder");
        files(folder.path());
        let path = folder.path().join("policy.yaml");
        fs::write(&path, yaml).expect("a file");
        let mut served = Served::at(path);
        served.folder = Some(folder);
        served
    }

    /// Serves the policy at `path`.
    fn at(path: PathBuf) -> Served {
        let (stop, stopped) = oneshot::channel();
        let (tell, told) = std::sync::mpsc::channel();
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let options = Options { listen: Some(any), admin: Some(any), ..Options::default() };
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let stopped = async {
                let _ = stopped.await;
            };
            let started = move |started| {
                let _ = tell.send(started);
            };
            let served = serve_until(&path, &options, stopped, started);
            runtime.expect("a runtime").block_on(served).expect("it served");
        });
        let started = told.recv().expect("it started");
        let admin = started.admin.expect("an admin listener");
        Served {
            folder: None,
            gateway: started.gateway().expect("an address"),
            admin,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.as_ref().expect("a folder of its own").path().join(name)
    }

    /// Replaces a file as editors do: a new one is renamed over it.
    fn replace(&self, name: &str, text: &str) {
        fs::write(self.path("new"), text).expect("a file");
        fs::rename(self.path("new"), self.path(name)).expect("a file");
    }

    fn metric(&self, series: &str) -> f64 {
        let page = get(self.admin, "/metrics").text();
        let line =
            page.lines().find(|line| line.split_once(' ').is_some_and(|(name, _)| name == series));
        line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0.0)
    }

    fn reloads(&self, result: &str) -> f64 {
        self.metric(&format!("tollgate_policy_reloads_total{{result=\"{result}\"}}"))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
            && !std::thread::panicking()
        {
            panic!("it ends without a panic");
        }
    }
}

fn ten(upstream: &Upstream, limit: u32) -> String {
    limited(
        upstream.address,
        &format!("{{ key: [ip], sliding_log: {{ limit: {limit}, window: 1h }} }}"),
    )
}

#[test]
fn rel_01_a_reload_refills_nothing() {
    let upstream = Upstream::start();
    let yaml =
        limited(upstream.address, "{ key: [ip], token_bucket: { rate: 1 per 10s, burst: 10 } }");
    let start = 1_700_000_000_000_000;
    let clock = Arc::new(ManualClock::new(Timestamp::from_micros(start)));
    let gate = Gate::with(&yaml, Setup { clock: Arc::clone(&clock) as _, ..Setup::default() });
    let mut connection = Connection::open(gate.address);
    for _ in 0..10 {
        assert_eq!(connection.get("/").status, 200);
    }
    for second in 1..=3 {
        clock.set(Timestamp::from_micros(start + second * 1_000_000));
        gate.reload(&yaml);
        let refused = connection.get("/");
        assert_eq!(refused.status, 429);
        assert_eq!(refused.header("retry-after"), Some((10 - second).to_string()));
    }
}

#[test]
fn rel_03_a_lowered_limit_leaves_nothing() {
    let upstream = Upstream::start();
    let quota = |limit: u32| {
        limited(
            upstream.address,
            &format!("{{ key: [ip], quota: {{ limit: {limit}, every: day }} }}"),
        )
    };
    let gate = Gate::start(&quota(5_000_000));
    let mut connection = Connection::open(gate.address);
    for _ in 0..35 {
        assert_eq!(connection.get("/").status, 200);
    }
    gate.reload(&quota(10));
    let refused = connection.get("/");
    assert_eq!(refused.status, 429);
    assert_eq!(refused.header("x-ratelimit-remaining").as_deref(), Some("0"));
    assert_eq!(refused.header("x-ratelimit-limit").as_deref(), Some("10"));
}

#[test]
fn rel_08_a_wrong_policy_changes_nothing() {
    let upstream = Upstream::start();
    let served = Served::start(&ten(&upstream, 3));
    let mut connection = Connection::open(served.gateway);
    assert_eq!(connection.get("/").status, 200);
    let version = served.metric("tollgate_policy_version");
    let wrong = ten(&upstream, 100).replace("window: 1h", "window: -1h");
    served.replace("policy.yaml", &wrong);
    until("the mistake was seen", || served.reloads("error") >= 1.0);
    assert_eq!(served.metric("tollgate_policy_version"), version);
    assert_eq!([connection.get("/").status, connection.get("/").status], [200, 200]);
    assert_eq!(connection.get("/").status, 429, "the limit is the old one");
    served.replace("policy.yaml", &ten(&upstream, 5));
    until("the right one was taken", || served.metric("tollgate_policy_version") > version);
    assert_eq!([connection.get("/").status, connection.get("/").status], [200, 200]);
    assert_eq!(connection.get("/").status, 429, "what was counted is kept");
}

#[test]
fn a_file_that_is_written_in_place_is_read_again() {
    let upstream = Upstream::start();
    let served = Served::start(&ten(&upstream, 1));
    assert_eq!([get(served.gateway, "/").status, get(served.gateway, "/").status], [200, 429]);
    fs::write(served.path("policy.yaml"), ten(&upstream, 2)).expect("a file");
    until("it was read again", || get(served.gateway, "/").status == 200);
    assert_eq!(served.reloads("error"), 0.0);
}

/// Deployments exchange a link to a whole release, and edit what a link points to.
#[test]
fn links_are_followed_wherever_they_lead() {
    let upstream = Upstream::start();
    let releases = tempfile::tempdir().expect("a folder");
    let at = |name: &str| releases.path().join(name);
    for (release, limit) in [("1", 1), ("2", 2)] {
        fs::create_dir(at(release)).expect("a folder");
        fs::write(at(release).join("policy.yaml"), ten(&upstream, limit)).expect("a file");
    }
    symlink("1", at("current")).expect("a link");
    let served = Served::at(at("current").join("policy.yaml"));
    let passes = || get(served.gateway, "/").status == 200;
    assert_eq!([passes(), passes()], [true, false]);
    symlink("2", at("next")).expect("a link");
    fs::rename(at("next"), at("current")).expect("a link");
    until("the other release is read", passes);
    fs::write(at("2/policy.yaml"), ten(&upstream, 3)).expect("a file");
    until("a change in it is read", passes);
    fs::remove_dir_all(at("2")).expect("removed");
    until("that it is gone is said", || served.reloads("error") > 0.0);
    fs::create_dir(at("2")).expect("a folder");
    fs::write(at("2/policy.yaml"), ten(&upstream, 4)).expect("a file");
    until("it is read again once it is back", passes);
    fs::write(at("2/policy.yaml"), ten(&upstream, 5)).expect("a file");
    until("and is followed as before", passes);
}

#[test]
fn a_table_that_changes_is_read_again() {
    let upstream = Upstream::start();
    let yaml = format!(
        "tables: {{ plans: {{ file: plans.csv }} }}\n\
         identity:\n  user: {{ header: x-user, from: anyone }}\n  \
         plan: {{ table: {{ name: plans, value_of: user, column: plan }}, default: free }}\n\
         upstreams: {{ app: {{ servers: [\"{}\"] }} }}\n\
         limits:\n  it: {{ key: [user], by: plan, sliding_log: {{ free: {{ limit: 1, window: 1h }}, paid: {{ limit: 3, window: 1h }} }} }}\n\
         routes:\n- {{ match: {{ path: /** }}, limits: [it], upstream: app }}\n",
        upstream.address
    );
    let served = Served::beside(&yaml, |folder| {
        fs::write(folder.join("plans.csv"), "user,plan\nann,free\n").expect("a file");
    });
    let mut connection = Connection::open(served.gateway);
    let mut ask = || connection.ask("GET", "/", &[("x-user", "ann")]).status;
    assert_eq!([ask(), ask()], [200, 429]);
    served.replace("plans.csv", "user,plan\nann,paid\n");
    until("the table was read again", || ask() == 200);
    assert_eq!(served.metric("tollgate_policy_version"), 1.0, "the policy is the same");
}

#[test]
fn reloads_under_load_drop_nothing() {
    let upstream = Upstream::start();
    let gate = Gate::start(&ten(&upstream, 10_000));
    let over = AtomicBool::new(false);
    let served = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut connection = Connection::open(gate.address);
                while !over.load(Ordering::Relaxed) {
                    assert_eq!(connection.get("/").status, 200);
                    served.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for round in 0..30 {
            let before = served.load(Ordering::Relaxed);
            gate.reload(&ten(&upstream, 9_000 + round));
            until("requests go on", || served.load(Ordering::Relaxed) > before + 10);
        }
        over.store(true, Ordering::Relaxed);
    });
    assert_eq!(gate.handle.policy().version(), 31);
}

#[test]
fn a_reload_may_change_the_service() {
    let (old, new) = (Upstream::start(), Upstream::start());
    let gate = Gate::start(&ten(&old, 100));
    let mut connection = Connection::open(gate.address);
    assert_eq!(connection.get("/").status, 200);
    gate.reload(&ten(&new, 100));
    let reply = connection.get("/");
    assert_eq!((reply.status, reply.header("x-ratelimit-remaining").as_deref()), (200, Some("98")));
    assert_eq!((old.seen().len(), new.seen().len()), (1, 1));
}

#[test]
fn a_policy_that_is_wrong_from_the_start_says_what_and_where() {
    let error = bind("limits: { a: { key: [ip], token_bucket: { rate: 10/s, brust: 5 } } }")
        .expect("an error");
    assert!(error.contains("brust") && error.contains("burst"), "{error}");
    let error = bind("routes: []\nlimits: {}\n").expect("an error");
    assert!(error.contains("listen"), "{error}");
}
