//! How much memory the process takes, when it is scraped. With the number of connections it says what each costs.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

/// Where Linux tells a process of itself. Elsewhere there is no such series.
const STATUS: &str = "/proc/self/status";

#[derive(Debug)]
pub(super) struct Memory;

impl Collector for Memory {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let status = std::fs::read_to_string(STATUS).unwrap_or_default();
        let Some(bytes) = resident(&status) else { return Ok(()) };
        let help = "Memory that the process has from the system";
        let gauge =
            encoder.encode_descriptor("resident_memory_bytes", help, None, MetricType::Gauge)?;
        ConstGauge::new(bytes).encode(gauge)
    }
}

fn resident(status: &str) -> Option<i64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: i64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_linux_says_is_read() {
        assert_eq!(
            resident("Name:\ttollgate\nVmRSS:\t   17112 kB\nThreads:\t3\n"),
            Some(17_522_688)
        );
        assert_eq!(resident("Name:\ttollgate\n"), None);
        assert_eq!(resident("VmRSS:\tmuch\n"), None);
    }
}
