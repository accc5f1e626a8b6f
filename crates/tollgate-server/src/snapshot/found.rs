//! What is said of the file that was found at the start.

use std::path::Path;
use std::time::Duration;

use tollgate_core::Timestamp;
use tollgate_store::snapshot::{Found, Restored};

use crate::metrics::SnapshotMetrics;

/// Logs and counts what was found.
pub(super) fn tell(path: &Path, found: &Found, now: Timestamp, metrics: &SnapshotMetrics) {
    let path = path.display();
    match found {
        Found::Nothing => tracing::info!("there is no snapshot {path} yet: counts begin"),
        Found::Counts(restored) => {
            metrics.restored(restored.keys);
            let Restored { written, keys, expired, dropped } = *restored;
            tracing::info!(
                keys,
                expired,
                of_other_limits = dropped,
                "counts go on from the snapshot {path}, written {} ago",
                words(written, now)
            );
            if written > now {
                tracing::warn!(
                    "the clock stands {} before the snapshot {path} was written: what is ahead of it counts as if counted now",
                    words(now, written)
                );
            }
        }
        Found::Damaged { error, aside } => {
            metrics.damaged();
            let kept = match aside {
                Ok(aside) => format!("it is kept as {}", aside.display()),
                Err(error) => format!("it could not be put aside ({error}), and will be replaced"),
            };
            tracing::error!(
                "the snapshot {path} is not used, and all counts begin anew: {error}; {kept}"
            );
        }
    }
}

/// From one moment to another, to the millisecond; nothing where that is the other way round.
fn words(from: Timestamp, to: Timestamp) -> String {
    let micros = to.as_micros().saturating_sub(from.as_micros());
    format!("{:?}", Duration::from_millis(micros / 1_000))
}
