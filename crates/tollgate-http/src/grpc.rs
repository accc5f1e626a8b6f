//! gRPC's form of an answer of our own: "trailers only", a response whose head says all and which has no body. What HTTP's
//! status would have said is in `grpc-status`; the HTTP status is 200, as gRPC asks.

use std::fmt::Write as _;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use http::{Method, StatusCode};

use crate::{Answer, Kind};

const STATUS: HeaderName = HeaderName::from_static("grpc-status");
const MESSAGE: HeaderName = HeaderName::from_static("grpc-message");
/// gRPC's proposal A6: milliseconds until a retry is welcome; a negative number where none is.
const PUSHBACK: HeaderName = HeaderName::from_static("grpc-retry-pushback-ms");

/// Codes of gRPC.
const UNKNOWN: u16 = 2;
const PERMISSION_DENIED: u16 = 7;
const RESOURCE_EXHAUSTED: u16 = 8;
const UNIMPLEMENTED: u16 = 12;
const INTERNAL: u16 = 13;
const UNAVAILABLE: u16 = 14;
const UNAUTHENTICATED: u16 = 16;

/// Whether a request with `method` and `headers` is a gRPC call: `application/grpc`, or that with a `+` and what messages
/// are made of. gRPC-Web is another protocol.
#[must_use]
pub fn is_grpc(method: &Method, headers: &HeaderMap) -> bool {
    const TYPE: &[u8] = b"application/grpc";
    let Some(kind) = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes) else { return false };
    method == Method::POST
        && kind.get(..TYPE.len()).is_some_and(|start| start.eq_ignore_ascii_case(TYPE))
        && matches!(kind.get(TYPE.len()), None | Some(b'+' | b';' | b' '))
}

impl Answer {
    /// The same answer for a gRPC caller. What refuses by a limit is RESOURCE_EXHAUSTED, overload that is nobody's own fault is
    /// UNAVAILABLE; other statuses become the codes that gRPC's own table of HTTP statuses has. The fields that describe
    /// limits stay. `grpc-retry-pushback-ms` says when to try again, and -1 where no wait helps.
    #[must_use]
    pub fn for_grpc(self) -> Answer {
        let said = Said::of(&self);
        let mut headers = self.headers;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        headers.insert(STATUS, HeaderValue::from(said.code));
        if let Ok(message) = HeaderValue::from_str(&percent_encoded(&said.detail)) {
            headers.insert(MESSAGE, message);
        }
        if let Some(pushback) = said.pushback {
            headers.insert(PUSHBACK, HeaderValue::from(pushback));
        }
        Answer { status: StatusCode::OK, headers, body: Bytes::new() }
    }
}

/// What an answer says, read from its problem.
struct Said {
    code: u16,
    detail: String,
    pushback: Option<i32>,
}

impl Said {
    fn of(answer: &Answer) -> Said {
        let problem: serde_json::Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let text = |member: &str| problem.get(member).and_then(serde_json::Value::as_str);
        let kind = text("type").unwrap_or_default();
        let exact = problem.get("retry_after_ms").and_then(serde_json::Value::as_u64);
        let stated = || -> Option<u64> {
            let seconds = answer.headers.get(RETRY_AFTER)?.to_str().ok()?;
            seconds.parse::<u64>().ok()?.checked_mul(1_000)
        };
        let pushback =
            exact.or_else(stated).map(|millis| i32::try_from(millis).unwrap_or(i32::MAX));
        let exceeded = kind == Kind::QuotaExceeded.uri();
        let code = match kind {
            _ if exceeded => RESOURCE_EXHAUSTED,
            _ if kind == Kind::ReducedCapacity.uri() => UNAVAILABLE,
            _ => code_of(answer.status),
        };
        Said {
            code,
            detail: text("detail").or(text("title")).unwrap_or_default().to_owned(),
            pushback: pushback.or(exceeded.then_some(-1)),
        }
    }
}

/// gRPC's own mapping of HTTP statuses, but for 429, which it takes for a proxy's, and 413 and 431, which it does not know.
fn code_of(status: StatusCode) -> u16 {
    match status.as_u16() {
        413 | 429 | 431 => RESOURCE_EXHAUSTED,
        400 => INTERNAL,
        401 => UNAUTHENTICATED,
        403 => PERMISSION_DENIED,
        404 | 405 => UNIMPLEMENTED,
        502..=504 => UNAVAILABLE,
        _ => UNKNOWN,
    }
}

/// As gRPC over HTTP/2 writes messages: printable ASCII but for `%` stands for itself.
fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' '..=b'~' if byte != b'%' => encoded.push(char::from(byte)),
            // Writing to a string cannot fail.
            _ => drop(write!(encoded, "%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Problem;

    fn field(answer: &Answer, name: &str) -> Option<String> {
        Some(answer.headers.get(name)?.to_str().ok()?.to_owned())
    }

    #[test]
    fn a_call_is_known_by_its_type() {
        let is = |kind: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
            is_grpc(&Method::POST, &headers)
        };
        assert!(
            is("application/grpc") && is("application/grpc+proto") && is("Application/gRPC;x=y")
        );
        assert!(!is("application/grpc-web") && !is("application/grpc-web+proto"));
        assert!(!is("application/json") && !is_grpc(&Method::POST, &HeaderMap::new()));
    }

    #[test]
    fn statuses_become_codes() {
        let code = |status: u16| {
            let status = StatusCode::from_u16(status).expect("a status");
            field(&Problem::new(status, "why").answer().for_grpc(), "grpc-status")
        };
        for (status, expected) in
            [(404, "12"), (400, "13"), (502, "14"), (504, "14"), (413, "8"), (408, "2")]
        {
            assert_eq!(code(status).as_deref(), Some(expected), "{status}");
        }
    }

    #[test]
    fn overload_says_when_to_come_back() {
        let answer = Problem::overloaded("Zu viel: 100 % \u{fc}ber.", 3).answer().for_grpc();
        assert_eq!((answer.status, answer.body.len()), (StatusCode::OK, 0));
        assert_eq!(field(&answer, "content-type").as_deref(), Some("application/grpc"));
        assert_eq!(field(&answer, "grpc-status").as_deref(), Some("14"));
        assert_eq!(field(&answer, "grpc-message").as_deref(), Some("Zu viel: 100 %25 %C3%BCber."));
        assert_eq!(field(&answer, "grpc-retry-pushback-ms").as_deref(), Some("3000"));
    }

    #[test]
    fn what_cannot_be_read_has_a_code_all_the_same() {
        let headers = HeaderMap::new();
        let body = Bytes::from_static(b"no JSON");
        let answer = Answer { status: StatusCode::BAD_GATEWAY, headers, body }.for_grpc();
        assert_eq!(field(&answer, "grpc-status").as_deref(), Some("14"));
        assert_eq!(field(&answer, "grpc-retry-pushback-ms"), None);
    }
}
