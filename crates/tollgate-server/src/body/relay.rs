//! An upstream's body on its way to the client. At its end the connection goes back to the pool; a body that is dropped
//! before takes its connection with it.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::{BodyError, Silence, trailers};
use crate::metrics::UpstreamError;
use crate::upstream::Lease;

/// An upstream's body.
#[derive(Debug)]
pub(crate) struct Relay {
    incoming: Incoming,
    silence: Silence,
    lease: Option<Lease>,
}

impl Relay {
    /// `incoming`, which came over `lease`'s connection and is silent for at most `longest`.
    pub(crate) fn new(incoming: Incoming, longest: Duration, lease: Lease) -> Relay {
        let mut relay = Relay { incoming, silence: Silence::new(longest), lease: Some(lease) };
        relay.give_back_at_the_end();
        relay
    }

    fn blame(&self, error: UpstreamError) {
        if let Some(lease) = &self.lease {
            lease.failed(error);
        }
    }

    fn give_back_at_the_end(&mut self) {
        if self.incoming.is_end_stream() {
            self.give_back();
        }
    }

    fn give_back(&mut self) {
        if let Some(lease) = self.lease.take() {
            lease.give_back();
        }
    }
}

impl Body for Relay {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = self.get_mut();
        match Pin::new(&mut this.incoming).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                this.silence.heard();
                this.give_back_at_the_end();
                Poll::Ready(Some(Ok(trailers::sound(frame))))
            }
            Poll::Ready(Some(Err(error))) => {
                this.blame(UpstreamError::Broken);
                Poll::Ready(Some(Err(BodyError::Broken(error))))
            }
            Poll::Ready(None) => {
                this.give_back();
                Poll::Ready(None)
            }
            Poll::Pending => this.silence.poll_too_long(cx).map(|()| {
                this.blame(UpstreamError::Timeout);
                Some(Err(BodyError::Silent))
            }),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}
