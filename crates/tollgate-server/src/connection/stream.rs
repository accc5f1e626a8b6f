//! A client's bytes as they come from the system: over TCP or a Unix socket.

use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpListener, TcpStream, UnixListener};

use crate::plain::Plain;
use crate::server::{BoundSocket, hold_off};
use crate::systemd::InheritedSocket;

/// How much is read at once to see what a client speaks: most requests whole.
const LOOK: usize = 2048;

/// A client's end. What a connection begins with can be looked at before somebody reads it.
#[derive(Debug)]
pub(crate) struct Stream<S = Plain> {
    socket: S,
    /// What was read and looked at.
    ahead: Vec<u8>,
    /// How much of that somebody has read since.
    taken: usize,
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
            Queue::Tcp(listener) => listener
                .poll_accept(cx)
                .map_ok(|(stream, peer)| (Stream::new(Plain::Tcp(stream)), Some(peer))),
            Queue::Unix(listener) => listener
                .poll_accept(cx)
                .map_ok(|(stream, _)| (Stream::new(Plain::Unix(stream)), None)),
        }
    }
}

impl<S> Stream<S> {
    pub(super) fn new(socket: S) -> Stream<S> {
        Stream { socket, ahead: Vec::new(), taken: 0 }
    }

    /// What it reads from.
    pub(super) fn inner(&self) -> &S {
        &self.socket
    }

    /// What came and nobody has read yet, as far as it was looked at.
    pub(super) fn ahead(&self) -> &[u8] {
        &self.ahead[self.taken..]
    }

    /// Gives back the last that was read: it is read next.
    pub(super) fn put_back(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            let rest = [bytes, self.ahead()].concat();
            (self.ahead, self.taken) = (rest, 0);
        }
    }
}

impl Stream {
    /// Whether there is something to read, or the other end has gone.
    pub(super) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<()> {
        let ready = match &self.socket {
            Plain::Tcp(stream) => stream.poll_read_ready(cx),
            Plain::Unix(stream) => stream.poll_read_ready(cx),
        };
        // What is wrong with it is told by reading.
        ready.map(|_| ())
    }

    /// Looks at more of what comes; 0 where nothing more will.
    pub(super) async fn look(&mut self) -> io::Result<usize> {
        std::future::poll_fn(|cx| self.poll_look(cx)).await
    }

    /// As [`look`](Self::look). While nothing comes it has no buffer.
    pub(super) fn poll_look(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let before = self.ahead.len();
        self.ahead.resize(before + LOOK, 0);
        let mut buf = ReadBuf::new(&mut self.ahead[before..]);
        let read = Pin::new(&mut self.socket).poll_read(cx, &mut buf);
        let length = buf.filled().len();
        self.ahead.truncate(before + length);
        if self.ahead.is_empty() {
            self.ahead = Vec::new();
        }
        read.map_ok(|()| length)
    }

    /// Sends small answers at once. Without it they wait for the client's acknowledgement; they are only slower then.
    pub(crate) fn set_nodelay(&self) {
        if let Plain::Tcp(stream) = &self.socket {
            let _ = stream.set_nodelay(true);
        }
    }

    /// The socket, where it has an address.
    pub(super) fn as_tcp(&self) -> Option<&TcpStream> {
        match &self.socket {
            Plain::Tcp(stream) => Some(stream),
            Plain::Unix(_) => None,
        }
    }

    /// Writes at once what fits.
    pub(crate) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match &self.socket {
            Plain::Tcp(stream) => stream.try_write(bytes),
            Plain::Unix(stream) => stream.try_write(bytes),
        }
    }

    /// Whether the other end has closed its side, or the connection broke.
    pub(super) fn is_closed(&self) -> bool {
        const ANY: Interest = Interest::READABLE.add(Interest::WRITABLE).add(Interest::ERROR);
        let mut cx = Context::from_waker(Waker::noop());
        let ready = match &self.socket {
            Plain::Tcp(stream) => pin!(stream.ready(ANY)).poll(&mut cx),
            Plain::Unix(stream) => pin!(stream.ready(ANY)).poll(&mut cx),
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

impl<S: AsyncRead + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.ahead.is_empty() {
            return Pin::new(&mut this.socket).poll_read(cx, buf);
        }
        let ahead = this.ahead();
        let length = ahead.len().min(buf.remaining());
        buf.put_slice(&ahead[..length]);
        this.taken += length;
        if this.taken == this.ahead.len() {
            (this.ahead, this.taken) = (Vec::new(), 0);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().socket).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().socket).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_shutdown(cx)
    }
}
