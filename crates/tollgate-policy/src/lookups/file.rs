//! Whether a file changed since it was read.

use std::fs::Metadata;
use std::path::Path;

/// What of a file tells that it changed: length, and the moment of its last change. A missing file has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(Option<(u64, Change)>);

#[cfg(unix)]
type Change = (u64, i64, i64);

#[cfg(unix)]
fn change(metadata: &Metadata) -> Change {
    use std::os::unix::fs::MetadataExt;
    (metadata.ino(), metadata.mtime(), metadata.mtime_nsec())
}

#[cfg(not(unix))]
type Change = Option<u64>;

#[cfg(not(unix))]
fn change(metadata: &Metadata) -> Change {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    metadata.modified().ok()?.hash(&mut hasher);
    Some(hasher.finish())
}

impl Stamp {
    /// The stamp of the file at `path` now.
    pub(crate) fn of(path: &Path) -> Stamp {
        Stamp(std::fs::metadata(path).ok().map(|metadata| (metadata.len(), change(&metadata))))
    }
}
