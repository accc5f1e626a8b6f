//! The bytes of a connection to a server: over TCP or a Unix socket, in the clear or through TLS.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;

/// A connection in the clear.
#[derive(Debug)]
pub(super) enum Plain {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// A connection.
#[derive(Debug)]
pub(super) enum Stream {
    Plain(Plain),
    Tls(Box<TlsStream<Plain>>),
}

/// Hands every call to whatever is inside.
macro_rules! hand_on {
    ($of:ident { $($variant:ident),* }) => {
        impl AsyncRead for $of {
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buffer: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                match self.get_mut() {
                    $($of::$variant(inner) => Pin::new(inner).poll_read(cx, buffer),)*
                }
            }
        }

        impl AsyncWrite for $of {
            fn poll_write(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bytes: &[u8],
            ) -> Poll<io::Result<usize>> {
                match self.get_mut() {
                    $($of::$variant(inner) => Pin::new(inner).poll_write(cx, bytes),)*
                }
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                slices: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                match self.get_mut() {
                    $($of::$variant(inner) => Pin::new(inner).poll_write_vectored(cx, slices),)*
                }
            }

            fn is_write_vectored(&self) -> bool {
                match self {
                    $($of::$variant(inner) => inner.is_write_vectored(),)*
                }
            }

            fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                match self.get_mut() {
                    $($of::$variant(inner) => Pin::new(inner).poll_flush(cx),)*
                }
            }

            fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                match self.get_mut() {
                    $($of::$variant(inner) => Pin::new(inner).poll_shutdown(cx),)*
                }
            }
        }
    };
}

hand_on!(Plain { Tcp, Unix });
hand_on!(Stream { Plain, Tls });
