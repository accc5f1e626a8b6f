//! A request's body on its way to an upstream: counted against `max_body_bytes`, timed against `body_timeout`.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tollgate_store::{Clock, SystemClock};

use super::{BodyError, Inbound, Silence, trailers};
use crate::connection::Pace;

/// A request's body. One that is empty costs nothing.
#[derive(Debug)]
pub(crate) enum Upload {
    /// Nothing to send.
    Empty,
    /// A body as it arrives.
    Streamed(Box<Streamed>),
}

/// A body as it arrives.
#[derive(Debug)]
pub(crate) struct Streamed {
    incoming: Inbound,
    left: u64,
    silence: Silence,
    clock: Arc<SystemClock>,
    /// The connection that it comes over, to be told its end.
    pace: Arc<Pace>,
    watch: Arc<UploadWatch>,
}

/// How an upload goes, for the one who waits for its answer.
#[derive(Debug, Default)]
pub(crate) struct UploadWatch {
    failure: AtomicU8,
    moved: AtomicU64,
    /// The client is waited for.
    hungry: AtomicBool,
}

/// Whose fault an upload's end is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UploadFailure {
    /// The body is larger than the gateway takes: 413.
    TooLarge,
    /// The client fell silent: 408.
    Silent,
    /// The client broke it off.
    Broken,
}

impl UploadWatch {
    /// Why the upload failed, where it did.
    pub(crate) fn failure(&self) -> Option<UploadFailure> {
        match self.failure.load(Ordering::Relaxed) {
            1 => Some(UploadFailure::TooLarge),
            2 => Some(UploadFailure::Silent),
            3 => Some(UploadFailure::Broken),
            _ => None,
        }
    }

    /// More of it is to come, and the client has not sent it yet.
    pub(crate) fn waits_for_client(&self) -> bool {
        self.hungry.load(Ordering::Relaxed)
    }

    /// When the last of it went on, in microseconds of the gateway's own clock; 0 where nothing did.
    pub(crate) fn moved(&self) -> u64 {
        self.moved.load(Ordering::Relaxed)
    }
}

impl Upload {
    /// `incoming`, of at most `most` bytes, and silent for at most `longest`; it comes over `pace`'s connection.
    pub(crate) fn new(
        incoming: Inbound,
        (most, longest): (Option<u64>, Duration),
        clock: &Arc<SystemClock>,
        pace: &Arc<Pace>,
    ) -> Upload {
        if incoming.is_end_stream() {
            return Upload::Empty;
        }
        Upload::Streamed(Box::new(Streamed {
            incoming,
            left: most.unwrap_or(u64::MAX),
            silence: Silence::new(longest),
            clock: Arc::clone(clock),
            pace: Arc::clone(pace),
            watch: Arc::default(),
        }))
    }

    /// How it goes; `None` where there is nothing to send.
    pub(crate) fn watch(&self) -> Option<Arc<UploadWatch>> {
        match self {
            Upload::Empty => None,
            Upload::Streamed(body) => Some(Arc::clone(&body.watch)),
        }
    }
}

impl Streamed {
    fn fail(&self, failure: UploadFailure) {
        self.watch.failure.store(failure as u8 + 1, Ordering::Relaxed);
    }

    fn pass(&mut self, frame: Frame<Bytes>) -> Result<Frame<Bytes>, BodyError> {
        self.silence.heard();
        self.watch.moved.store(self.clock.now().as_micros(), Ordering::Relaxed);
        let length = frame.data_ref().map_or(0, |data| data.len() as u64);
        let Some(left) = self.left.checked_sub(length) else {
            self.fail(UploadFailure::TooLarge);
            return Err(BodyError::TooLarge);
        };
        self.left = left;
        if frame.is_trailers() {
            self.pace.saw_trailers();
        }
        Ok(trailers::sound(frame))
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let polled = Pin::new(&mut self.incoming).poll_frame(cx);
        self.watch.hungry.store(polled.is_pending(), Ordering::Relaxed);
        if self.incoming.is_end_stream() || matches!(polled, Poll::Ready(None)) {
            self.pace.read_to_the_end();
        }
        match polled {
            Poll::Ready(Some(Ok(frame))) => Poll::Ready(Some(self.pass(frame))),
            Poll::Ready(Some(Err(error))) => {
                self.fail(UploadFailure::Broken);
                Poll::Ready(Some(Err(BodyError::Broken(error))))
            }
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => self.silence.poll_too_long(cx).map(|()| {
                self.fail(UploadFailure::Silent);
                Some(Err(BodyError::Silent))
            }),
        }
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match self.get_mut() {
            Upload::Empty => Poll::Ready(None),
            Upload::Streamed(body) => body.poll(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Upload::Empty => true,
            Upload::Streamed(body) => body.incoming.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Upload::Empty => SizeHint::with_exact(0),
            Upload::Streamed(body) => body.incoming.size_hint(),
        }
    }
}
