//! What carries a client's HTTP: the stream itself, or TLS on it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::server::TlsStream;

use super::Stream;

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

/// Runs `$run` on whatever it is.
macro_rules! either {
    ($transport:expr, $inner:ident => $run:expr) => {
        match $transport.get_mut() {
            Transport::Clear($inner) => $run,
            Transport::Tls($inner) => $run,
        }
    };
}

impl AsyncRead for Transport {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        either!(self, inner => Pin::new(inner).poll_read(cx, buf))
    }
}

impl AsyncWrite for Transport {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        either!(self, inner => Pin::new(inner).poll_write(cx, buf))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        either!(self, inner => Pin::new(inner).poll_write_vectored(cx, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, inner => Pin::new(inner).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, inner => Pin::new(inner).poll_shutdown(cx))
    }
}
