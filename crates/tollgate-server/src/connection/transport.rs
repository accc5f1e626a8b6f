//! What carries a client's HTTP: the stream itself, or TLS on it.

use std::task::{Context, Poll};

use tokio_rustls::server::TlsStream;

use super::Stream;
use crate::plain::hand_on;

/// A stream in the clear, or one that TLS protects.
#[derive(Debug)]
pub(super) enum Transport {
    Clear(Stream),
    /// The outer stream is of what was protected.
    Tls(Box<Stream<TlsStream<Stream>>>),
}

impl Transport {
    /// Whether the other end has closed its side, or the connection broke.
    pub(super) fn is_closed(&self) -> bool {
        match self {
            Transport::Clear(stream) => stream.is_closed(),
            Transport::Tls(stream) => stream.inner().get_ref().0.is_closed(),
        }
    }

    /// Whether the system has something to read, or the other end has gone. What was read already says nothing.
    pub(super) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<()> {
        match self {
            Transport::Clear(stream) => stream.poll_readable(cx),
            Transport::Tls(stream) => stream.inner().get_ref().0.poll_readable(cx),
        }
    }

    /// Gives back what was read of it; it is read next.
    pub(super) fn put_back(&mut self, bytes: &[u8]) {
        match self {
            Transport::Clear(stream) => stream.put_back(bytes),
            Transport::Tls(stream) => stream.put_back(bytes),
        }
    }

    /// Something was put back that nobody has read since.
    pub(super) fn has_more(&self) -> bool {
        match self {
            Transport::Clear(stream) => !stream.ahead().is_empty(),
            Transport::Tls(stream) => !stream.ahead().is_empty(),
        }
    }
}

hand_on!(Transport { Clear, Tls });
