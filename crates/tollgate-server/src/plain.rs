//! A connection in the clear, over TCP or a Unix socket, and how one of several kinds of connection is read and written.

use tokio::net::{TcpStream, UnixStream};

/// A connection in the clear.
#[derive(Debug)]
pub(crate) enum Plain {
    /// With an address.
    Tcp(TcpStream),
    /// On this machine.
    Unix(UnixStream),
}

/// Reading and writing of an enum: every call is handed on to what is inside.
macro_rules! hand_on {
    ($of:ident { $($variant:ident),* }) => {
        impl ::tokio::io::AsyncRead for $of {
            fn poll_read(
                self: ::std::pin::Pin<&mut Self>,
                cx: &mut ::std::task::Context<'_>,
                buffer: &mut ::tokio::io::ReadBuf<'_>,
            ) -> ::std::task::Poll<::std::io::Result<()>> {
                match self.get_mut() {
                    $($of::$variant(inner) => ::std::pin::Pin::new(inner).poll_read(cx, buffer),)*
                }
            }
        }

        impl ::tokio::io::AsyncWrite for $of {
            fn poll_write(
                self: ::std::pin::Pin<&mut Self>,
                cx: &mut ::std::task::Context<'_>,
                bytes: &[u8],
            ) -> ::std::task::Poll<::std::io::Result<usize>> {
                match self.get_mut() {
                    $($of::$variant(inner) => ::std::pin::Pin::new(inner).poll_write(cx, bytes),)*
                }
            }

            fn poll_write_vectored(
                self: ::std::pin::Pin<&mut Self>,
                cx: &mut ::std::task::Context<'_>,
                slices: &[::std::io::IoSlice<'_>],
            ) -> ::std::task::Poll<::std::io::Result<usize>> {
                match self.get_mut() {
                    $($of::$variant(inner) => ::std::pin::Pin::new(inner).poll_write_vectored(cx, slices),)*
                }
            }

            fn is_write_vectored(&self) -> bool {
                match self {
                    $($of::$variant(inner) => inner.is_write_vectored(),)*
                }
            }

            fn poll_flush(self: ::std::pin::Pin<&mut Self>, cx: &mut ::std::task::Context<'_>) -> ::std::task::Poll<::std::io::Result<()>> {
                match self.get_mut() {
                    $($of::$variant(inner) => ::std::pin::Pin::new(inner).poll_flush(cx),)*
                }
            }

            fn poll_shutdown(self: ::std::pin::Pin<&mut Self>, cx: &mut ::std::task::Context<'_>) -> ::std::task::Poll<::std::io::Result<()>> {
                match self.get_mut() {
                    $($of::$variant(inner) => ::std::pin::Pin::new(inner).poll_shutdown(cx),)*
                }
            }
        }
    };
}

hand_on!(Plain { Tcp, Unix });

pub(crate) use hand_on;
