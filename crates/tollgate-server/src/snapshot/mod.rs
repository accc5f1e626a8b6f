//! Keeping the counts of a memory store over a restart: read before anything listens, written every few seconds by a thread
//! of its own, and once more at the end.

mod found;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use tollgate_core::Timestamp;
use tollgate_policy::settings::SnapshotSettings;
use tollgate_store::snapshot::{SnapshotFile, SnapshotFileError};
use tollgate_store::{Clock, Definition, MemoryOptions, MemoryStore, Stopwatch};

use crate::metrics::SnapshotMetrics;
use crate::{Engine, GatewayStore};

/// Keeps the counts of one store in one file.
pub(crate) struct Keeper {
    file: SnapshotFile,
    every: Duration,
    metrics: SnapshotMetrics,
    /// Failures since the last success.
    failed: u64,
}

/// A keeper at work.
pub(crate) struct Keeping {
    stop: Sender<()>,
    ended: oneshot::Receiver<()>,
}

impl Keeper {
    /// Takes hold of the file that `settings` name, and gives a store with what it holds for `definitions`.
    ///
    /// # Errors
    /// [`SnapshotFileError`]: another gateway has it, or it cannot be read or locked. A file that is wrong is no error: it is
    /// put aside, said, and counted.
    pub(crate) fn open(
        settings: &SnapshotSettings,
        definitions: &[Definition],
        now: Timestamp,
    ) -> Result<(Keeper, MemoryStore), SnapshotFileError> {
        let file = SnapshotFile::lock(&settings.path)?;
        let (store, found) = file.open(MemoryOptions::default(), definitions, now)?;
        let metrics = SnapshotMetrics::default();
        found::tell(file.path(), &found, now, &metrics);
        let every = Duration::from_micros(settings.every.get());
        Ok((Keeper { file, every, metrics, failed: 0 }, store))
    }

    /// What it tells of itself.
    pub(crate) fn metrics(&self) -> &SnapshotMetrics {
        &self.metrics
    }

    /// Begins to write, at once and then every few seconds.
    ///
    /// # Errors
    /// Where there is no thread for it.
    pub(crate) fn start(
        mut self,
        engine: Arc<Engine>,
        clock: Arc<dyn Clock>,
    ) -> io::Result<Keeping> {
        let (stop, stopped) = mpsc::channel();
        let (end, ended) = oneshot::channel();
        thread::Builder::new().name("snapshot".to_owned()).spawn(move || {
            if let GatewayStore::Memory(store) = engine.store() {
                self.keep(store, &*clock, &stopped);
            }
            // Nobody waits any more where the gateway was broken off.
            let _ = end.send(());
        })?;
        Ok(Keeping { stop, ended })
    }

    fn keep(&mut self, store: &MemoryStore, clock: &dyn Clock, stopped: &Receiver<()>) {
        loop {
            let took = self.save(store, clock.now());
            match stopped.recv_timeout(self.every.saturating_sub(took)) {
                Err(RecvTimeoutError::Timeout) => {}
                // No request is being decided any more.
                _ => break,
            }
        }
        self.save(store, clock.now());
    }

    /// Writes the file, and says how long that took. What fails is tried again the next time, and said once.
    fn save(&mut self, store: &MemoryStore, now: Timestamp) -> Duration {
        let watch = Stopwatch::start();
        let saved = self.file.save(store, now, thread::yield_now);
        let took = Duration::from_nanos(watch.nanos());
        let path = self.file.path().display();
        match saved {
            Ok(written) => {
                self.metrics.saved(now, &written, took);
                if self.failed > 0 {
                    tracing::info!(failures = self.failed, "counts are written to {path} again");
                }
                self.failed = 0;
            }
            Err(error) => {
                self.metrics.failed();
                if self.failed == 0 {
                    tracing::error!(
                        %error,
                        "counts cannot be written to {path}: the snapshot before stays, and it is tried again every {:?}",
                        self.every
                    );
                }
                self.failed += 1;
            }
        }
        took
    }
}

impl Keeping {
    /// Writes the file once more, and lets go of it.
    pub(crate) async fn end(self) {
        drop(self.stop);
        if self.ended.await.is_err() {
            tracing::error!("the thread that writes snapshots panicked");
        }
    }
}
