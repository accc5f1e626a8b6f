//! What a shared store tells when it is scraped: whether it is there, whose word decisions were, how long its answers take.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, NoLabelSet};
use prometheus_client::metrics::MetricType;
use tollgate_store::{LATENCY_BOUNDS, LeasesObserved, NodeObserved, SharedStore};

use super::labels::{ErrorKind, WordOf};

#[derive(Debug)]
pub(super) struct SharedScrape(pub(super) SharedStore);

impl Collector for SharedScrape {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let (seen, calls) = (self.0.observed(), self.0.redis_observed());
        let mut page = Page(encoder);
        let help = "1 while the shared store is away and on_store_failure holds, else 0";
        page.gauge("store_degraded", help, u64::from(seen.degraded))?;
        let help = "Nodes that count together, as far as this one knows";
        page.gauge("store_live_nodes", help, u64::from(seen.live_nodes))?;
        let help = "What limits said, by whose word it was; one for each limit of each decision";
        let words =
            seen.outcomes.iter().map(|(source, count)| (WordOf { source: source.label() }, *count));
        page.counters("limit_decisions_by_source", help, words)?;
        let help = "Calls that the shared store did not answer, by kind";
        let errors = seen
            .errors
            .iter()
            .map(|(trouble, count)| (ErrorKind { error: trouble.label() }, *count));
        page.counters("store_errors", help, errors)?;
        page.latency(&seen)?;
        page.leases(&seen.leases)?;
        let help = "Units that estimates admitted beyond their limits, as the sums showed later";
        page.counter("store_estimate_overshoot_units", help, seen.overshoot)?;
        let help = "Keys whose charges the shared store has yet to be told of";
        page.gauge("store_unreconciled_keys", help, seen.unreconciled_keys as u64)?;
        let help =
            "Units admitted while the shared store was away, and charged to it when it was back";
        page.counter("store_reconciled_units", help, seen.reconciled)?;
        let help = "Units admitted while the shared store was away that it never learnt of";
        page.counter("store_lost_units", help, seen.unreconciled)?;
        let help = "Charges to give back after another slot of a cluster refused, that were not";
        page.counter("store_unreturned_charges", help, calls.unreturned)?;
        let help =
            "Verdicts of scripts that the engine would not have given: always 0, or there is a bug";
        page.counter("store_differing_verdicts", help, calls.differing)
    }
}

/// The page that is being written.
struct Page<'a>(DescriptorEncoder<'a>);

impl Page<'_> {
    fn gauge(&mut self, name: &str, help: &str, value: u64) -> Result<(), fmt::Error> {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        self.0.encode_descriptor(name, help, None, MetricType::Gauge)?.encode_gauge(&value)
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) -> Result<(), fmt::Error> {
        let mut metric = self.0.encode_descriptor(name, help, None, MetricType::Counter)?;
        metric.encode_counter::<NoLabelSet, _, u64>(&value, None)
    }

    fn counters<L: EncodeLabelSet>(
        &mut self,
        name: &str,
        help: &str,
        series: impl Iterator<Item = (L, u64)>,
    ) -> Result<(), fmt::Error> {
        let mut metric = self.0.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (labels, count) in series {
            metric.encode_family(&labels)?.encode_counter::<NoLabelSet, _, u64>(&count, None)?;
        }
        Ok(())
    }

    fn leases(&mut self, seen: &LeasesObserved) -> Result<(), fmt::Error> {
        let help = "Units that this node has borrowed and not spent";
        self.gauge("store_lease_units", help, seen.in_hand)?;
        let help = "Requests to borrow or to return units";
        self.counter("store_lease_requests", help, seen.requests)?;
        let help = "Requests to borrow or to return units that were not answered: what they were for is spent for nothing";
        self.counter("store_lease_unanswered", help, seen.unanswered)?;
        let help = "Units borrowed";
        self.counter("store_lease_borrowed_units", help, seen.lent)?;
        let help = "Units returned unspent";
        self.counter("store_lease_returned_units", help, seen.returned)
    }

    fn latency(&mut self, seen: &NodeObserved) -> Result<(), fmt::Error> {
        let seconds = |micros: u64| micros as f64 / 1e6;
        let bounds = LATENCY_BOUNDS.iter().map(|bound| seconds(*bound)).chain([f64::INFINITY]);
        let buckets: Vec<(f64, u64)> = bounds.zip(seen.latency).collect();
        let count = seen.latency.iter().sum();
        let (name, help) = ("store_latency_seconds", "How long the shared store took to answer");
        let mut metric = self.0.encode_descriptor(name, help, None, MetricType::Histogram)?;
        metric.encode_histogram::<NoLabelSet>(seconds(seen.latency_sum), count, &buckets, None)
    }
}
