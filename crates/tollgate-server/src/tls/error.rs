//! Why a listener's files are of no use.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why a certificate, a key or a file of authorities cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsError {
    file: PathBuf,
    why: String,
}

impl TlsError {
    pub(super) fn new(file: &Path, why: impl fmt::Display) -> TlsError {
        TlsError { file: file.to_owned(), why: why.to_string() }
    }
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot be used: {}", self.file.display(), self.why)
    }
}

impl std::error::Error for TlsError {}
