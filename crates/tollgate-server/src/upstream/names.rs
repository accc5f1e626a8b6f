//! Servers that a policy names: all addresses of a name are servers. They are looked up anew every so often, and when a
//! connection fails; a look-up that fails keeps the addresses that were known.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tollgate_policy::settings::UpstreamServer;
use tollgate_store::{Clock, SystemClock};

use super::dial::Endpoint;
use super::members::scatter;
use super::pool::Pool;
use super::server::Server;
use crate::metrics::ServerMetrics;

/// How long a look-up may take.
const LONGEST: Duration = Duration::from_secs(5);

/// Names are asked for no more often than that, in microseconds, whatever fails.
const SHORTEST_PAUSE: u64 = 1_000_000;

/// Addresses of one name that are used at most.
const MOST: usize = 64;

/// A name.
#[derive(Debug)]
pub(super) struct Name {
    named: UpstreamServer,
    host: String,
    port: u16,
    label: String,
    servers: Mutex<Vec<Arc<Server>>>,
    /// When it is to be looked up next, in microseconds.
    due: AtomicU64,
    /// When it was looked up last.
    looked: AtomicU64,
    looking: tokio::sync::Mutex<()>,
    failing: AtomicBool,
    metrics: ServerMetrics,
}

impl Name {
    pub(super) fn new(
        named: UpstreamServer,
        (host, port): (&str, u16),
        label: String,
        metrics: ServerMetrics,
    ) -> Name {
        Name {
            named,
            host: host.to_owned(),
            port,
            label,
            servers: Mutex::default(),
            due: AtomicU64::new(0),
            looked: AtomicU64::new(0),
            looking: tokio::sync::Mutex::default(),
            failing: AtomicBool::new(false),
            metrics,
        }
    }

    /// Goes on with the servers that the policy before knew by this name.
    pub(super) fn start_with(&self, known: &[Arc<Server>]) {
        let same = known.iter().filter(|server| *server.named() == self.named.address);
        *self.servers.lock() = same.cloned().collect();
    }

    pub(super) fn servers(&self) -> Vec<Arc<Server>> {
        self.servers.lock().clone()
    }

    pub(super) fn is_of(&self, server: &Server) -> bool {
        *server.named() == self.named.address
    }

    /// So many of its addresses are used.
    pub(super) fn tell(&self, used: usize) {
        self.metrics.used(used);
    }

    /// Whether it is time at `now` to look it up, and nobody does so yet.
    pub(super) fn begins(&self, now: u64) -> bool {
        self.due.load(Ordering::Relaxed) <= now && self.due.swap(u64::MAX, Ordering::Relaxed) <= now
    }

    /// A connection to one of its servers failed: it is looked up as soon as may be.
    pub(super) fn doubt(&self) {
        let soonest = self.looked.load(Ordering::Relaxed).saturating_add(SHORTEST_PAUSE);
        self.due.fetch_min(soonest, Ordering::Relaxed);
    }
}

impl Pool {
    /// Looks up what no address is known of, unless that was just tried.
    pub(super) async fn find_addresses(&self, clock: &SystemClock) {
        // Not what the names know: until the members are made of that, nobody can pick it.
        let members = self.members();
        for name in self.names() {
            if !members.servers().iter().any(|server| name.is_of(server)) {
                self.look_up(name, clock).await;
            }
        }
    }

    /// Looks `name` up, unless that was done a moment ago; whoever comes meanwhile waits for the same answer.
    pub(super) async fn look_up(&self, name: &Name, clock: &SystemClock) {
        let _one_at_a_time = name.looking.lock().await;
        let now = clock.now().as_micros();
        let looked = name.looked.load(Ordering::Relaxed);
        if looked > 0 && now.saturating_sub(looked) < SHORTEST_PAUSE {
            return;
        }
        let every = self.settings().resolve_every.get();
        let jitter = scatter(now as usize) as u64 % (every / 10 + 1);
        name.due.store(now.saturating_add(every - jitter), Ordering::Relaxed);
        let found = addresses(&name.host, name.port).await;
        name.looked.store(clock.now().as_micros().max(1), Ordering::Relaxed);
        match found {
            Ok(found) => {
                self.learn(name, found);
                self.tell(clock.now().as_micros());
            }
            Err(error) => {
                name.metrics.looked_up(false);
                name.doubt();
                if !name.failing.swap(true, Ordering::Relaxed) {
                    let known = name.servers.lock().len();
                    tracing::warn!(pool = %self.settings().name, server = name.label, %error, known, "an upstream's name cannot be looked up: the addresses that are known stay");
                }
            }
        }
    }

    /// `name` has these addresses now.
    fn learn(&self, name: &Name, found: Vec<SocketAddr>) {
        name.metrics.looked_up(true);
        name.failing.store(false, Ordering::Relaxed);
        let known = name.servers();
        let endpoints: Vec<Endpoint> = found.into_iter().map(Endpoint::Tcp).collect();
        name.metrics.addresses.set(endpoints.len() as i64);
        if known.iter().map(|server| server.endpoint()).eq(&endpoints) {
            return;
        }
        tracing::info!(pool = %self.settings().name, server = name.label, ?endpoints, "an upstream's name has other addresses than before");
        let server = |at: Endpoint| self.server(at, &name.named, name.metrics.clone(), &known);
        let servers = endpoints.into_iter().map(server).collect();
        *name.servers.lock() = servers;
        self.make_members();
    }
}

/// The addresses of a name, in order, each once; at least one.
async fn addresses(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let found = tokio::time::timeout(LONGEST, tokio::net::lookup_host((host, port)));
    let found = found.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    let mut addresses: Vec<SocketAddr> = found.collect();
    addresses.sort_unstable();
    addresses.dedup();
    addresses.truncate(MOST);
    if addresses.is_empty() {
        return Err(io::Error::other("it has no address"));
    }
    Ok(addresses)
}
