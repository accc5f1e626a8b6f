//! A request's body as it comes in. Its beginning may have been read ahead, to know who asks; what was read goes on
//! unchanged, with everything behind it.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;

use super::{DRAINED, UploadFailure};

/// A request's body.
#[derive(Debug)]
pub(crate) struct Inbound {
    incoming: Incoming,
    ahead: Option<Box<Ahead>>,
}

/// What was read ahead, in one piece: many small chunks would hold many times their length.
#[derive(Debug, Default)]
struct Ahead {
    data: Bytes,
    trailers: Option<HeaderMap>,
    end: End,
}

/// How reading ahead ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum End {
    /// Before the body's.
    #[default]
    Open,
    /// At the body's.
    Whole,
    Failed(UploadFailure),
}

impl Inbound {
    pub(crate) fn new(incoming: Incoming) -> Inbound {
        Inbound { incoming, ahead: None }
    }

    /// Reads the body to its end, unless it has more than `most` bytes, is silent for longer than `longest`, or breaks off.
    pub(crate) async fn read_ahead(&mut self, most: usize, longest: Duration) {
        let mut ahead = Box::<Ahead>::default();
        if self.incoming.size_hint().lower() <= most as u64 {
            ahead.read(&mut self.incoming, most, longest).await;
        }
        self.ahead = Some(ahead);
    }

    /// The body, where it was read to its end and nothing of it went on yet.
    pub(crate) fn whole(&self) -> Option<&[u8]> {
        let ahead = self.ahead.as_ref().filter(|ahead| ahead.end == End::Whole)?;
        Some(&ahead.data)
    }

    /// Trailers were read ahead.
    pub(crate) fn has_trailers(&self) -> bool {
        self.ahead.as_ref().is_some_and(|ahead| ahead.trailers.is_some())
    }

    /// Why reading ahead failed, where it did.
    pub(crate) fn failure(&self) -> Option<UploadFailure> {
        match self.ahead.as_ref()?.end {
            End::Failed(failure) => Some(failure),
            End::Open | End::Whole => None,
        }
    }

    /// All of it has come from the client.
    pub(crate) fn has_come(&self) -> bool {
        self.ahead.as_ref().is_some_and(|ahead| ahead.end == End::Whole)
            || self.incoming.is_end_stream()
    }

    /// What has not come yet may be read away, to keep the connection.
    pub(crate) fn is_short(&self) -> bool {
        self.failure().is_none()
            && self.incoming.size_hint().upper().is_none_or(|length| length <= DRAINED)
    }

    /// What has not come yet.
    pub(crate) fn rest(self) -> Incoming {
        self.incoming
    }
}

impl Ahead {
    async fn read(&mut self, incoming: &mut Incoming, most: usize, longest: Duration) {
        let mut gathered = Gathered::default();
        self.end = loop {
            if incoming.is_end_stream() {
                break End::Whole;
            }
            match tokio::time::timeout(longest, incoming.frame()).await {
                Err(_) => break End::Failed(UploadFailure::Silent),
                Ok(None) => break End::Whole,
                Ok(Some(Err(_))) => break End::Failed(UploadFailure::Broken),
                Ok(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => gathered.add(data),
                    Err(frame) => self.trailers = frame.into_trailers().ok(),
                },
            }
            if gathered.len() > most {
                break End::Open;
            }
        };
        self.data = gathered.all();
    }
}

/// Pieces, as one. Most bodies come as one piece, which is not copied.
#[derive(Debug, Default)]
struct Gathered {
    first: Bytes,
    all: BytesMut,
}

impl Gathered {
    fn add(&mut self, data: Bytes) {
        if self.len() == 0 {
            self.first = data;
            return;
        }
        if self.all.is_empty() {
            self.all.extend_from_slice(&std::mem::take(&mut self.first));
        }
        self.all.extend_from_slice(&data);
    }

    fn len(&self) -> usize {
        self.first.len() + self.all.len()
    }

    fn all(self) -> Bytes {
        if self.all.is_empty() { self.first } else { self.all.freeze() }
    }
}

impl Body for Inbound {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        if let Some(ahead) = &mut this.ahead {
            if !ahead.data.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut ahead.data)))));
            }
            if let Some(trailers) = ahead.trailers.take() {
                return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
            }
            if ahead.end == End::Whole {
                return Poll::Ready(None);
            }
        }
        Pin::new(&mut this.incoming).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        match &self.ahead {
            None => self.incoming.is_end_stream(),
            Some(ahead) => {
                ahead.data.is_empty()
                    && ahead.trailers.is_none()
                    && (ahead.end == End::Whole || self.incoming.is_end_stream())
            }
        }
    }

    /// Exact where the client stated the length, so that the upstream is told it in the same way.
    fn size_hint(&self) -> SizeHint {
        let rest = self.incoming.size_hint();
        let ahead = self.ahead.as_ref().map_or(0, |ahead| ahead.data.len() as u64);
        let mut hint = SizeHint::new();
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper.saturating_add(ahead));
        }
        hint.set_lower(rest.lower().saturating_add(ahead));
        hint
    }
}
