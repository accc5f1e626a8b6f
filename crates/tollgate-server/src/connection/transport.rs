//! What carries a client's HTTP: the stream itself, or TLS on it.

use tokio_rustls::server::TlsStream;

use super::Stream;
use crate::plain::hand_on;

/// A stream in the clear, or one that TLS protects.
#[derive(Debug)]
pub(super) enum Transport {
    Clear(Stream),
    Tls(Box<TlsStream<Stream>>),
}

impl Transport {
    /// Whether the other end has closed its side, or the connection broke.
    pub(super) fn is_closed(&self) -> bool {
        match self {
            Transport::Clear(stream) => stream.is_closed(),
            Transport::Tls(stream) => stream.get_ref().0.is_closed(),
        }
    }
}

hand_on!(Transport { Clear, Tls });
