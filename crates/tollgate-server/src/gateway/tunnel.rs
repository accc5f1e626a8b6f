//! Upgraded connections: bytes both ways until either side ends them. A tunnel keeps its request's slots and its
//! connection's place.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http::header::HeaderValue;
use http::{Response, StatusCode};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, copy_bidirectional};
use tollgate_store::{Clock, SystemClock};

use super::passing::Visit;
use super::random::random;
use super::survey::Survey;
use super::{Ticket, hop_by_hop};
use crate::access_log::Note;
use crate::body::{Relay, ResponseBody};

/// Agrees to the upgrade that the client asked for and the upstream agreed to.
pub(super) fn open(
    visit: &Visit<'_>,
    client: OnUpgrade,
    mut response: Response<Relay>,
    asked: HeaderValue,
    (ticket, mut note): (Ticket, Note),
) -> Response<ResponseBody> {
    let upstream = hyper::upgrade::on(&mut response);
    let survey = Survey::of(response.headers());
    let agreed = hop_by_hop::strip(response.headers_mut(), survey).unwrap_or(asked);
    hop_by_hop::upgrade_to(response.headers_mut(), agreed);
    visit.live.responder.describe(ticket.decision(), random(), response.headers_mut());
    let (parts, relay) = response.into_parts();
    note.with(|noted| noted.status(parts.status));
    let held = (relay, ticket, note, Arc::clone(visit.client));
    let longest = visit.live.body_timeout();
    let timer = Arc::clone(visit.gateway.timer());
    tokio::spawn(async move {
        if let (Ok(client), Ok(upstream)) = tokio::join!(client, upstream) {
            let ends = (TokioIo::new(client), TokioIo::new(upstream));
            if let Err(error) = carry(ends, longest, timer).await {
                tracing::trace!(%error, "a tunnel broke");
            }
        }
        drop(held);
    });
    debug_assert_eq!(parts.status, StatusCode::SWITCHING_PROTOCOLS);
    Response::from_parts(parts, ResponseBody::own(bytes::Bytes::new()))
}

/// Carries bytes until both sides have ended, or neither has sent any for `longest`.
async fn carry<A, B>(ends: (A, B), longest: Duration, timer: Arc<SystemClock>) -> io::Result<()>
where
    A: AsyncRead + AsyncWrite + Unpin,
    B: AsyncRead + AsyncWrite + Unpin,
{
    let heard = Arc::new(Heard { timer, last: AtomicU64::new(0) });
    heard.now();
    let mut client = Listened { end: ends.0, heard: Arc::clone(&heard) };
    let mut upstream = Listened { end: ends.1, heard: Arc::clone(&heard) };
    tokio::select! {
        done = copy_bidirectional(&mut client, &mut upstream) => done.map(|_| ()),
        () = heard.silent_for(longest) => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// When something was last heard from either side.
#[derive(Debug)]
struct Heard {
    timer: Arc<SystemClock>,
    last: AtomicU64,
}

impl Heard {
    fn now(&self) {
        self.last.store(self.timer.now().as_micros(), Ordering::Relaxed);
    }

    async fn silent_for(&self, longest: Duration) {
        let mut left = longest;
        loop {
            tokio::time::sleep(left).await;
            let last = self.last.load(Ordering::Relaxed);
            let silent = Duration::from_micros(self.timer.now().as_micros().saturating_sub(last));
            match longest.checked_sub(silent) {
                Some(rest) if !rest.is_zero() => left = rest,
                _ => return,
            }
        }
    }
}

/// One end of a tunnel, whose every read is noted.
struct Listened<T> {
    end: T,
    heard: Arc<Heard>,
}

impl<T: AsyncRead + Unpin> AsyncRead for Listened<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let read = Pin::new(&mut this.end).poll_read(cx, buf);
        if read.is_ready() {
            this.heard.now();
        }
        read
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Listened<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().end).poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().end).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().end).poll_shutdown(cx)
    }
}
