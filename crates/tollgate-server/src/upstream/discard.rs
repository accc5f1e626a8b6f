//! An answer that nobody gets, because its request goes to another server.

use std::time::Duration;

use http_body_util::BodyExt;

use crate::body::{DRAINED, Relay};

/// Not worth waiting longer for the use of a connection again.
const LONGEST: Duration = Duration::from_secs(1);

/// Reads a short rest away, so that the connection can serve another request; before a long one it is closed.
pub(super) async fn discard(mut answer: Relay) {
    let all = async {
        let mut left = DRAINED;
        while let Some(Ok(frame)) = answer.frame().await {
            let length = frame.data_ref().map_or(0, |data| data.len() as u64);
            match left.checked_sub(length) {
                Some(rest) => left = rest,
                None => return,
            }
        }
    };
    let _ = tokio::time::timeout(LONGEST, all).await;
}
