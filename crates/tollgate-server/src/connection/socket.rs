//! A client's socket, shared between hyper and those who must know whether the client is still there.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tollgate_core::Timestamp;

use super::refusals::{self, Refusal};
use super::{Pace, Stream};
use crate::metrics::Metrics;

/// How often a socket is looked at whose unread bytes hide its end.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A client's socket.
#[derive(Clone, Debug)]
pub(crate) struct Socket {
    // One thread drives it, so the lock is never waited for.
    stream: Arc<Mutex<Stream>>,
    pace: Arc<Pace>,
    metrics: Arc<Metrics>,
}

impl Socket {
    pub(crate) fn new(stream: Stream, pace: Arc<Pace>, metrics: Arc<Metrics>) -> Socket {
        Socket { stream: Arc::new(Mutex::new(stream)), pace, metrics }
    }

    /// Ends when the client has closed its side, or the connection broke.
    ///
    /// hyper reads the end of an idle socket itself, but not behind a body or a pipelined request that nobody reads yet.
    pub(crate) async fn closed(&self) {
        loop {
            if self.is_closed() {
                return;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    fn is_closed(&self) -> bool {
        self.stream.lock().is_closed()
    }

    /// hyper answers what it cannot read as a request by a bare status. In its place goes the whole answer, where `head` is
    /// such a status: nothing but that is written between answers, and the connection ends after it.
    fn refuse_in_full(&self, head: &[u8]) -> bool {
        if !self.pace.is_between_answers() {
            return false;
        }
        let in_target = !self.pace.has_a_line();
        let Some(refusal) = refusals::in_full(head, in_target, self.now()) else { return false };
        self.pace.left_unread();
        self.last_words(&refusal);
        true
    }

    /// The moment by the gateway's own clock.
    pub(super) fn now(&self) -> Timestamp {
        self.pace.now()
    }

    /// Writes at once what of `refusal` fits; nothing more is to follow.
    pub(super) fn last_words(&self, refusal: &Refusal) {
        self.metrics.answered(refusal.status);
        // Whoever does not take them has lost nothing but an explanation.
        let _ = self.stream.lock().try_write(&refusal.bytes);
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut *self.stream.lock()).poll_read(cx, buf);
        if buf.filled().len() > before {
            self.pace.heard();
            self.pace.look_for_a_line(&buf.filled()[before..]);
        }
        read
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.refuse_in_full(buf) {
            return Poll::Ready(Ok(buf.len()));
        }
        let written = Pin::new(&mut *self.stream.lock()).poll_write(cx, buf);
        self.pace.took(written.is_ready());
        written
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if bufs.first().is_some_and(|first| self.refuse_in_full(first)) {
            return Poll::Ready(Ok(bufs.iter().map(|buf| buf.len()).sum()));
        }
        let written = Pin::new(&mut *self.stream.lock()).poll_write_vectored(cx, bufs);
        self.pace.took(written.is_ready());
        written
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A TCP socket has nothing to flush; it is asked when all else was written.
        self.pace.flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream.lock()).poll_shutdown(cx)
    }
}
