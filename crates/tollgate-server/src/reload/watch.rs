//! Hearing of changes to files. Their folders are watched rather than they, because editors and deployments put a new file
//! in the place of the old one.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;

/// A watch over some files, as long as it lives.
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
    let names: BTreeSet<OsString> =
        files.iter().filter_map(|file| file.file_name()).map(OsString::from).collect();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        // An error may hide a change.
        if event.map_or(true, |event| concerns(&event, &names)) {
            // A full channel knows of a change already.
            let _ = changed.try_send(());
        }
    })?;
    let folders: BTreeSet<&Path> = files.iter().map(|file| folder(file)).collect();
    for folder in folders {
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
    }
    Ok(watcher)
}

/// Whether an event may have changed one of the files. Reading them is an event, too, and must not lead to another.
fn concerns(event: &Event, names: &BTreeSet<OsString>) -> bool {
    let change = match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    };
    // A mounted ConfigMap changes by a new `..data`.
    let ours = |path: &PathBuf| {
        path.file_name().is_none_or(|name| names.contains(name) || name == "..data")
    };
    change && (event.paths.is_empty() || event.paths.iter().any(ours))
}

fn folder(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_of_our_files_concern_us() {
        let names = BTreeSet::from([OsString::from("policy.yaml")]);
        let event = |kind, path: &str| Event::new(kind).add_path(PathBuf::from(path));
        let written = EventKind::Access(AccessKind::Close(AccessMode::Write));
        let read = EventKind::Access(AccessKind::Open(AccessMode::Read));
        assert!(concerns(&event(written, "/etc/policy.yaml"), &names));
        assert!(concerns(&event(EventKind::Any, "/etc/..data"), &names));
        assert!(!concerns(&event(read, "/etc/policy.yaml"), &names));
        assert!(!concerns(&event(EventKind::Any, "/etc/other.yaml"), &names));
    }
}
