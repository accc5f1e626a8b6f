//! Why an upstream gave no answer.

use std::io;
use std::sync::Arc;

use crate::body::UploadFailure;
use crate::metrics::UpstreamError;

/// Why an upstream gave no answer.
#[derive(Clone, Debug)]
pub(crate) enum SendError {
    /// The pool has no server.
    NoServer,
    /// No server of the pool took a connection; the last one's reason.
    Connect(Arc<io::Error>),
    /// The gateway itself has nothing left to make a connection with.
    Exhausted(Arc<io::Error>),
    /// The answer did not begin in time.
    Slow,
    /// The connection broke before the answer's head was whole, or what came was no HTTP.
    Broken(Arc<hyper::Error>),
    /// It switched to a protocol, or answered in a transfer coding, that nobody asked for.
    Unasked,
    /// The request's own body failed.
    Upload(UploadFailure),
}

impl SendError {
    /// Nothing of the request reached a server, so that it cannot have had an effect.
    pub(crate) fn never_arrived(&self) -> bool {
        matches!(self, SendError::NoServer | SendError::Connect(_) | SendError::Exhausted(_))
    }

    /// Its kind, as metrics count it; `None` where the server is not to blame.
    pub(super) fn kind(&self) -> Option<UpstreamError> {
        match self {
            SendError::Connect(_) => Some(UpstreamError::Connect),
            SendError::Exhausted(_) => Some(UpstreamError::Exhausted),
            SendError::Slow => Some(UpstreamError::Timeout),
            SendError::Broken(_) | SendError::Unasked => Some(UpstreamError::Broken),
            SendError::NoServer | SendError::Upload(_) => None,
        }
    }
}

impl std::fmt::Display for SendError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SendError::NoServer => f.write_str("the pool has no server"),
            SendError::Connect(error) => {
                write!(f, "no server of the pool took a connection: {error}")
            }
            SendError::Exhausted(error) => {
                write!(f, "the gateway can make no connection: {error}")
            }
            SendError::Slow => f.write_str("the answer did not begin within first_byte_timeout"),
            SendError::Broken(error) => {
                write!(f, "the connection broke before the answer came: {error}")
            }
            SendError::Unasked => {
                f.write_str("it used a protocol or a transfer coding that nobody asked for")
            }
            SendError::Upload(failure) => write!(f, "the request's body failed: {failure:?}"),
        }
    }
}
