//! What the connections counted: for metrics and for tests.

use std::sync::atomic::{AtomicU64, Ordering};

/// What happened on the connections to the shared store since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServersObserved {
    /// Connections that are open now.
    pub connections: u64,
    /// Calls that wait for an answer now, among them those whose caller has given up.
    pub in_flight: u64,
    /// Connections that were opened.
    pub connected: u64,
    /// Attempts to connect that failed.
    pub connect_failures: u64,
    /// Connections that ended, whoever ended them.
    pub disconnected: u64,
    /// Connections that we ended because nothing came back on them.
    pub silent: u64,
    /// Connections that we ended because the server is a replica.
    pub read_only: u64,
    /// Calls whose script the server had forgotten, sent again with its text.
    pub scripts_sent: u64,
    /// Calls that a node of a cluster sent elsewhere.
    pub redirects: u64,
    /// Answers that came after their caller had given up.
    pub late_answers: u64,
    /// Times that the primary, or the map of a cluster's slots, was looked up.
    pub lookups: u64,
}

/// One thing that is counted.
#[derive(Debug, Default)]
pub(super) struct Count(AtomicU64);

impl Count {
    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// For what comes and goes.
    pub(super) fn subtract(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counts behind [`ServersObserved`].
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) connections: Count,
    pub(super) in_flight: Count,
    pub(super) connected: Count,
    pub(super) connect_failures: Count,
    pub(super) disconnected: Count,
    pub(super) silent: Count,
    pub(super) read_only: Count,
    pub(super) scripts_sent: Count,
    pub(super) redirects: Count,
    pub(super) late_answers: Count,
    pub(super) lookups: Count,
}

impl Counts {
    pub(super) fn observed(&self) -> ServersObserved {
        ServersObserved {
            connections: self.connections.read(),
            in_flight: self.in_flight.read(),
            connected: self.connected.read(),
            connect_failures: self.connect_failures.read(),
            disconnected: self.disconnected.read(),
            silent: self.silent.read(),
            read_only: self.read_only.read(),
            scripts_sent: self.scripts_sent.read(),
            redirects: self.redirects.read(),
            late_answers: self.late_answers.read(),
            lookups: self.lookups.read(),
        }
    }
}
