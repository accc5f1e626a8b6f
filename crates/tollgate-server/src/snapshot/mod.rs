//! Keeping the counts of a memory store over a restart: read before anything listens, written every few seconds by a thread
//! of its own, and once more at the end.

mod found;
mod inherit;

use std::io;
use std::path::PathBuf;
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
use inherit::inherit;

/// Keeps the counts of one store in one file.
pub(crate) struct Keeper {
    path: PathBuf,
    /// The file, unless the gateway before this one still has it.
    file: Option<SnapshotFile>,
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
    /// Takes hold of the file that `settings` name, and gives a store with what it holds for `definitions`. With `take_over` another
    /// gateway may still have it: then its counts go on as it last wrote them, and the file is taken once that one has ended.
    ///
    /// # Errors
    /// [`SnapshotFileError`]: another gateway has it, or it cannot be read or locked. A file that is wrong is no error: it is
    /// put aside, said, and counted.
    pub(crate) fn open(
        settings: &SnapshotSettings,
        definitions: &[Definition],
        now: Timestamp,
        take_over: bool,
    ) -> Result<(Keeper, MemoryStore), SnapshotFileError> {
        let (path, options) = (settings.path.clone(), MemoryOptions::default());
        let (file, (store, found)) = match SnapshotFile::lock(&path) {
            Ok(file) => {
                let opened = file.open(options, definitions, now)?;
                (Some(file), opened)
            }
            Err(SnapshotFileError::Taken { .. }) if take_over => {
                (None, SnapshotFile::open_of_another(&path, options, definitions, now)?)
            }
            Err(error) => return Err(error),
        };
        let metrics = SnapshotMetrics::default();
        found::tell(&path, &found, now, &metrics);
        let every = Duration::from_micros(settings.every.get());
        Ok((Keeper { path, file, every, metrics, failed: 0 }, store))
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
        let Some(file) = self.file.take().or_else(|| inherit(&self.path, stopped)) else { return };
        loop {
            let took = self.save(&file, store, clock.now());
            match stopped.recv_timeout(self.every.saturating_sub(took)) {
                Err(RecvTimeoutError::Timeout) => {}
                // No request is being decided any more.
                _ => break,
            }
        }
        self.save(&file, store, clock.now());
    }

    /// Writes the file, and says how long that took. What fails is tried again the next time, and said once.
    fn save(&mut self, file: &SnapshotFile, store: &MemoryStore, now: Timestamp) -> Duration {
        let watch = Stopwatch::start();
        let saved = file.save(store, now, thread::yield_now);
        let took = Duration::from_nanos(watch.nanos());
        let path = self.path.display();
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
