//! The body of whatever the gateway answers: its own, or an upstream's.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::{BodyError, Bounded, Relay};
use crate::access_log::Note;
use crate::connection::Turn;
use crate::gateway::Ticket;
use crate::metrics::Metrics;

/// Over HTTP/2 a body goes on in pieces of at most that many bytes: what is handed over is held, however small the client's
/// window is.
const PIECE: usize = 16 * 1024;

/// A body, and what ends with it.
#[derive(Debug)]
pub(crate) struct ResponseBody {
    content: Content,
    /// Over HTTP/2, what of the last piece is still to go on.
    rest: Bytes,
    // Dropped when the body has been handed over or its connection died; in this order. A body is moved often and a ticket
    // is large; few answers keep one.
    _ticket: Option<Box<Ticket>>,
    turn: Option<Turn>,
    note: Note,
}

#[derive(Debug)]
enum Content {
    Own(Bytes),
    Upstream(Relay),
    Bounded(Box<Bounded>),
}

impl ResponseBody {
    fn new(content: Content, ticket: Option<Box<Ticket>>) -> ResponseBody {
        ResponseBody {
            content,
            rest: Bytes::new(),
            _ticket: ticket,
            turn: None,
            note: Note::default(),
        }
    }

    /// A body of our own.
    pub(crate) fn own(bytes: Bytes) -> ResponseBody {
        ResponseBody::new(Content::Own(bytes), None)
    }

    /// An upstream's body; `ticket` is settled when it has been sent.
    pub(crate) fn upstream(relay: Relay, ticket: Option<Box<Ticket>>) -> ResponseBody {
        ResponseBody::new(Content::Upstream(relay), ticket)
    }

    /// Counts what is sent in `note`, which ends with this body.
    pub(crate) fn with_note(mut self, note: Note) -> ResponseBody {
        self.note = note;
        self
    }

    /// As [`ResponseBody::upstream`], of at most `most` bytes.
    pub(crate) fn bounded(
        relay: Relay,
        most: u64,
        metrics: &Arc<Metrics>,
        ticket: Option<Box<Ticket>>,
    ) -> ResponseBody {
        let bounded = Box::new(Bounded::new(relay, most, metrics));
        ResponseBody::new(Content::Bounded(bounded), ticket)
    }

    /// Ends `turn` with this body.
    pub(crate) fn with_turn(mut self, turn: Turn) -> ResponseBody {
        turn.offer();
        self.turn = Some(turn);
        self
    }
}

impl ResponseBody {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match &self.turn {
            Some(turn) if turn.is_of_a_stream() => turn.ask(),
            _ => return self.content.poll_frame(cx),
        }
        if !self.rest.is_empty() {
            return Poll::Ready(Some(Ok(self.piece())));
        }
        match self.content.poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => Poll::Ready(Some(Ok(match frame.into_data() {
                Ok(data) => {
                    self.rest = data;
                    self.piece()
                }
                Err(trailers) => trailers,
            }))),
            other => other,
        }
    }

    /// The next piece of what is to go on.
    fn piece(&mut self) -> Frame<Bytes> {
        if let Some(turn) = &self.turn {
            turn.offer();
        }
        Frame::data(self.rest.split_to(self.rest.len().min(PIECE)))
    }
}

impl Content {
    fn is_end_stream(&self) -> bool {
        match self {
            Content::Own(bytes) => bytes.is_empty(),
            Content::Upstream(relay) => relay.is_end_stream(),
            Content::Bounded(bounded) => bounded.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Content::Own(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Upstream(relay) => relay.size_hint(),
            Content::Bounded(bounded) => bounded.size_hint(),
        }
    }

    fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match self {
            Content::Own(bytes) if bytes.is_empty() => Poll::Ready(None),
            Content::Own(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Content::Upstream(relay) => Pin::new(relay).poll_frame(cx),
            Content::Bounded(bounded) => Pin::new(&mut **bounded).poll_frame(cx),
        }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = self.get_mut();
        let polled = this.poll_next(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            this.note.sent(frame.data_ref().map_or(0, Bytes::len));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.content.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.content.size_hint()
    }
}
