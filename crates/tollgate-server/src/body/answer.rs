//! The body of whatever the gateway answers: its own, or an upstream's.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::{BodyError, Relay};
use crate::connection::Turn;
use crate::gateway::Ticket;

/// A body, and what ends with it.
#[derive(Debug)]
pub(crate) struct ResponseBody {
    content: Content,
    // Dropped when the body has been handed over or its connection died; in this order.
    _ticket: Option<Ticket>,
    _turn: Option<Turn>,
}

#[derive(Debug)]
enum Content {
    Own(Bytes),
    Upstream(Relay),
}

impl ResponseBody {
    /// A body of our own.
    pub(crate) fn own(bytes: Bytes) -> ResponseBody {
        ResponseBody { content: Content::Own(bytes), _ticket: None, _turn: None }
    }

    /// An upstream's body; `ticket` is settled when it has been sent.
    pub(crate) fn upstream(relay: Relay, ticket: Option<Ticket>) -> ResponseBody {
        ResponseBody { content: Content::Upstream(relay), _ticket: ticket, _turn: None }
    }

    /// Ends `turn` with this body.
    pub(crate) fn with_turn(mut self, turn: Turn) -> ResponseBody {
        self._turn = Some(turn);
        self
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match &mut self.get_mut().content {
            Content::Own(bytes) if bytes.is_empty() => Poll::Ready(None),
            Content::Own(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Content::Upstream(relay) => Pin::new(relay).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Own(bytes) => bytes.is_empty(),
            Content::Upstream(relay) => relay.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Own(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Upstream(relay) => relay.size_hint(),
        }
    }
}
