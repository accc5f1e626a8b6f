//! A histogram of integers whose recording is two atomic additions; scraping turns it into base units.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::{MetricType, TypedMetric};

/// A histogram. Clones share their counts.
#[derive(Clone, Debug)]
pub struct Histogram(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    scale: &'static Scale,
    /// One for each bound, and one for what is above them all.
    counts: Box<[AtomicU64]>,
    sum: AtomicU64,
}

/// What a histogram counts.
#[derive(Debug)]
pub(super) struct Scale {
    /// Upper bounds, included, in recorded units, rising.
    pub(super) bounds: &'static [u64],
    /// How many recorded units make one base unit (a second, a whole).
    pub(super) per_unit: u32,
}

impl Histogram {
    pub(super) fn new(scale: &'static Scale) -> Histogram {
        let counts = (0..=scale.bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Histogram(Arc::new(Inner { scale, counts, sum: AtomicU64::new(0) }))
    }

    /// Records `value`, in the histogram's recorded unit.
    pub(super) fn record(&self, value: u64) {
        let Inner { scale, counts, sum } = &*self.0;
        // Most values are among the lowest: by halves it would take longer.
        let place = scale.bounds.iter().position(|bound| value <= *bound);
        let place = place.unwrap_or(scale.bounds.len());
        counts[place].fetch_add(1, Ordering::Relaxed);
        sum.fetch_add(value, Ordering::Relaxed);
    }
}

impl TypedMetric for Histogram {
    const TYPE: MetricType = MetricType::Histogram;
}

impl EncodeMetric for Histogram {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), std::fmt::Error> {
        let Inner { scale, counts, sum } = &*self.0;
        let unit = f64::from(scale.per_unit);
        let bounds = scale.bounds.iter().map(|bound| *bound as f64 / unit).chain([f64::INFINITY]);
        // The count is made from the buckets that are shown, so that the two agree while others record.
        let buckets: Vec<(f64, u64)> =
            bounds.zip(counts.iter().map(|count| count.load(Ordering::Relaxed))).collect();
        let count = buckets.iter().map(|(_, count)| count).sum();
        let sum = sum.load(Ordering::Relaxed) as f64 / unit;
        encoder.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}
