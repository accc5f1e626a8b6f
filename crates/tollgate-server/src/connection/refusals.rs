//! Answers to what never became a request, as bytes: there is no HTTP between the socket and them.

use std::io::Write;

use http::StatusCode;
use tollgate_http::{Answer, Problem};

/// An answer after which the connection ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// All of it, head and body.
    pub(crate) bytes: Vec<u8>,
}

/// The whole answer in the place of hyper's bare one, where `head` begins one.
pub(super) fn in_full(head: &[u8]) -> Option<Refusal> {
    let (status, detail) = match head.get(..12)? {
        b"HTTP/1.1 400" => (StatusCode::BAD_REQUEST, "What came is not a request of HTTP/1.1."),
        b"HTTP/1.1 414" => {
            (StatusCode::URI_TOO_LONG, "The target is longer than this gateway takes.")
        }
        b"HTTP/1.1 431" => (
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            "The header fields are more or larger than this gateway takes.",
        ),
        _ => return None,
    };
    Some(written(&Problem::new(status, detail).answer()))
}

/// The answer to a header that took too long.
pub(super) fn too_slow() -> Refusal {
    let detail = "The header of the request did not come in time.";
    written(&Problem::new(StatusCode::REQUEST_TIMEOUT, detail).answer())
}

/// The answer to a connection for which there is no place.
pub(crate) fn no_place() -> Refusal {
    written(&Problem::overloaded("This gateway has no place for another connection.", 1).answer())
}

/// The answer to one connection too many of an address.
pub(crate) fn crowded() -> Refusal {
    let detail = "This address has as many connections open as this gateway takes from one.";
    written(&Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).answer())
}

/// The answer to a handshake where none is expected.
pub(super) fn tls_in_the_clear() -> Refusal {
    let detail = "This port speaks plain HTTP, and what came is TLS: use http:// here, or the port that speaks TLS.";
    written(&Problem::new(StatusCode::BAD_REQUEST, detail).answer())
}

/// The answer to plain HTTP where TLS is expected.
pub(super) fn clear_at_tls() -> Refusal {
    let detail = "This port speaks TLS, and what came is plain HTTP: use https:// here.";
    written(&Problem::new(StatusCode::BAD_REQUEST, detail).answer())
}

fn written(answer: &Answer) -> Refusal {
    let mut bytes = Vec::with_capacity(512);
    let reason = answer.status.canonical_reason().unwrap_or_default();
    // Writing to a vector cannot fail.
    let _ = write!(bytes, "HTTP/1.1 {} {reason}\r\nconnection: close\r\n", answer.status.as_str());
    let _ = write!(bytes, "content-length: {}\r\n", answer.body.len());
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
        let text = |refusal: Refusal| String::from_utf8(refusal.bytes).expect("text");
        let full = text(
            in_full(b"HTTP/1.1 431 Request Header Fields Too Large\r\n\r\n").expect("one of them"),
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
        assert!(text(no_place()).contains("retry-after: 1\r\n"));
        assert_eq!(in_full(b"HTTP/1.1 200 OK\r\n\r\n"), None);
        assert_eq!(in_full(b"HTTP"), None);
    }
}
