//! Answers to what never became a request, as bytes: there is no HTTP between the socket and them.

use std::io::Write;
use std::time::{Duration, UNIX_EPOCH};

use http::StatusCode;
use tollgate_core::Timestamp;
use tollgate_http::{Answer, Problem};

/// An answer after which the connection ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// All of it, head and body.
    pub(crate) bytes: Vec<u8>,
}

const TARGET_TOO_LONG: (StatusCode, &str) =
    (StatusCode::URI_TOO_LONG, "The target is longer than this gateway takes.");

/// The whole answer in the place of hyper's bare one, where `head` begins one; `in_target`: what came ended within the
/// request's first line.
pub(super) fn in_full(head: &[u8], in_target: bool, now: Timestamp) -> Option<Refusal> {
    let (status, detail) = match head.get(..12)? {
        b"HTTP/1.1 400" => (StatusCode::BAD_REQUEST, "What came is not a request of HTTP/1.1."),
        b"HTTP/1.1 414" => TARGET_TOO_LONG,
        // hyper's buffer was full before it knew what of.
        b"HTTP/1.1 431" if in_target => TARGET_TOO_LONG,
        b"HTTP/1.1 431" => (
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            "The header fields are more or larger than this gateway takes.",
        ),
        _ => return None,
    };
    Some(written(&Problem::new(status, detail).answer(), now))
}

/// The answer to a header that took too long.
pub(super) fn too_slow(now: Timestamp) -> Refusal {
    let detail = "The header of the request did not come in time.";
    written(&Problem::new(StatusCode::REQUEST_TIMEOUT, detail).answer(), now)
}

/// The answer to a connection for which there is no place.
pub(crate) fn no_place(now: Timestamp) -> Refusal {
    let detail = "This gateway has no place for another connection.";
    written(&Problem::overloaded(detail, 1).answer(), now)
}

/// The answer to one connection too many of an address.
pub(crate) fn crowded(now: Timestamp) -> Refusal {
    let detail = "This address has as many connections open as this gateway takes from one.";
    written(&Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).answer(), now)
}

/// The answer to a handshake where none is expected.
pub(super) fn tls_in_the_clear(now: Timestamp) -> Refusal {
    let detail = "This port speaks plain HTTP, and what came is TLS: use http:// here, or the port that speaks TLS.";
    written(&Problem::new(StatusCode::BAD_REQUEST, detail).answer(), now)
}

/// The answer to plain HTTP where TLS is expected.
pub(super) fn clear_at_tls(now: Timestamp) -> Refusal {
    let detail = "This port speaks TLS, and what came is plain HTTP: use https:// here.";
    written(&Problem::new(StatusCode::BAD_REQUEST, detail).answer(), now)
}

/// `answer` as it stands on the wire. hyper, which dates all others (RFC 9110, 6.6.1), never sees it.
fn written(answer: &Answer, now: Timestamp) -> Refusal {
    let mut bytes = Vec::with_capacity(512);
    let reason = answer.status.canonical_reason().unwrap_or_default();
    // Writing to a vector cannot fail.
    let _ = write!(bytes, "HTTP/1.1 {} {reason}\r\nconnection: close\r\n", answer.status.as_str());
    let _ = write!(bytes, "content-length: {}\r\n", answer.body.len());
    let date = UNIX_EPOCH + Duration::from_micros(now.as_micros());
    let _ = write!(bytes, "date: {}\r\n", httpdate::HttpDate::from(date));
    for (name, value) in &answer.headers {
        let _ = write!(bytes, "{name}: ");
        bytes.extend_from_slice(value.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(&answer.body);
    Refusal { status: answer.status, bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_statuses_become_problems() {
        let now = Timestamp::from_micros(1_767_225_600_000_000);
        let text = |refusal: Refusal| String::from_utf8(refusal.bytes).expect("text");
        let full = text(
            in_full(b"HTTP/1.1 431 Request Header Fields Too Large\r\n\r\n", false, now)
                .expect("one of them"),
        );
        assert!(
            full.starts_with(
                "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n"
            ),
            "{full}"
        );
        assert!(full.contains("content-type: application/problem+json\r\n"), "{full}");
        let (head, body) = full.split_once("\r\n\r\n").expect("a body");
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{full}");
        assert!(full.contains("\r\ndate: Thu, 01 Jan 2026 00:00:00 GMT\r\n"), "{full}");
        let long = in_full(b"HTTP/1.1 431 Request Header Fields Too Large\r\n\r\n", true, now);
        assert_eq!(long.expect("one of them").status, StatusCode::URI_TOO_LONG);
        assert!(text(no_place(now)).contains("retry-after: 1\r\n"));
        assert_eq!(in_full(b"HTTP/1.1 200 OK\r\n\r\n", false, now), None);
        assert_eq!(in_full(b"HTTP", false, now), None);
    }
}
