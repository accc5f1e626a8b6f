//! A pool of servers: which of them is asked, and what they share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tollgate_core::Micros;
use tollgate_policy::settings::{GatewaySettings, Upstream, UpstreamAddress, UpstreamServer};

use super::Timing;
use super::budget::Budget;
use super::dial::{Endpoint, Security};
use super::lease::Lease;
use super::members::Members;
use super::names::Name;
use super::queue::Queue;
use super::server::Server;
use super::tls::{self, Tls};
use crate::metrics::{Metrics, PoolMetrics};

/// The servers of one upstream.
#[derive(Debug)]
pub(super) struct Pool {
    settings: Upstream,
    timing: Timing,
    security: Security,
    workers: usize,
    most_idle: usize,
    members: ArcSwap<Members>,
    /// Those whose addresses are looked up, and those that need not be.
    names: Vec<Name>,
    fixed: Vec<Arc<Server>>,
    /// Held while the members are made anew.
    making: Mutex<()>,
    turn: AtomicUsize,
    queue: Arc<Queue>,
    budget: Budget,
    metrics: PoolMetrics,
}

/// What came of looking for a server.
#[derive(Debug)]
pub(super) enum Picked {
    /// A place on the way to one.
    Place(Lease),
    /// All that would do have as many connections as they may.
    Full,
    /// There is none, or all were tried.
    None,
}

impl Pool {
    /// The pool of `settings` for `workers` threads, as of `now`. A server that `before` knows keeps its connections, and how
    /// it stands.
    pub(super) fn new(
        settings: &Upstream,
        gateway: &GatewaySettings,
        (workers, now): (usize, u64),
        metrics: &Metrics,
        before: Option<&Pool>,
    ) -> Pool {
        let before = before.filter(|before| before.speaks_as(settings));
        let mut pool = Pool {
            timing: Timing::new(settings, gateway),
            security: security(settings),
            workers,
            most_idle: gateway.max_idle_per_server,
            members: ArcSwap::default(),
            names: Vec::new(),
            fixed: Vec::new(),
            making: Mutex::default(),
            turn: AtomicUsize::new(0),
            queue: before.map_or_else(Arc::default, |before| Arc::clone(&before.queue)),
            budget: Budget::new(&settings.retries, now),
            metrics: metrics.pool(&settings.name),
            settings: settings.clone(),
        };
        let known = before.map(|before| before.members.load_full()).unwrap_or_default();
        for named in &settings.servers {
            let label = named.address.to_string();
            let series = metrics.server(&settings.name, &label);
            let fixed = match &named.address {
                UpstreamAddress::Socket(address) => Endpoint::Tcp(*address),
                UpstreamAddress::Unix(path) => Endpoint::Unix(path.clone()),
                UpstreamAddress::Name { host, port } => {
                    let name = Name::new(named.clone(), (host, *port), label, series);
                    name.start_with(known.servers());
                    pool.names.push(name);
                    continue;
                }
            };
            series.addresses.set(1);
            let server = pool.server(fixed, named, series, known.servers());
            pool.fixed.push(server);
        }
        pool.make_members();
        pool
    }

    /// Whether connections that were made for this pool may serve one of `settings`.
    fn speaks_as(&self, settings: &Upstream) -> bool {
        self.settings.tls == settings.tls && self.settings.http2 == settings.http2
    }

    /// The server at `endpoint`: the known one, where there is one.
    pub(super) fn server(
        &self,
        endpoint: Endpoint,
        named: &UpstreamServer,
        metrics: crate::metrics::ServerMetrics,
        known: &[Arc<Server>],
    ) -> Arc<Server> {
        let same = |server: &&Arc<Server>| {
            *server.endpoint() == endpoint && *server.named() == named.address
        };
        let server = known.iter().find(same).cloned().unwrap_or_else(|| {
            let proves = self.settings.tls.as_ref().map(|tls| tls::name(tls, &named.address));
            let shared = (self.workers, &self.queue);
            Arc::new(Server::new(endpoint, named.address.clone(), proves, shared, metrics))
        });
        server.weigh(named.weight);
        let most_connections = self.settings.max_connections.unwrap_or(usize::MAX);
        server.bound(self.most_idle, self.settings.idle_timeout.get(), most_connections);
        if self.settings.health_check.is_none() {
            server.standing().unchecked();
        }
        server
    }

    /// Makes the members anew of what is known now.
    pub(super) fn make_members(&self) {
        let _one_at_a_time = self.making.lock();
        let mut servers = self.fixed.clone();
        servers.extend(self.names.iter().flat_map(Name::servers));
        self.members.store(Arc::new(Members::new(servers)));
    }

    pub(super) fn settings(&self) -> &Upstream {
        &self.settings
    }

    pub(super) fn timing(&self) -> Timing {
        self.timing
    }

    pub(super) fn security(&self) -> &Security {
        &self.security
    }

    pub(super) fn members(&self) -> Arc<Members> {
        self.members.load_full()
    }

