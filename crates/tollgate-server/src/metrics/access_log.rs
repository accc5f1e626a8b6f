//! The access log's own counts.

use prometheus_client::metrics::counter::Counter;

use super::Adder;

/// What became of lines of the access log.
#[derive(Clone, Debug, Default)]
pub(crate) struct AccessLogMetrics {
    /// Written whole.
    pub(crate) written: Counter,
    /// Lost: the target was full, slow or not there.
    pub(crate) lost: Counter,
}

impl AccessLogMetrics {
    pub(super) fn register(&self, add: &mut Adder<'_>) {
        add.metric("access_log_lines", "Lines of the access log that were written", &self.written);
        add.metric(
            "access_log_lines_lost",
            "Lines of the access log that its target did not take in time, or at all",
            &self.lost,
        );
    }
}
