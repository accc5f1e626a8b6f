//! The gateway, its services, and what befalls them.

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::certificates::Certificates;
use crate::footprint::Footprint;
use crate::ledger::Ledger;
use crate::service;
use crate::web::process::{Running, until};
use crate::web::{get, get_with, spare, status};

/// What the limited client may take in all.
pub(crate) const ALLOWED: u64 = 5;

/// How many services stand behind the gateway.
const SERVICES: usize = 3;

/// How many idle connections the gateway keeps to each of them.
const KEPT: usize = 8;

/// The gateway, its services, and their files.
pub(crate) struct Stage {
    pub(crate) gateway: Running,
    pub(crate) plain: SocketAddr,
    pub(crate) secure: SocketAddr,
    pub(crate) certificates: Certificates,
    idle: Footprint,
    addresses: Vec<SocketAddr>,
    services: Mutex<Vec<Running>>,
    folder: TempDir,
}

/// What befell them.
#[derive(Debug, Default)]
pub(crate) struct Troubles {
    killed: u64,
    reloads: u64,
    pub(crate) renewals: u64,
}

impl fmt::Display for Troubles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Troubles { killed, reloads, renewals } = self;
        write!(f, "{killed} services killed, {reloads} policies, {renewals} certificates")
    }
}

impl Stage {
    pub(crate) fn start() -> Stage {
        let folder = tempfile::tempdir().expect("a folder");
        let certificates = Certificates::make(folder.path());
        let addresses: Vec<SocketAddr> = (0..SERVICES).map(|_| spare()).collect();
        let services = addresses.iter().map(|address| service::start(*address)).collect();
        let policy = write_policy(folder.path(), &addresses, 0);
        let gateway = Running::start(
            Command::new(env!("CARGO_BIN_EXE_tollgate"))
                .arg("serve")
                .arg(policy)
                .args(["--admin", "127.0.0.1:0", "--workers", "2"])
                .env_remove("TOLLGATE_MODE"),
        );
        let (plain, secure) = (gateway.listener("plain"), gateway.listener("secure"));
        let idle = Footprint::of(gateway.id());
        let services = Mutex::new(services);
        Stage { gateway, plain, secure, idle, certificates, addresses, services, folder }
    }

    /// Kills services and brings them back, writes the policy and the certificate anew, for so long.
    pub(crate) fn trouble(&self, ledger: &Ledger, length: Duration) -> Troubles {
        let mut services = self.services.lock().expect("no panic");
        let begun = SystemTime::now();
        let mut troubles = Troubles::default();
        while begun.elapsed().unwrap_or_default() < length {
            std::thread::sleep(Duration::from_millis(700));
            troubles.reloads += 1;
            write_policy(self.folder.path(), &self.addresses, troubles.reloads);
            if troubles.reloads % 3 == 0 {
                self.certificates.renew();
                troubles.renewals += 1;
            }
            if troubles.reloads % 4 == 2 {
                let place = troubles.killed as usize % services.len();
                let since = SystemTime::now();
                services[place].signal("KILL");
                std::thread::sleep(Duration::from_millis(500));
                services[place] = service::start(self.addresses[place]);
                ledger.trouble(since);
                troubles.killed += 1;
            }
        }
        troubles
    }

    /// What clients held is closed; connections to services may be kept.
    #[track_caller]
    pub(crate) fn assert_descriptors_are_given_back(&self) {
        let most = self.idle.descriptors + SERVICES * KEPT + 8;
        let given_back = until(|| Footprint::of(self.gateway.id()).descriptors <= most);
        let now = Footprint::of(self.gateway.id());
        assert!(given_back.is_ok(), "idle {}, with kept connections {most}, now {now}", self.idle);
    }

    /// The one slot is free: whoever held it gave it back, also those who went away.
    #[track_caller]
    pub(crate) fn assert_slot_is_free(&self) {
        let mut answer = String::new();
        let free = until(|| {
            answer = get_with(self.plain, "/slot", "x-slot: one\r\n").unwrap_or_default();
            status(&answer) == 200
        });
        assert!(free.is_ok(), "{answer}");
    }

    /// Policies were taken over, and none failed.
    #[track_caller]
    pub(crate) fn assert_reloaded(&self, troubles: &Troubles) {
        let page = get(self.gateway.admin(), "/metrics").expect("a page");
        let number = |result: &str| {
            let series = format!("tollgate_policy_reloads_total{{result=\"{result}\"}} ");
            let line = page.lines().find_map(|line| line.strip_prefix(&series));
            line.and_then(|number| number.parse::<u64>().ok()).unwrap_or(0)
        };
        // Those that come close together are one.
        assert!(number("ok") * 2 >= troubles.reloads, "{} of {}", number("ok"), troubles.reloads);
        assert_eq!(number("error"), 0);
    }
}

/// Writes the policy's form of this round, all at once.
fn write_policy(folder: &Path, services: &[SocketAddr], round: u64) -> std::path::PathBuf {
    let servers: Vec<String> = services.iter().map(|address| format!("\"{address}\"")).collect();
    let yaml = format!(
        "gateway: {{ max_idle_per_server: {KEPT} }}
listeners:
  plain: {{ listen: \"127.0.0.1:0\" }}
  secure: {{ listen: \"127.0.0.1:0\", tls: {{ certificates: [{{ certificate: gateway.pem, key: gateway.key }}] }} }}
upstreams:
  services: {{ servers: [{servers}] }}
identity:
  user: {{ header: x-user, from: anyone }}
  slot: {{ header: x-slot, from: anyone }}
limits:
  per-user: {{ key: [user], missing: skip, token_bucket: {{ rate: 1/y, burst: {ALLOWED} }} }}
  per-slot: {{ key: [slot], missing: skip, concurrency: {{ limit: 1, ttl: 1h }} }}
  # The only one that changes: it never binds.
  everybody: {{ key: [], fixed_window: {{ limit: {most}, window: 1m }} }}
routes:
- {{ match: {{ path: /** }}, limits: [per-user, per-slot, everybody], upstream: services }}
",
        servers = servers.join(", "),
        most = 10_000_000 + round,
    );
    let path = folder.join("policy.yaml");
    let new = folder.join("policy.yaml.new");
    std::fs::write(&new, yaml).expect("a file");
    std::fs::rename(&new, &path).expect("a name");
    path
}
