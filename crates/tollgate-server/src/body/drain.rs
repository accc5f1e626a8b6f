//! Reading and throwing away what a refused client still sends, up to a bound.

use std::sync::Arc;
use std::time::Duration;

use http_body::Frame;
use http_body_util::BodyExt;
use hyper::body::Incoming;

use crate::connection::Pace;

/// A body of at most that many bytes is read away after an answer that did not need it, so that the connection can be
/// kept; before a larger one the connection is closed.
pub(crate) const DRAINED: u64 = 64 * 1024;

/// Reads `body` away: at most [`DRAINED`] bytes, for at most `longest`. A body that ends within that leaves its connection
/// usable, and its connection's `pace` is told; hyper closes the connection of one that does not.
pub(crate) async fn drain(mut body: Incoming, longest: Duration, pace: Arc<Pace>) {
    let all = async {
        let mut left = DRAINED;
        loop {
            let Some(frame) = body.frame().await else { return pace.read_to_the_end() };
            if frame.as_ref().is_ok_and(Frame::is_trailers) {
                pace.saw_trailers();
            }
            let length =
                frame.ok().map(|frame| frame.data_ref().map_or(0, |data| data.len() as u64));
            match length.and_then(|length| left.checked_sub(length)) {
                Some(rest) => left = rest,
                None => return,
            }
        }
    };
    // Too slow is the same as too large: the body is dropped.
    let _ = tokio::time::timeout(longest, all).await;
}
