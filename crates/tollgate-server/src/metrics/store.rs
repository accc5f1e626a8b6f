//! What the store tells when it is scraped.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use tollgate_store::Usage;

use super::labels::Limit;

pub(super) struct Scrape(Box<dyn Fn() -> Vec<Usage> + Send + Sync>);

impl Scrape {
    pub(super) fn new(read: impl Fn() -> Vec<Usage> + Send + Sync + 'static) -> Scrape {
        Scrape(Box::new(read))
    }
}

impl fmt::Debug for Scrape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scrape(..)")
    }
}

impl Collector for Scrape {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let limits = self.0();
        let keys = limits.iter().map(|limit| (limit, ConstGauge::new(count(limit.keys))));
        // A store without a bound has no series here.
        let bounded = limits.iter().filter(|limit| limit.max_keys < usize::MAX);
        let most = bounded.map(|limit| (limit, ConstGauge::new(count(limit.max_keys))));
        let evicted = limits.iter().map(|limit| (limit, ConstCounter::new(limit.evicted)));
        let shared = limits.iter().map(|limit| (limit, ConstCounter::new(limit.overflowed)));
        family(
            &mut encoder,
            "live_keys",
            "Keys that the store remembers",
            MetricType::Gauge,
            keys,
        )?;
        family(&mut encoder, "max_keys", "Most keys that it remembers", MetricType::Gauge, most)?;
        let help = "Keys as fresh as new that were forgotten to make room";
        family(&mut encoder, "evictions", help, MetricType::Counter, evicted)?;
        let help = "Decisions made on the bucket that keys share beyond max_keys";
        family(&mut encoder, "overflow_decisions", help, MetricType::Counter, shared)
    }
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn family<'a, M: EncodeMetric>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    kind: MetricType,
    series: impl Iterator<Item = (&'a Usage, M)>,
) -> Result<(), fmt::Error> {
    let mut metric = encoder.encode_descriptor(name, help, None, kind)?;
    for (limit, value) in series {
        let labels = Limit { limit: Arc::clone(&limit.limit) };
        value.encode(metric.encode_family(&labels)?)?;
    }
    Ok(())
}
