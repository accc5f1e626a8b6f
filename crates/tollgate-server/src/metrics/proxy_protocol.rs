//! Connections that had to begin with a PROXY protocol header and did not.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

use super::Adder;

/// Why a connection was closed at its PROXY protocol header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProxyProtocolError {
    /// It began with something else.
    Missing,
    /// What came is no header as the protocol has it.
    Malformed,
    /// It did not come in time.
    Slow,
    /// The peer closed first.
    Closed,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Reason {
    reason: &'static str,
}

/// Counts by reason.
#[derive(Debug, Default)]
pub(crate) struct ProxyProtocolMetrics {
    errors: Family<Reason, Counter>,
}

impl ProxyProtocolMetrics {
    pub(super) fn register(&self, add: &mut Adder<'_>) {
        add.metric(
            "proxy_protocol_errors",
            "Connections closed because their PROXY protocol header was missing, malformed, slow or cut off",
            &self.errors,
        );
    }

    /// One more was closed.
    pub(crate) fn failed(&self, error: ProxyProtocolError) {
        let reason = match error {
            ProxyProtocolError::Missing => "missing",
            ProxyProtocolError::Malformed => "malformed",
            ProxyProtocolError::Slow => "slow",
            ProxyProtocolError::Closed => "closed",
        };
        self.errors.get_or_create(&Reason { reason }).inc();
    }
}
