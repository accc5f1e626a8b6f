//! An upstream's body that may not be larger than its route allows: it is cut off where it is, for its beginning is out
//! already.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::{BodyError, Relay};
use crate::metrics::Metrics;

/// A bounded body of an upstream.
#[derive(Debug)]
pub(crate) struct Bounded {
    relay: Relay,
    left: u64,
    metrics: Arc<Metrics>,
}

impl Bounded {
    /// `relay`, of at most `most` bytes.
    pub(crate) fn new(relay: Relay, most: u64, metrics: &Arc<Metrics>) -> Bounded {
        Bounded { relay, left: most, metrics: Arc::clone(metrics) }
    }
}

impl Body for Bounded {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.relay).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            let length = frame.data_ref().map_or(0, |data| data.len() as u64);
            match this.left.checked_sub(length) {
                Some(left) => this.left = left,
                None => {
                    this.metrics.responses_too_large.inc();
                    return Poll::Ready(Some(Err(BodyError::TooLarge)));
                }
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.relay.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.relay.size_hint()
    }
}
