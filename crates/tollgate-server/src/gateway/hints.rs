//! Interim answers (1xx) of a server that a client of HTTP/1.1 gets while it waits, such as `103 Early Hints` (RFC 8297). `100`
//! is for each connection to say, and `101` is an answer.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::header::{CONTENT_LENGTH, HeaderMap};
use http::{Request, StatusCode};
use tokio::sync::mpsc;

use super::hop_by_hop;
use super::survey::Survey;
use crate::connection::Socket;
use crate::metrics::Metrics;

/// What the interim answers to one request may have, together; each counts for at least [`LEAST`].
const MOST: usize = 16 * 1024;
const LEAST: usize = 1024;

/// Interim answers on their way from a server.
pub(super) struct Hints(mpsc::Receiver<Vec<u8>>);

impl Hints {
    /// Those to `request`, of its first try.
    pub(super) fn of<B>(request: &mut Request<B>, metrics: &Arc<Metrics>) -> Hints {
        let (sender, receiver) = mpsc::channel(MOST / LEAST);
        let (left, metrics) = (AtomicUsize::new(MOST), Arc::clone(metrics));
        hyper::ext::on_informational(request, move |answer| {
            if answer.status() == StatusCode::CONTINUE {
                return;
            }
            let head = head(answer.status(), answer.headers());
            let (order, cost) = (Ordering::Relaxed, head.len().max(LEAST));
            let fits = left.fetch_update(order, order, |left| left.checked_sub(cost)).is_ok();
            // Each that fits has room in the channel, unless nobody waits any more.
            let passed = fits && sender.try_send(head).is_ok();
            metrics.interim_answer(passed);
        });
        Hints(receiver)
    }

    /// Waits for `answer`. What comes before it goes out over `socket`, and the answer waits until it has.
    pub(super) async fn before<T>(mut self, answer: impl Future<Output = T>, socket: &Socket) -> T {
        let mut answer = pin!(answer);
        let answered = loop {
            tokio::select! {
                biased;
                Some(head) = self.0.recv() => socket.announce(&head),
                answered = &mut answer => break answered,
            }
        };
        while let Ok(head) = self.0.try_recv() {
            socket.announce(&head);
        }
        socket.announced().await;
        answered
    }
}

/// An interim answer as a client gets it: without what concerns the server's connection, or a body that there is not.
fn head(status: StatusCode, headers: &HeaderMap) -> Vec<u8> {
    let mut headers = headers.clone();
    let survey = Survey::of(&headers);
    hop_by_hop::strip(&mut headers, survey);
    headers.remove(CONTENT_LENGTH);
    let mut head = Vec::with_capacity(survey.bytes + 64);
    head.extend_from_slice(b"HTTP/1.1 ");
    head.extend_from_slice(status.as_str().as_bytes());
    head.push(b' ');
    head.extend_from_slice(status.canonical_reason().unwrap_or_default().as_bytes());
    for (name, value) in &headers {
        head.extend_from_slice(b"\r\n");
        head.extend_from_slice(name.as_str().as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value.as_bytes());
    }
    head.extend_from_slice(b"\r\n\r\n");
    head
}

#[cfg(test)]
mod tests {
    use http::header::{HeaderName, HeaderValue};

    use super::*;

    fn text(status: u16, fields: &[(&'static str, &'static str)]) -> String {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let status = StatusCode::from_u16(status).expect("a status");
        String::from_utf8(head(status, &headers)).expect("text")
    }

    #[test]
    fn a_head_has_what_concerns_the_client() {
        let fields = [
            ("link", "</a.css>; rel=preload"),
            ("link", "</b.js>; rel=preload"),
            ("connection", "close, x-own"),
            ("x-own", "1"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "websocket"),
            ("content-length", "5"),
        ];
        assert_eq!(
            text(103, &fields),
            "HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\nlink: </b.js>; rel=preload\r\n\r\n"
        );
        assert_eq!(text(102, &[("content-length", "5")]), "HTTP/1.1 102 Processing\r\n\r\n");
        assert_eq!(text(199, &[]), "HTTP/1.1 199 \r\n\r\n");
    }
}
