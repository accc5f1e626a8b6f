//! Why the gateway does not serve.

use std::io;
use std::path::PathBuf;

use tollgate_policy::file::Report;
use tollgate_policy::settings::{ListenAt, StoreSettingsError};
use tollgate_store::snapshot::SnapshotFileError;

use crate::tls::TlsError;

/// Why the gateway does not serve. Its text says what would be right.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// The policy file cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The policy is wrong: every mistake, with its place.
    Policy(Box<Report>),
    /// Files that the policy names cannot be used for TLS; each in words.
    UpstreamTls(Vec<String>),
    /// The policy names no address to listen on.
    NoListen,
    /// The policy's store cannot be opened.
    Store(StoreSettingsError),
    /// The file that keeps the counts cannot be held.
    Snapshot(SnapshotFileError),
    /// An address cannot be listened on.
    Bind {
        /// Where.
        at: ListenAt,
        /// Why.
        error: io::Error,
    },
    /// An address was given on the command line, and the policy has several listeners: so many.
    WhichListener(usize),
    /// A listener's certificates are of no use.
    Tls(TlsError),
    /// The operating system refused a thread, a signal or something else that serving needs.
    System(io::Error),
}

impl ServeError {
    /// What is wrong on one line: of a policy's mistakes the first.
    #[must_use]
    pub fn in_one_line(&self) -> String {
        match self {
            ServeError::Policy(report) => report.summary(),
            ServeError::UpstreamTls(wrong) => wrong.first().cloned().unwrap_or_default(),
            other => other.to_string(),
        }
    }
}

impl std::fmt::Display for ServeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ServeError::Unreadable { path, error } => {
                write!(f, "the policy file {} cannot be read: {error}", path.display())
            }
            ServeError::Policy(report) => f.write_str(&report.render()),
            ServeError::UpstreamTls(wrong) => f.write_str(&wrong.join("\n")),
            ServeError::NoListen => f.write_str(
                "the policy does not say where to listen; add `listen: 127.0.0.1:8080` or use --listen",
            ),
            ServeError::Store(error) => {
                write!(f, "the policy's store cannot be opened: {error}")
            }
            ServeError::Snapshot(error) => error.fmt(f),
            ServeError::Bind { at, error } if error.kind() == io::ErrorKind::AddrInUse => {
                write!(
                    f,
                    "somebody listens on {at} already; stop it or choose another address; --take-over takes the place of another gateway"
                )
            }
            ServeError::Bind { at, error } => write!(f, "cannot listen on {at}: {error}"),
            ServeError::WhichListener(count) => write!(
                f,
                "--listen takes the place of one listener, and the policy has {count}; leave it out or leave one of them"
            ),
            ServeError::Tls(error) => error.fmt(f),
            ServeError::System(error) => write!(f, "the operating system refused to go on: {error}"),
        }
    }
}

impl std::error::Error for ServeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ServeError::Unreadable { error, .. }
            | ServeError::Bind { error, .. }
            | ServeError::System(error) => Some(error),
            ServeError::Store(error) => Some(error),
            ServeError::Snapshot(error) => Some(error),
            ServeError::Tls(error) => Some(error),
            ServeError::Policy(_)
            | ServeError::UpstreamTls(_)
            | ServeError::NoListen
            | ServeError::WhichListener(_) => None,
        }
    }
}
