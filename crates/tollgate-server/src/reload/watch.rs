//! Hearing of changes to files. Their folders are watched rather than they, because editors and deployments put a new file
//! in the place of the old one; and so is every link on the way to them, because deployments exchange those, too.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;

use super::trail;

/// How often a watch is made anew because links or folders changed while it was made: nobody exchanges them for ever.
const MOST_TURNS: usize = 16;

/// A watch over some files, as long as it lives. It is over the links and folders of the moment, so it is made anew after
/// each change.
pub(super) struct Watch {
    _watcher: Option<RecommendedWatcher>,
}

impl Watch {
    /// Sends to `changed` when something happens to one of `files`. Where files cannot be watched that is logged, and SIGHUP
    /// still works.
    pub(super) fn new(files: &[PathBuf], changed: mpsc::Sender<()>) -> Watch {
        match watch(files, changed) {
            Ok(watcher) => Watch { _watcher: Some(watcher) },
            Err(error) => {
                tracing::warn!(%error, "the policy's files cannot be watched; send SIGHUP after a change");
                Watch { _watcher: None }
            }
        }
    }
}

fn watch(files: &[PathBuf], changed: mpsc::Sender<()>) -> notify::Result<RecommendedWatcher> {
    let mut places = places(files);
    for _ in 0..MOST_TURNS {
        let watcher = watch_over(&places, changed.clone());
        // Whatever came or went while the watch was made was not seen by it.
        let now = self::places(files);
        if now == places {
            return watcher;
        }
        places = now;
    }
    watch_over(&places, changed)
}

fn places(files: &[PathBuf]) -> BTreeSet<PathBuf> {
    files.iter().flat_map(|file| trail::places(file)).collect()
}

fn watch_over(
    places: &BTreeSet<PathBuf>,
    changed: mpsc::Sender<()>,
) -> notify::Result<RecommendedWatcher> {
    let folders: BTreeSet<PathBuf> =
        places.iter().filter_map(|place| place.parent()).map(Path::to_owned).collect();
    let concerned = places.union(&folders).cloned().collect();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        // An error may hide a change.
        if event.map_or(true, |event| concerns(&event, &concerned)) {
            // A full channel knows of a change already.
            let _ = changed.try_send(());
        }
    })?;
    for folder in &folders {
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
    }
    Ok(watcher)
}

/// Whether an event may have changed what stands at one of `places`. Reading is an event, too, and must not lead to another.
fn concerns(event: &Event, places: &BTreeSet<PathBuf>) -> bool {
    let change = match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    };
    change && (event.paths.is_empty() || event.paths.iter().any(|path| places.contains(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_of_our_files_concern_us() {
        let places = BTreeSet::from([PathBuf::from("/etc/policy.yaml"), PathBuf::from("/etc")]);
        let event = |kind, path: &str| Event::new(kind).add_path(PathBuf::from(path));
        let written = EventKind::Access(AccessKind::Close(AccessMode::Write));
        let read = EventKind::Access(AccessKind::Open(AccessMode::Read));
        assert!(concerns(&event(written, "/etc/policy.yaml"), &places));
        assert!(concerns(&event(EventKind::Any, "/etc"), &places));
        assert!(!concerns(&event(read, "/etc/policy.yaml"), &places));
        assert!(!concerns(&event(EventKind::Any, "/etc/other.yaml"), &places));
    }
}
