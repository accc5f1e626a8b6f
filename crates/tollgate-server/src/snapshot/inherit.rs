//! Taking the file of the gateway that this one takes over from, once that one has ended.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use tollgate_store::snapshot::{SnapshotFile, SnapshotFileError};

/// How often it is looked whether the other one has ended.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Waits until nobody else has the file at `path`. `None` where this gateway ends before: then the other's counts stay.
pub(super) fn inherit(path: &Path, stopped: &Receiver<()>) -> Option<SnapshotFile> {
    let (mut ends, mut said) = (false, false);
    loop {
        let error = match SnapshotFile::lock(path) {
            Ok(file) => {
                tracing::info!(
                    "the gateway before has ended: counts are written to {} from here on",
                    path.display()
                );
                return Some(file);
            }
            Err(error) => error,
        };
        if ends {
            tracing::error!(%error, "the counts of this gateway are not kept");
            return None;
        }
        match error {
            _ if said => {}
            SnapshotFileError::Taken { by, .. } => {
                tracing::info!(
                    process = by,
                    "counts are written to {} once the gateway that has it has ended",
                    path.display()
                );
            }
            error => tracing::error!(%error, "counts cannot be written yet, and it is tried again"),
        }
        said = true;
        ends = !matches!(stopped.recv_timeout(LOOK_EVERY), Err(RecvTimeoutError::Timeout));
    }
}
