//! What is recorded of each upstream server.

use std::sync::Arc;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::Adder;
use super::labels::{Server, ServerError, ServerStatus};

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
}

impl UpstreamError {
    const ALL: [UpstreamError; 4] = [
        UpstreamError::Connect,
        UpstreamError::Timeout,
        UpstreamError::Broken,
        UpstreamError::Exhausted,
    ];

    fn word(self) -> &'static str {
        match self {
            UpstreamError::Connect => "connect",
            UpstreamError::Timeout => "timeout",
            UpstreamError::Broken => "broken",
            UpstreamError::Exhausted => "exhausted",
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
}

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
            "1 while a server is used, 0 while it is left out",
            &self.healthy,
        );
    }

    /// Drops the series of a server that no policy names any more.
    pub(super) fn forget(&self, labels: &Server) {
        self.connections.remove(labels);
        self.requests.remove(labels);
        self.healthy.remove(labels);
        let Server { pool, server } = labels;
        let of = || (Arc::clone(pool), Arc::clone(server));
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
        let healthy = self.healthy.get_or_create_owned(&labels);
        healthy.set(1);
        ServerMetrics {
            connections: self.connections.get_or_create_owned(&labels),
            requests: self.requests.get_or_create_owned(&labels),
            responses: CLASSES.map(status),
            errors: UpstreamError::ALL.map(error),
            healthy,
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

    /// Says whether the server is used.
    pub fn healthy(&self, healthy: bool) {
        self.healthy.set(i64::from(healthy));
    }
}
