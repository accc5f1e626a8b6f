//! Why an upstream gave no answer.

use std::io;
use std::sync::Arc;

use http::StatusCode;

use crate::body::UploadFailure;
use crate::metrics::UpstreamError;

/// Why an upstream gave no answer.
#[derive(Clone, Debug)]
pub(crate) enum SendError {
    /// The pool has no server.
    NoServer,
    /// No address is known of any of the pool's names.
    Unresolved,
    /// All connections that the pool may have are in use.
    Full,
    /// No server of the pool took a connection; the last one's reason.
    Connect(Arc<io::Error>),
    /// No server of the pool could be trusted; why the last one could not.
    Unproven(Arc<str>),
    /// The gateway itself has nothing left to make a connection with.
    Exhausted(Arc<io::Error>),
    /// The answer did not begin in time.
    Slow,
    /// The server said that it did not look at the request.
    Unprocessed(Arc<hyper::Error>),
    /// The connection broke before the answer's head was whole, or what came was no HTTP.
    Broken(Arc<hyper::Error>),
    /// It answered so that the request was to go to another server, and none took it.
    Status(StatusCode),
    /// It switched to a protocol, or answered in a transfer coding, that nobody asked for.
    Unasked,
    /// The request's own body failed.
    Upload(UploadFailure),
}

impl SendError {
    /// Nothing of the request was looked at by a server, so that it cannot have had an effect.
    pub(crate) fn never_arrived(&self) -> bool {
        match self {
            SendError::NoServer
            | SendError::Unresolved
            | SendError::Full
            | SendError::Connect(_)
            | SendError::Unproven(_)
            | SendError::Exhausted(_)
            | SendError::Unprocessed(_) => true,
            SendError::Slow
            | SendError::Broken(_)
            | SendError::Status(_)
            | SendError::Unasked
            | SendError::Upload(_) => false,
        }
    }

    /// Its kind, as metrics count it; `None` where it is counted elsewhere, or the server is not to blame.
    pub(super) fn kind(&self) -> Option<UpstreamError> {
        match self {
            SendError::Connect(_) => Some(UpstreamError::Connect),
            SendError::Unproven(_) => Some(UpstreamError::Tls),
            SendError::Exhausted(_) => Some(UpstreamError::Exhausted),
            SendError::Slow => Some(UpstreamError::Timeout),
            SendError::Unprocessed(_) => Some(UpstreamError::Unprocessed),
            SendError::Broken(_) | SendError::Unasked => Some(UpstreamError::Broken),
            SendError::NoServer
            | SendError::Unresolved
            | SendError::Full
            | SendError::Status(_)
            | SendError::Upload(_) => None,
        }
    }
}

impl std::fmt::Display for SendError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SendError::NoServer => f.write_str("the pool has no server"),
            SendError::Unresolved => f.write_str("no address is known of the pool's servers"),
            SendError::Full => {
                f.write_str("all connections that max_connections allows are in use")
            }
            SendError::Connect(error) => {
                write!(f, "no server of the pool took a connection: {error}")
            }
            SendError::Unproven(reason) => {
                write!(f, "no server of the pool proved who it is: {reason}")
            }
            SendError::Exhausted(error) => {
                write!(f, "the gateway can make no connection: {error}")
            }
            SendError::Slow => f.write_str("the answer did not begin within first_byte_timeout"),
            SendError::Unprocessed(error) => {
                write!(f, "the server did not take the request: {error}")
            }
            SendError::Broken(error) => {
                write!(f, "the connection broke before the answer came: {error}")
            }
            SendError::Status(status) => {
                write!(f, "a server answered {status}, and no other took the request")
            }
            SendError::Unasked => {
                f.write_str("it used a protocol or a transfer coding that nobody asked for")
            }
            SendError::Upload(failure) => write!(f, "the request's body failed: {failure:?}"),
        }
    }
}