    pub(super) fn names(&self) -> &[Name] {
        &self.names
    }

    pub(super) fn queue(&self) -> &Queue {
        &self.queue
    }

    pub(super) fn budget(&self) -> &Budget {
        &self.budget
    }

    pub(super) fn metrics(&self) -> &PoolMetrics {
        &self.metrics
    }

    /// A place at the next server at `now` (microseconds): the one whose turn it is, or another with fewer requests on their
    /// way. Those that do badly are passed over, unless all do. `tried` ones are not asked again.
    pub(super) fn pick(&self, now: u64, tried: &[Arc<Server>]) -> Picked {
        let members = self.members.load();
        // A request that is on its way takes no more turns: with two servers, all others would begin at the same one.
        let turn = if tried.is_empty() {
            self.turn.fetch_add(1, Ordering::Relaxed)
        } else {
            self.turn.load(Ordering::Relaxed)
        };
        let fresh = |server: &Arc<Server>| !tried.iter().any(|other| Arc::ptr_eq(other, server));
        let fit = |server: &Arc<Server>| fresh(server) && server.standing().is_fit(now);
        match self.place(&members, turn, fit) {
            Picked::None => self.place(&members, turn, fresh),
            picked => picked,
        }
    }

    fn place(&self, members: &Members, turn: usize, fit: impl Fn(&Arc<Server>) -> bool) -> Picked {
        let enter = |server: &&Arc<Server>| server.enter(self.settings.http2);
        let Some(chosen) = members.choose(turn, &fit) else { return Picked::None };
        let free = Some(chosen).filter(enter).or_else(|| members.from(turn, &fit).find(enter));
        free.map_or(Picked::Full, |server| Picked::Place(Lease::new(Arc::clone(server))))
    }

    /// Whether a server does well at `now`.
    pub(super) fn does_well(&self, now: u64) -> bool {
        self.members.load().servers().iter().any(|server| server.standing().does_well(now))
    }

    /// Whether there is a server besides those of `tried` and `last`.
    pub(super) fn has_another(&self, tried: &[Arc<Server>], last: &Arc<Server>) -> bool {
        let members = self.members.load();
        let other = |server: &Arc<Server>| {
            !Arc::ptr_eq(server, last) && !tried.iter().any(|tried| Arc::ptr_eq(tried, server))
        };
        members.servers().iter().any(other)
    }

    /// `server` failed a request at `now`: it may be once too often.
    pub(super) fn failed(&self, server: &Server, now: u64) {
        let Some(ejection) = &self.settings.ejection else { return };
        if !server.standing().failed(now, ejection) || !self.may_eject(now, ejection.share) {
            return;
        }
        if let Some(micros) = server.standing().eject(now, ejection) {
            server.metrics().ejections.inc();
            self.tell(now);
            let span = Duration::from_micros(micros);
            tracing::warn!(pool = %self.settings.name, server = %server.endpoint(), ?span, "an upstream server fails requests: it is left out for a while");
        }
    }

    /// A connection to `server` failed: its name may have other addresses by now.
    pub(super) fn doubt(&self, server: &Server) {
        self.names.iter().filter(|name| name.is_of(server)).for_each(Name::doubt);
    }

    /// Whether one more of the members may be left out.
    fn may_eject(&self, now: u64, share: u8) -> bool {
        let members = self.members.load();
        let servers = members.servers();
        let out = servers.iter().filter(|server| server.standing().is_ejected(now)).count();
        (out + 1) * 100 <= servers.len() * usize::from(share)
    }

    /// Says in the metrics which servers are used at `now`: of a name, how many of its addresses.
    pub(super) fn tell(&self, now: u64) {
        let well = |server: &&Arc<Server>| server.standing().does_well(now);
        for server in &self.fixed {
            server.metrics().healthy(well(&server));
        }
        for name in &self.names {
            name.tell(name.servers().iter().filter(well).count());
        }
    }

    /// `server` answered a request well.
    pub(super) fn succeeded(&self, server: &Server, now: u64) {
        if server.standing().answered(now) {
            tracing::info!(pool = %self.settings.name, server = %server.endpoint(), "an upstream server answers again");
        }
    }
}

impl Timing {
    fn new(settings: &Upstream, gateway: &GatewaySettings) -> Timing {
        let duration = |time: Micros| Duration::from_micros(time.get());
        let or = |own: Option<Micros>, general: Micros| duration(own.unwrap_or(general));
        Timing {
            connect: or(settings.connect_timeout, gateway.connect_timeout),
            first_byte: or(settings.first_byte_timeout, gateway.first_byte_timeout),
            body: duration(gateway.body_timeout),
        }
    }
}

fn security(settings: &Upstream) -> Security {
    let Some(wanted) = &settings.tls else { return Security::Plain };
    Tls::new(wanted, settings.http2).map_or_else(
        |error| {
            tracing::error!(pool = %settings.name, %error, "no connection can be made to an upstream");
            Security::Broken(error)
        },
        Security::Tls,
    )
}
