//! What is recorded of each upstream server.

use std::sync::Arc;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::Adder;
use super::labels::{Server, ServerError, ServerResult, ServerStatus};

/// Why a request got no answer from an upstream server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpstreamError {
    /// No connection could be had.
    Connect,
    /// A connection, an answer or a body did not come in time.
    Timeout,
    /// The connection broke, or what came was no HTTP.
    Broken,
    /// The gateway itself had no file descriptor, port or memory left for a connection.
    Exhausted,
    /// The server did not prove who it is.
    Tls,
    /// The server said that it did not look at the request.
    Unprocessed,
}

impl UpstreamError {
    const ALL: [UpstreamError; 6] = [
        UpstreamError::Connect,
        UpstreamError::Timeout,
        UpstreamError::Broken,
        UpstreamError::Exhausted,
        UpstreamError::Tls,
        UpstreamError::Unprocessed,
    ];

    fn word(self) -> &'static str {
        match self {
            UpstreamError::Connect => "connect",
            UpstreamError::Timeout => "timeout",
            UpstreamError::Broken => "broken",
            UpstreamError::Exhausted => "exhausted",
            UpstreamError::Tls => "tls",
            UpstreamError::Unprocessed => "unprocessed",
        }
    }
}

/// The classes of statuses, by their first digit.
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

#[derive(Debug, Default)]
pub(super) struct Families {
    connections: Family<Server, Gauge>,
    requests: Family<Server, Counter>,
    responses: Family<ServerStatus, Counter>,
    errors: Family<ServerError, Counter>,
    healthy: Family<Server, Gauge>,
    addresses: Family<Server, Gauge>,
    ejections: Family<Server, Counter>,
    checks: Family<ServerResult, Counter>,
    look_ups: Family<ServerResult, Counter>,
}

/// Of health checks and look-ups: how they ended.
const RESULTS: [&str; 2] = ["ok", "failed"];

impl Families {
    pub(super) fn register(&self, registry: &mut Registry) {
        let mut add = Adder(registry);
        add.metric("upstream_connections", "Open connections to a server", &self.connections);
        add.metric("upstream_requests", "Requests sent to a server", &self.requests);
        add.metric(
            "upstream_responses",
            "Answers of a server, by class of status",
            &self.responses,
        );
        add.metric(
            "upstream_errors",
            "Requests that a server did not answer, or not to the end",
            &self.errors,
        );
        add.metric(
            "upstream_healthy",
            "1 while a server is used, 0 while it is left out; of a name, how many of its addresses are used",
            &self.healthy,
        );
        add.metric("upstream_addresses", "Addresses of a server", &self.addresses);
        add.metric(
            "upstream_ejections",
            "How often a server was left out because it failed requests",
            &self.ejections,
        );
        add.metric("upstream_health_checks", "Health checks, by result", &self.checks);
        add.metric("upstream_look_ups", "Look-ups of a server's name, by result", &self.look_ups);
    }

    /// Drops the series of a server that no policy names any more.
    pub(super) fn forget(&self, labels: &Server) {
        self.connections.remove(labels);
        self.requests.remove(labels);
        self.healthy.remove(labels);
        self.addresses.remove(labels);
        self.ejections.remove(labels);
        let Server { pool, server } = labels;
        let of = || (Arc::clone(pool), Arc::clone(server));
        for result in RESULTS {
            let (pool, server) = of();
            let labels = ServerResult { pool, server, result };
            self.checks.remove(&labels);
            self.look_ups.remove(&labels);
        }
        for error in UpstreamError::ALL {
            let (pool, server) = of();
            self.errors.remove(&ServerError { pool, server, error: error.word() });
        }
        for status in CLASSES {
            let (pool, server) = of();
            self.responses.remove(&ServerStatus { pool, server, status });
        }
    }

    pub(super) fn server(&self, pool: &str, server: &str) -> ServerMetrics {
        let (pool, server): (Arc<str>, Arc<str>) = (pool.into(), server.into());
        let labels = Server { pool: Arc::clone(&pool), server: Arc::clone(&server) };
        let error = |error: UpstreamError| {
            let (pool, server) = (Arc::clone(&pool), Arc::clone(&server));
            self.errors.get_or_create_owned(&ServerError { pool, server, error: error.word() })
        };
        let status = |status| {
            let (pool, server) = (Arc::clone(&pool), Arc::clone(&server));
            self.responses.get_or_create_owned(&ServerStatus { pool, server, status })
        };
        let results = |family: &Family<ServerResult, Counter>| {
            RESULTS.map(|result| {
                let (pool, server) = (Arc::clone(&pool), Arc::clone(&server));
                family.get_or_create_owned(&ServerResult { pool, server, result })
            })
        };
        let healthy = self.healthy.get_or_create_owned(&labels);
        healthy.set(1);
        ServerMetrics {
            connections: self.connections.get_or_create_owned(&labels),
            requests: self.requests.get_or_create_owned(&labels),
            responses: CLASSES.map(status),
            errors: UpstreamError::ALL.map(error),
            healthy,
            addresses: self.addresses.get_or_create_owned(&labels),
            ejections: self.ejections.get_or_create_owned(&labels),
            checks: results(&self.checks),
            look_ups: results(&self.look_ups),
        }
    }
}

/// The series of one upstream server. Clones share their counts.
#[derive(Clone, Debug)]
pub struct ServerMetrics {
    /// Open connections, idle ones too.
    pub connections: Gauge,
    /// Requests sent, retries too.
    pub requests: Counter,
    responses: [Counter; 5],
    errors: [Counter; UpstreamError::ALL.len()],
    healthy: Gauge,
    /// Addresses that it has.
    pub addresses: Gauge,
    /// How often it was left out because it failed requests.
    pub ejections: Counter,
    checks: [Counter; 2],
    look_ups: [Counter; 2],
}

impl ServerMetrics {
    /// Records an answer.
    pub fn responded(&self, status: http::StatusCode) {
        // HTTP knows five classes; a status from 600 on is recorded with the errors of servers.
        let class = usize::from(status.as_u16() / 100).clamp(1, CLASSES.len());
        self.responses[class - 1].inc();
    }

    /// Records a request that got no answer.
    pub fn failed(&self, error: UpstreamError) {
        self.errors[error as usize].inc();
    }

    /// Records a health check.
    pub fn checked(&self, well: bool) {
        self.checks[usize::from(!well)].inc();
    }

    /// Records a look-up of its name.
    pub fn looked_up(&self, found: bool) {
        self.look_ups[usize::from(!found)].inc();
    }

    /// Says how many of its addresses are used.
    pub fn used(&self, addresses: usize) {
        self.healthy.set(i64::try_from(addresses).unwrap_or(i64::MAX));
    }

    /// Says whether the server is used.
    pub fn healthy(&self, healthy: bool) {
        self.healthy.set(i64::from(healthy));
    }
}
