//! Why a snapshot's file cannot be held.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a snapshot's file cannot be held. Its text says what would be right.
#[derive(Debug)]
#[non_exhaustive]
pub enum SnapshotFileError {
    /// Another process holds it.
    Taken {
        /// The file.
        path: PathBuf,
        /// What the other left in the lock: the number of its process.
        by: String,
    },
    /// The system did not let us lock it.
    Unlockable {
        /// The lock's path.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It is there and cannot be opened.
    Unopened {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl fmt::Display for SnapshotFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SnapshotFileError::Taken { path, by } => {
                let by = if by.is_empty() { String::new() } else { format!(" (process {by})") };
                write!(
                    f,
                    "another gateway{by} keeps its counts in {}; stop it, or give each its own `snapshot`",
                    path.display()
                )
            }
            SnapshotFileError::Unlockable { path, error } => write!(
                f,
                "{} cannot be locked: {error}; the folder of `snapshot` must be there, and ours to write to",
                path.display()
            ),
            SnapshotFileError::Unopened { path, error } => write!(
                f,
                "the counts in {} cannot be read: {error}; let this user read them, or remove the file and begin anew",
                path.display()
            ),
        }
    }
}

impl std::error::Error for SnapshotFileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SnapshotFileError::Taken { .. } => None,
            SnapshotFileError::Unlockable { error, .. }
            | SnapshotFileError::Unopened { error, .. } => Some(error),
        }
    }
}
