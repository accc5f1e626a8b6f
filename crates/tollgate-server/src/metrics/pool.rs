//! What is recorded of each upstream as a whole.

use std::sync::Arc;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::Adder;
use super::labels::{Pool, Retry};

/// Why a request is sent again: no connection could be had, the server said that it did not look at it, a kept connection
/// turned out closed, or what the policy asks for.
const REASONS: [&str; 6] = ["connect", "unprocessed", "stale", "status", "timeout", "broken"];

#[derive(Debug, Default)]
pub(super) struct Families {
    retries: Family<Retry, Counter>,
    retries_refused: Family<Pool, Counter>,
    waiting: Family<Pool, Gauge>,
    full: Family<Pool, Counter>,
}

impl Families {
    pub(super) fn register(&self, registry: &mut Registry) {
        let mut add = Adder(registry);
        add.metric("upstream_retries", "Requests that were sent again, by reason", &self.retries);
        add.metric(
            "upstream_retries_refused",
            "Requests that were not sent again because the retry budget was used up",
            &self.retries_refused,
        );
        add.metric(
            "upstream_requests_waiting",
            "Requests that wait for a connection because max_connections are in use",
            &self.waiting,
        );
        add.metric(
            "upstream_full",
            "Requests answered 503 because max_connections were in use for too long",
            &self.full,
        );
    }

    /// Drops the series of an upstream that no policy names any more.
    pub(super) fn forget(&self, pool: &Arc<str>) {
        let labels = Pool { pool: Arc::clone(pool) };
        self.retries_refused.remove(&labels);
        self.waiting.remove(&labels);
        self.full.remove(&labels);
        for reason in REASONS {
            self.retries.remove(&Retry { pool: Arc::clone(pool), reason });
        }
    }

    pub(super) fn pool(&self, pool: &str) -> PoolMetrics {
        let pool: Arc<str> = pool.into();
        let labels = Pool { pool: Arc::clone(&pool) };
        let retries = REASONS.map(|reason| {
            self.retries.get_or_create_owned(&Retry { pool: Arc::clone(&pool), reason })
        });
        PoolMetrics {
            retries,
            retries_refused: self.retries_refused.get_or_create_owned(&labels),
            waiting: self.waiting.get_or_create_owned(&labels),
            full: self.full.get_or_create_owned(&labels),
        }
    }
}

/// The series of one upstream. Clones share their counts.
#[derive(Clone, Debug)]
pub struct PoolMetrics {
    retries: [Counter; REASONS.len()],
    /// Retries for which the budget had nothing left.
    pub retries_refused: Counter,
    /// Requests that wait for a connection.
    pub waiting: Gauge,
    /// Requests that waited for a connection in vain.
    pub full: Counter,
}

impl PoolMetrics {
    /// Records that a request is sent again for one of the known reasons.
    pub fn retried(&self, reason: &str) {
        if let Some(place) = REASONS.iter().position(|known| *known == reason) {
            self.retries[place].inc();
        }
    }
}
