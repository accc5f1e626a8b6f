//! Why a snapshot was not taken.

use std::fmt;
use std::io;

/// Why a snapshot was not taken: what it holds is not used at all then.
#[derive(Debug)]
#[non_exhaustive]
pub enum SnapshotError {
    /// It is no snapshot.
    Foreign,
    /// Another version of Tollgate wrote it.
    Version {
        /// The format's version in the file.
        found: u32,
        /// The one that this program knows.
        known: u32,
    },
    /// It ends too early.
    Cut {
        /// Where the first thing begins that is not all there.
        at: u64,
    },
    /// It is not as it was written, or says what no gateway writes.
    Damaged {
        /// So many bytes into it.
        at: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// The system did not hand it over.
    Unreadable(io::Error),
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SnapshotError::Foreign => f.write_str("it is no snapshot of Tollgate's counts"),
            SnapshotError::Version { found, known } => write!(
                f,
                "it is of version {found} of the format, and this program reads version {known}: another version of \
                 Tollgate wrote it"
            ),
            SnapshotError::Cut { at } => {
                write!(f, "it is cut off: what begins at byte {at} is not all there")
            }
            SnapshotError::Damaged { at, what } => {
                write!(f, "it is damaged before byte {at}: {what}")
            }
            SnapshotError::Unreadable(error) => write!(f, "it cannot be read: {error}"),
        }
    }
}

impl std::error::Error for SnapshotError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SnapshotError::Unreadable(error) => Some(error),
            _ => None,
        }
    }
}
