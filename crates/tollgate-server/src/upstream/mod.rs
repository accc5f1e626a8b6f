//! The services behind the gateway. All that the rest of it knows of them is how a request is [sent](Exchange::send) to one,
//! and that they are to be [looked after](Upstreams::look_after).
//!
//! A request's way: `exchange` (which servers, how often) -> `pool` (which is next) -> `attempt` (one server) -> `line` (which
//! connection) -> `connect` and `dial` (a new one). Beside it: how a server stands (`standing`), what health checks say
//! (`health`), which addresses a name has (`names`).

mod attempt;
mod budget;
mod connect;
mod dial;
mod discard;
mod error;
mod exchange;
mod fields;
mod form;
mod grpc;
mod health;
mod kept;
mod lease;
mod line;
mod members;
mod multiplexed;
mod names;
mod outbound;
mod pool;
mod queue;
mod server;
mod standing;
mod stream;
#[cfg(test)]
mod tests;
mod tls;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tollgate_policy::settings::Settings;
use tollgate_store::{Clock, SystemClock};

use crate::metrics::Metrics;
use crate::waiting::Departure;
use pool::Pool;

pub(crate) use error::SendError;
pub(crate) use exchange::Exchange;
pub(crate) use lease::Lease;
pub(crate) use outbound::Outbound;

/// How often [`Upstreams::look_after`] is to be called.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Every pool of the policy, in its order.
#[derive(Debug)]
pub(crate) struct Upstreams {
    pools: Vec<Arc<Pool>>,
    clock: Arc<SystemClock>,
    most_waiting: usize,
}

/// How long an upstream may take.
#[derive(Clone, Copy, Debug)]
struct Timing {
    /// To take a connection.
    connect: Duration,
    /// From the request's last byte to the answer's first.
    first_byte: Duration,
    /// Longest silence within an answer's body.
    body: Duration,
}

impl Upstreams {
    /// The pools of `settings` for `workers` threads. A server that `before` knows keeps its connections, and how it stands.
    pub(crate) fn new(
        settings: &Settings,
        workers: usize,
        clock: &Arc<SystemClock>,
        metrics: &Metrics,
        before: Option<&Upstreams>,
    ) -> Upstreams {
        let now = clock.now().as_micros();
        let pools = settings.upstreams.iter().map(|upstream| {
            let known = before.into_iter().flat_map(|before| &before.pools);
            let known = known.map(Arc::as_ref).find(|pool| pool.settings().name == upstream.name);
            Arc::new(Pool::new(upstream, &settings.gateway, (workers, now), metrics, known))
        });
        let pools = pools.collect();
        let most_waiting = settings.gateway.max_waiting;
        Upstreams { pools, clock: Arc::clone(clock), most_waiting }
    }

    /// The exchange of a request of the thread `worker` with the pool at `place`; `departure` is noted when a connection takes
    /// the request. `None` where there is no such pool.
    pub(crate) fn exchange<'a>(
        &'a self,
        place: usize,
        worker: usize,
        departure: &'a Departure,
    ) -> Option<Exchange<'a>> {
        let (pool, clock) = (self.pools.get(place)?, &self.clock);
        Some(Exchange { pool, worker, clock, departure, most_waiting: self.most_waiting })
    }

    /// Whether the interim answers of the pool at `place` are passed on.
    pub(crate) fn hints(&self, place: usize) -> bool {
        self.pools.get(place).is_some_and(|pool| pool.settings().early_hints)
    }

    /// Drops kept connections that were closed or not used for long, of the thread `worker`.
    pub(crate) fn sweep(&self, worker: usize) {
        let now = self.clock.now().as_micros();
        for pool in &self.pools {
            for server in pool.members().servers() {
                server.sweep(worker, now);
            }
        }
    }

    /// Begins the health checks and look-ups that are due, on the thread that calls it, and brings up to date what metrics say
    /// of servers.
    pub(crate) fn look_after(&self) {
        let now = self.clock.now().as_micros();
        for pool in &self.pools {
            self.look_up(pool, now);
            self.check(pool, now);
            pool.tell(now);
        }
    }

    /// Which pools have no server that does well, in words: they are asked all the same.
    pub(crate) fn note(&self) -> Option<String> {
        let now = self.clock.now().as_micros();
        let ill = self.pools.iter().filter(|pool| !pool.does_well(now));
        let names: Vec<&str> = ill.map(|pool| &*pool.settings().name).collect();
        (!names.is_empty()).then(|| format!("no server does well of: {}", names.join(", ")))
    }

    fn look_up(&self, pool: &Arc<Pool>, now: u64) {
        for (place, name) in pool.names().iter().enumerate() {
            if name.begins(now) {
                let (pool, clock) = (Arc::clone(pool), Arc::clone(&self.clock));
                tokio::spawn(async move {
                    if let Some(name) = pool.names().get(place) {
                        pool.look_up(name, &clock).await;
                    }
                });
            }
        }
    }

    fn check(&self, pool: &Arc<Pool>, now: u64) {
        let Some(check) = &pool.settings().health_check else { return };
        for server in pool.members().servers() {
            let due = server.next_check().load(Ordering::Relaxed) <= now;
            if due && server.next_check().swap(u64::MAX, Ordering::Relaxed) != u64::MAX {
                let clock = Arc::clone(&self.clock);
                let (pool, server) = (Arc::clone(pool), Arc::clone(server));
                tokio::spawn(health::check(pool, server, check.clone(), clock));
            }
        }
    }
}

/// Whether connections to the upstreams of `settings` can be encrypted as it says; else each that cannot, in words.
pub(crate) fn unusable(settings: &Settings) -> Vec<String> {
    let wrong = settings.upstreams.iter().filter_map(|upstream| {
        let error = tls::Tls::new(upstream.tls.as_ref()?, upstream.http2).err()?;
        Some(format!("upstream `{}`: {error}", upstream.name))
    });
    wrong.collect()
}
