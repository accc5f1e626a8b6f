//! The services behind the gateway. All that the rest of it knows of them is [`Upstreams::send`]; TLS, HTTP/2, health
//! checks and fallbacks go behind it.

mod connect;
mod error;
mod exchange;
mod pool;
mod server;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use tollgate_policy::settings::Settings;
use tollgate_store::SystemClock;

use crate::body::{Relay, Upload};
use crate::metrics::Metrics;
use crate::waiting::Departure;
use exchange::Exchange;
use pool::Pool;
use server::Server;

pub(crate) use error::SendError;
pub(crate) use server::Lease;

/// Every pool of the policy, in its order.
#[derive(Debug)]
pub(crate) struct Upstreams {
    pools: Vec<Pool>,
    servers: Known,
    timing: Timing,
    clock: Arc<SystemClock>,
}

/// Servers by pool and address.
type Known = HashMap<(Arc<str>, String), Arc<Server>>;

/// How long an upstream may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    /// To take a connection.
    pub(crate) connect: Duration,
    /// From the request's last byte to the answer's first.
    pub(crate) first_byte: Duration,
    /// Longest silence within an answer's body.
    pub(crate) body: Duration,
}

impl Upstreams {
    /// The pools of `settings` for `workers` threads. A server that `before` knows keeps its connections.
    pub(crate) fn new(
        settings: &Settings,
        workers: usize,
        clock: &Arc<SystemClock>,
        metrics: &Metrics,
        before: Option<&Upstreams>,
    ) -> Upstreams {
        let mut servers = Known::new();
        let mut server = |pool: &Arc<str>, address: &String| {
            let key = (Arc::clone(pool), address.clone());
            let known = servers.get(&key).or_else(|| before?.servers.get(&key)).cloned();
            let server = known.unwrap_or_else(|| {
                Arc::new(Server::new(address, workers, metrics.server(pool, address)))
            });
            server.keep(settings.gateway.max_idle_per_server);
            servers.insert(key, Arc::clone(&server));
            server
        };
        let pools = settings
            .upstreams
            .iter()
            .map(|upstream| {
                let servers = upstream.servers.iter();
                Pool::new(servers.map(|address| server(&upstream.name, address)).collect())
            })
            .collect();
        let timing = Timing {
            connect: Duration::from_micros(settings.gateway.connect_timeout.get()),
            first_byte: Duration::from_micros(settings.gateway.first_byte_timeout.get()),
            body: Duration::from_micros(settings.gateway.body_timeout.get()),
        };
        Upstreams { pools, servers, timing, clock: Arc::clone(clock) }
    }

    /// Sends `request` to one of the servers of the pool at `place`, from the thread `worker`, and answers with the head
    /// of its response.
    ///
    /// The request goes to another server where one takes no connection, and over a fresh connection where a kept one
    /// turned out closed; but it is never sent twice, unless it has no body and its method is idempotent. `departure` is noted
    /// when a connection takes it.
    ///
    /// # Errors
    /// [`SendError`] where no server answered.
    pub(crate) async fn send(
        &self,
        place: usize,
        worker: usize,
        request: Request<Upload>,
        departure: &Departure,
    ) -> Result<Response<Relay>, SendError> {
        let Some(pool) = self.pools.get(place) else { return Err(SendError::NoServer) };
        Exchange { pool, worker, timing: self.timing, clock: &self.clock, departure }
            .send(request)
            .await
    }

    /// Drops kept connections that were closed or not used for long, of the thread `worker`.
    pub(crate) fn sweep(&self, worker: usize) {
        for server in self.servers.values() {
            server.sweep(worker, &self.clock);
        }
    }
}
