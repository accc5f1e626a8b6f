//! Why connections cannot be encrypted.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why connections cannot be encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsError {
    /// The file that cannot be used, where it is one.
    pub file: Option<PathBuf>,
    /// Why.
    pub reason: String,
}

impl TlsError {
    /// `file` cannot be used.
    #[must_use]
    pub fn file(file: &Path, reason: impl fmt::Display) -> TlsError {
        TlsError { file: Some(file.to_owned()), reason: reason.to_string() }
    }

    pub(super) fn of(reason: impl fmt::Display) -> TlsError {
        TlsError { file: None, reason: reason.to_string() }
    }
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{} cannot be used: {}", file.display(), self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

impl std::error::Error for TlsError {}
