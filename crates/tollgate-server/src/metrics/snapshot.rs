//! What a memory store's snapshots tell: how old, how large, and whether they succeed.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use tollgate_core::Timestamp;
use tollgate_store::snapshot::Written;

use super::Adder;
use super::labels::ReloadResult;

/// The metrics of snapshots; clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct SnapshotMetrics {
    last: Gauge<f64, AtomicU64>,
    bytes: Gauge,
    keys: Gauge,
    seconds: Gauge<f64, AtomicU64>,
    written: Family<ReloadResult, Counter>,
    restored: Gauge,
    damaged: Gauge,
}

impl SnapshotMetrics {
    pub(super) fn register(&self, add: &mut Adder<'_>) {
        add.metric(
            "snapshot_last_timestamp_seconds",
            "When the last snapshot of the counts was begun; 0 before the first",
            &self.last,
        );
        add.metric("snapshot_size_bytes", "Size of the last snapshot", &self.bytes);
        add.metric("snapshot_keys", "Keys in the last snapshot", &self.keys);
        add.metric(
            "snapshot_duration_seconds",
            "How long the last snapshot took, to the disk",
            &self.seconds,
        );
        add.metric("snapshots", "Attempts to write a snapshot, by result", &self.written);
        add.metric(
            "snapshot_restored_keys",
            "Keys whose counts went on from a snapshot at the start",
            &self.restored,
        );
        add.metric(
            "snapshot_damaged",
            "1 where the snapshot at the start was no whole one, and all counts began anew",
            &self.damaged,
        );
        for result in ["ok", "error"] {
            let _ = self.written.get_or_create(&ReloadResult { result });
        }
    }

    /// A snapshot was written, begun at `now`.
    pub(crate) fn saved(&self, now: Timestamp, written: &Written, took: Duration) {
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        self.last.set(now.as_micros() as f64 / 1e6);
        self.bytes.set(whole(written.bytes));
        self.keys.set(whole(written.keys));
        self.seconds.set(took.as_secs_f64());
        self.written.get_or_create(&ReloadResult { result: "ok" }).inc();
    }

    /// A snapshot could not be written.
    pub(crate) fn failed(&self) {
        self.written.get_or_create(&ReloadResult { result: "error" }).inc();
    }

    /// So many keys' counts went on at the start.
    pub(crate) fn restored(&self, keys: u64) {
        self.restored.set(i64::try_from(keys).unwrap_or(i64::MAX));
    }

    /// The file at the start was none that could be used.
    pub(crate) fn damaged(&self) {
        self.damaged.set(1);
    }
}
