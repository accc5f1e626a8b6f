//! Eight gateways, each a process of its own, on one Redis that fails in every way: what clients and the metrics see.

#[path = "../../tollgate-store/tests/servers/mod.rs"]
mod servers;
mod web;

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use servers::{Fault, Program, Proxy, Server, until};
use web::process::Running;
use web::{get, status, upstream};

const GATEWAYS: usize = 8;

/// Clients of each gateway.
const CLIENTS: usize = 2;

/// What the limit of the policy admits in the test's time: its bucket fills by one unit an hour.
const ALLOWED: usize = 1000;

/// Many processes at a time are enough for a small machine: one test after the other.
static TURN: Mutex<()> = Mutex::new(());

/// A gateway that ends with the test.
struct Gateway {
    _running: Running,
    address: SocketAddr,
    admin: SocketAddr,
}

impl Gateway {
    fn start(policy: &Path, budget: &str, store: &Proxy, upstream: SocketAddr) -> Gateway {
        let running = Running::start(
            Command::new(env!("CARGO_BIN_EXE_tollgate"))
                .arg("serve")
                .arg(policy)
                .args(["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--workers", "1"])
                .env("STORE", store.url())
                .env("BUDGET", budget)
                .env("UPSTREAM", upstream.to_string())
                .env_remove("TOLLGATE_MODE"),
        );
        let (address, admin) = (running.gateway(), running.admin());
        Gateway { _running: running, address, admin }
    }

    /// The number of a series of its metrics page; 0 where it is not there yet.
    fn metric(&self, series: &str) -> f64 {
        let page = get(self.admin, "/metrics").unwrap_or_default();
        let line = page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        line.and_then(|number| number.trim().parse().ok()).unwrap_or_default()
    }

    fn errors(&self) -> f64 {
        ["timeout", "disconnected", "interrupted", "oom"]
            .iter()
            .map(|kind| self.metric(&format!("tollgate_store_errors_total{{error=\"{kind}\"}}")))
            .sum()
    }
}

/// Tells clients to stop when it is dropped.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A Redis behind a proxy, and gateways with one policy.
struct Stage {
    server: Server,
    proxy: Proxy,
    gateways: Vec<Gateway>,
    _folder: tempfile::TempDir,
}

impl Stage {
    fn start(program: &Program, budget: &str) -> Stage {
        let server = Server::start(program);
        let proxy = Proxy::start(server.address());
        let folder = tempfile::tempdir().expect("a folder");
        let policy = folder.path().join("policy.yaml");
        let text = format!(
            "store: {{ url: \"${{STORE}}\", secret: a secret of the tests, budget: \"${{BUDGET}}\" }}\n\
             upstreams:\n  service: {{ servers: [\"${{UPSTREAM}}\"] }}\n\
             limits:\n  everybody: {{ key: [], token_bucket: {{ rate: 1/h, burst: {ALLOWED} }} }}\n\
             routes:\n  - {{ match: {{ path: /** }}, limits: [everybody], upstream: service }}\n"
        );
        std::fs::write(&policy, text).expect("a policy");
        let upstream = upstream();
        let gateways: Vec<Gateway> =
            (0..GATEWAYS).map(|_| Gateway::start(&policy, budget, &proxy, upstream)).collect();
        let stage = Stage { server, proxy, gateways, _folder: folder };
        until("every gateway knows the others", || {
            let all = |gateway: &Gateway| gateway.metric("tollgate_store_live_nodes") >= 8.0;
            stage.gateways.iter().all(all)
        });
        stage
    }

    /// Runs `CLIENTS` for each gateway; each asks while `more` says so, given the statuses that it got so far.
    fn ask(&self, more: impl Fn(&[u16]) -> bool + Sync) -> Vec<u16> {
        let more = &more;
        std::thread::scope(|scope| {
            let clients: Vec<_> = self
                .gateways
                .iter()
                .flat_map(|gateway| [gateway; CLIENTS])
                .map(|gateway| {
                    scope.spawn(move || {
                        let mut statuses = Vec::new();
                        while more(&statuses) {
                            statuses
                                .push(status(&get(gateway.address, "/basket").unwrap_or_default()));
                        }
                        statuses
                    })
                })
                .collect();
            clients.into_iter().flat_map(|client| client.join().expect("a client")).collect()
        })
    }

    fn breaks(&self, what: &str) {
        match what {
            "a black hole" => self.proxy.set(Fault::Swallow),
            "lost answers" => self.proxy.set(Fault::DropReplies),
            "refused" => self.proxy.set(Fault::Refuse),
            "standing still" => self.server.pause(),
            "no memory left" => self.server.run(&["CONFIG", "SET", "maxmemory", "1"]),
            other => panic!("{other}"),
        }
    }

    fn mends(&self, what: &str) {
        match what {
            "standing still" => self.server.resume(),
            "no memory left" => self.server.run(&["CONFIG", "SET", "maxmemory", "0"]),
            _ => self.proxy.set(Fault::None),
        }
    }

    fn all_degraded(&self, degraded: bool) -> bool {
        let expected = if degraded { 1.0 } else { 0.0 };
        self.gateways.iter().all(|gateway| gateway.metric("tollgate_store_degraded") == expected)
    }
}

#[test]
fn eight_gateways_admit_exactly_the_limit() {
    let Some(program) = Program::redis() else { return };
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    // A loaded machine is no reason to fail.
    let stage = Stage::start(&program, "10s");
    let statuses = stage.ask(|so_far| so_far.last() != Some(&429));
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), ALLOWED);
    assert_eq!(statuses.len(), ALLOWED + GATEWAYS * CLIENTS, "nobody saw anything else");
    stage.server.assert_every_key_expires();
}

#[test]
fn clients_see_no_fault_of_the_store_and_the_metrics_tell_of_each() {
    let Some(program) = Program::redis() else { return };
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    // Eight gateways and their clients on a small machine are slower than one; their store is still hasty beside them.
    let stage = Stage::start(&program, "500ms");
    for what in ["a black hole", "lost answers", "refused", "standing still", "no memory left"] {
        // Keys known to be exhausted are not asked for: every fault finds a fresh one.
        stage.server.run::<()>(&["FLUSHALL"]);
        let errors: f64 = stage.gateways.iter().map(Gateway::errors).sum();
        let over = AtomicBool::new(false);
        let statuses = std::thread::scope(|scope| {
            let asking = scope.spawn(|| {
                stage.ask(|_| {
                    std::thread::sleep(Duration::from_millis(50));
                    !over.load(Ordering::Relaxed)
                })
            });
            // Whatever fails, the clients end.
            let end = End(&over);
            stage.breaks(what);
            until("every gateway says that the store is away", || stage.all_degraded(true));
            stage.mends(what);
            until("every gateway says that it is back", || stage.all_degraded(false));
            drop(end);
            asking.join().expect("clients")
        });
        let count = |wanted: u16| statuses.iter().filter(|status| **status == wanted).count();
        println!(
            "{what}: {} requests, {} admitted, {} refused",
            statuses.len(),
            count(200),
            count(429)
        );
        assert_eq!(count(200) + count(429), statuses.len(), "{what}: no other answer");
        let now: f64 = stage.gateways.iter().map(Gateway::errors).sum();
        assert!(now > errors, "{what}: the metrics tell of it");
    }
    stage.server.assert_every_key_expires();
}
