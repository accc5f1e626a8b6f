//! A client's bytes as they come from the system: over TCP or a Unix socket.

use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

use crate::server::{BoundSocket, hold_off};
use crate::systemd::InheritedSocket;

/// A client's end.
#[derive(Debug)]
pub(crate) enum Stream {
    /// From an address.
    Tcp(TcpStream),
    /// From this machine.
    Unix(UnixStream),
}

/// Where streams come from.
#[derive(Debug)]
pub(crate) struct Acceptor {
    queue: Queue,
    /// It is somebody else's, who keeps it when this process ends.
    inherited: bool,
}

#[derive(Debug)]
enum Queue {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Acceptor {
    /// Accepts from `socket` on this thread's runtime.
    pub(crate) fn new(socket: BoundSocket) -> io::Result<Acceptor> {
        let inherited = matches!(socket, BoundSocket::Inherited(_));
        let queue = match socket {
            BoundSocket::Tcp(listener) | BoundSocket::Inherited(InheritedSocket::Tcp(listener)) => {
                Queue::Tcp(TcpListener::from_std(listener)?)
            }
            BoundSocket::Unix(listener)
            | BoundSocket::Inherited(InheritedSocket::Unix(listener)) => {
                Queue::Unix(UnixListener::from_std(listener)?)
            }
        };
        Ok(Acceptor { queue, inherited })
    }

    /// Prepares the end: no further handshakes begin. `false` where the socket lives on without this process, and what comes
    /// by it is not this process's any more.
    pub(crate) fn hold_off(&self) -> bool {
        if let (Queue::Tcp(listener), false) = (&self.queue, self.inherited)
            && let Err(error) = hold_off(listener)
        {
            tracing::debug!(%error, "connection requests cannot be held off while the gateway stops");
        }
        !self.inherited
    }

    /// The next stream, and the address of its other end where it has one.
    pub(crate) fn poll_accept(
        &self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<(Stream, Option<SocketAddr>)>> {
        match &self.queue {
            Queue::Tcp(listener) => {
                listener.poll_accept(cx).map_ok(|(stream, peer)| (Stream::Tcp(stream), Some(peer)))
            }
            Queue::Unix(listener) => {
                listener.poll_accept(cx).map_ok(|(stream, _)| (Stream::Unix(stream), None))
            }
        }
    }
}

impl Stream {
    /// Sends small answers at once. Without it they wait for the client's acknowledgement; they are only slower then.
    pub(crate) fn set_nodelay(&self) {
        if let Stream::Tcp(stream) = self {
            let _ = stream.set_nodelay(true);
        }
    }

    /// The socket, where it has an address.
    pub(super) fn as_tcp(&self) -> Option<&TcpStream> {
        match self {
            Stream::Tcp(stream) => Some(stream),
            Stream::Unix(_) => None,
        }
    }

    /// Writes at once what fits.
    pub(crate) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.try_write(bytes),
            Stream::Unix(stream) => stream.try_write(bytes),
        }
    }

    /// Whether the other end has closed its side, or the connection broke.
    pub(super) fn is_closed(&self) -> bool {
        const ANY: Interest = Interest::READABLE.add(Interest::WRITABLE).add(Interest::ERROR);
        let mut cx = Context::from_waker(Waker::noop());
        let ready = match self {
            Stream::Tcp(stream) => pin!(stream.ready(ANY)).poll(&mut cx),
            Stream::Unix(stream) => pin!(stream.ready(ANY)).poll(&mut cx),
        };
        match ready {
            Poll::Ready(Ok(ready)) => {
                ready.is_read_closed() || ready.is_write_closed() || ready.is_error()
            }
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        }
    }
}

/// Runs `$run` on whatever stream it is.
macro_rules! either {
    ($stream:expr, $inner:ident => $run:expr) => {
        match $stream.get_mut() {
            Stream::Tcp($inner) => $run,
            Stream::Unix($inner) => $run,
        }
    };
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        either!(self, inner => Pin::new(inner).poll_read(cx, buf))
    }
}

impl AsyncWrite for Stream {
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
