//! A client's socket, shared between hyper and those who must know whether the client is still there.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tollgate_core::Timestamp;

use super::Pace;
use super::http2::Guard;
use super::interim::Interim;
use super::refusals::{self, Refusal};
use super::transport::Transport;
use crate::metrics::Metrics;

/// How often a socket is looked at whose unread bytes hide its end.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A client's socket.
#[derive(Clone, Debug)]
pub(crate) struct Socket {
    // One thread drives it, so the lock is never waited for.
    end: Arc<Mutex<End>>,
    pace: Arc<Pace>,
    metrics: Arc<Metrics>,
}

#[derive(Debug)]
struct End {
    transport: Transport,
    /// Where HTTP/2 is spoken.
    guard: Option<Box<Guard>>,
    /// Where interim answers were passed on.
    interim: Option<Box<Interim>>,
    /// Others have had their turn since the first of what is being written was there.
    has_waited: bool,
}

impl Socket {
    pub(super) fn new(transport: Transport, pace: Arc<Pace>, metrics: Arc<Metrics>) -> Socket {
        let end = End { transport, guard: None, interim: None, has_waited: false };
        Socket { end: Arc::new(Mutex::new(end)), pace, metrics }
    }

    /// Nobody has it but its client and whoever drives HTTP on it, and nothing is left to announce.
    pub(super) fn can_be_taken_apart(&self) -> bool {
        Arc::strong_count(&self.end) == 2
            && self.end.lock().interim.as_ref().is_none_or(|interim| interim.is_out())
    }

    /// What it is made of; `None` where somebody else still has it.
    pub(super) fn into_transport(self) -> Option<Transport> {
        Arc::into_inner(self.end).map(|end| end.into_inner().transport)
    }

    /// HTTP/2 is spoken from here on: `guard` watches its frames.
    pub(super) fn guard(&self, guard: Guard) {
        self.end.lock().guard = Some(Box::new(guard));
    }

    /// Has `interim`, whole heads, go out before the answer to the request that is being served; over HTTP/1.1 only. To be said
    /// in the task of the connection, before the answer is there.
    pub(crate) fn announce(&self, interim: &[u8]) {
        self.end.lock().interim.get_or_insert_default().add(interim);
    }

    /// Ends when all that was announced is out.
    pub(crate) async fn announced(&self) {
        std::future::poll_fn(|_| match &self.end.lock().interim {
            // Whoever writes the last of it wakes the task.
            Some(interim) if !interim.is_out() => Poll::Pending,
            _ => Poll::Ready(()),
        })
        .await;
    }

    /// Ends when the client has closed its side, or the connection broke.
    ///
    /// hyper reads the end of an idle socket itself, but not behind a body or a pipelined request that nobody reads yet.
    pub(crate) async fn closed(&self) {
        loop {
            if self.end.lock().transport.is_closed() {
                return;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
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
        self.end.lock().write_at_once(&refusal.bytes);
    }

    /// Says goodbye to a client of HTTP/2, where nothing is half written; nothing more is to follow.
    pub(super) fn part(&self) {
        let mut end = self.end.lock();
        if let Some(goodbye) = end.guard.as_ref().and_then(|guard| guard.goodbye()) {
            end.write_at_once(&goodbye);
        }
    }
}

impl End {
    /// Lets the thread's other connections have their turn before something is written, once until it is out. Whoever takes an
    /// answer has to be woken for it, and on the same machine that costs more than to write it: where the answers to all who
    /// asked together go out together, most of them are awake.
    fn poll_turn(&mut self, cx: &Context<'_>) -> Poll<()> {
        if self.has_waited {
            return Poll::Ready(());
        }
        self.has_waited = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// hyper has nothing more to write: what was announced may go out.
    fn poll_announce(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.interim {
            Some(interim) => interim.poll_out(&mut self.transport, cx),
            None => Poll::Ready(Ok(())),
        }
    }

    /// hyper writes: what it has may be older than what was announced, but does not cut it in two.
    fn poll_finish(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.interim {
            Some(interim) if interim.is_half_out() => interim.poll_out(&mut self.transport, cx),
            _ => Poll::Ready(Ok(())),
        }
    }

    /// Whoever does not take it has lost nothing but an explanation.
    fn write_at_once(&mut self, bytes: &[u8]) {
        let mut cx = Context::from_waker(Waker::noop());
        if let Poll::Ready(Ok(_)) = Pin::new(&mut self.transport).poll_write(&mut cx, bytes) {
            if let Some(guard) = &mut self.guard {
                guard.sent(bytes);
            }
            let _ = Pin::new(&mut self.transport).poll_flush(&mut cx);
        }
    }

    /// `bytes` came: an error where they are too many of a kind.
    fn check(&mut self, bytes: &[u8], metrics: &Metrics) -> io::Result<()> {
        let Some(guard) = &mut self.guard else { return Ok(()) };
        let Some(flood) = guard.received(bytes) else { return Ok(()) };
        metrics.flooded(flood);
        if let Some(farewell) = guard.farewell() {
            self.write_at_once(&farewell);
        }
        Err(io::Error::other("more frames of a kind than a client may send"))
    }

    /// `length` bytes of `bufs` went out.
    fn sent(&mut self, bufs: &[io::IoSlice<'_>], length: usize) {
        let Some(guard) = &mut self.guard else { return };
        let mut left = length;
        for buf in bufs {
            let part = buf.len().min(left);
            guard.sent(&buf[..part]);
            left -= part;
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let mut end = self.end.lock();
        let read = Pin::new(&mut end.transport).poll_read(cx, buf);
        if buf.filled().len() > before {
            self.pace.heard();
            self.pace.look_for_a_line(&buf.filled()[before..]);
            if let Err(flood) = end.check(&buf.filled()[before..], &self.metrics) {
                return Poll::Ready(Err(flood));
            }
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
        self.poll_write_vectored(cx, &[io::IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // The beginning of an answer does not wait: where the rest breaks off, hyper drops what is not written yet.
        if self.pace.has_whole_answers() {
            ready!(self.end.lock().poll_turn(cx));
        }
        if bufs.first().is_some_and(|first| self.refuse_in_full(first)) {
            return Poll::Ready(Ok(bufs.iter().map(|buf| buf.len()).sum()));
        }
        let mut end = self.end.lock();
        let written = match (end.poll_finish(cx), bufs) {
            (Poll::Ready(Err(error)), _) => Poll::Ready(Err(error)),
            (Poll::Pending, _) => Poll::Pending,
            (_, [one]) => Pin::new(&mut end.transport).poll_write(cx, one),
            (_, several) => Pin::new(&mut end.transport).poll_write_vectored(cx, several),
        };
        if let Poll::Ready(Ok(length)) = &written {
            end.sent(bufs, *length);
        }
        self.pace.took(written.is_ready());
        written
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut end = self.end.lock();
        let flushed = match end.poll_announce(cx) {
            Poll::Ready(Ok(())) => Pin::new(&mut end.transport).poll_flush(cx),
            late => late,
        };
        // It is asked when all else was written.
        if flushed.is_ready() {
            end.has_waited = false;
            self.pace.flushed();
        }
        self.pace.took(flushed.is_ready());
        flushed
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.end.lock().transport).poll_shutdown(cx)
    }
}
