//! What can end a replay.

use std::fmt;
use std::io;
use std::path::PathBuf;

use tollgate_store::StoreError;

use crate::format::BadLine;

/// Why a replay ended before its end.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReplayError {
    /// A file of requests cannot be opened.
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file of requests cannot be read on.
    Read {
        /// The file.
        path: PathBuf,
        /// Where, in lines from 1.
        line: u64,
        /// Why.
        error: io::Error,
    },
    /// A line is no request.
    BadLine {
        /// Its file.
        path: PathBuf,
        /// Its number from 1.
        line: u64,
        /// What is wrong and what would be right.
        why: BadLine,
    },
    /// Decisions cannot be written.
    Write(io::Error),
    /// The store gave no answer.
    Store(StoreError),
    /// The system has nothing to wait for a shared store with.
    System(io::Error),
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayError::Open { path, error } => {
                write!(f, "{}: cannot be opened: {error}", path.display())
            }
            ReplayError::Read { path, line, error } => {
                write!(f, "{}:{line}: cannot be read: {error}", path.display())
            }
            ReplayError::BadLine { path, line, why } => {
                write!(
                    f,
                    "{}:{line}: {why} (--skip-bad passes over such lines and counts them)",
                    path.display()
                )
            }
            ReplayError::Write(error) => write!(f, "decisions cannot be written: {error}"),
            ReplayError::Store(error) => write!(f, "{error}"),
            ReplayError::System(error) => {
                write!(f, "the operating system refused to go on: {error}")
            }
        }
    }
}

impl std::error::Error for ReplayError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReplayError::Open { error, .. }
            | ReplayError::Read { error, .. }
            | ReplayError::Write(error)
            | ReplayError::System(error) => Some(error),
            ReplayError::BadLine { why, .. } => Some(why),
            ReplayError::Store(error) => Some(error),
        }
    }
}

impl From<StoreError> for ReplayError {
    fn from(error: StoreError) -> ReplayError {
        ReplayError::Store(error)
    }
}
