//! What ties one request's traces together: its id (`X-Request-Id`), and the W3C trace context.

use http::header::{HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use tollgate_http::trace_context::{self, TRACEPARENT};
use tollgate_policy::Hops;
use tollgate_policy::settings::TraceContext;

use super::passing::Visit;
use super::random::random;
use crate::access_log::Note;

/// `X-Request-Id`.
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A longer id than this is not kept.
const LONGEST_ID: usize = 128;

impl Visit<'_> {
    /// The id of the request that `headers` belong to: a trusted peer's own, otherwise a new one. `None` where the policy wants
    /// none.
    pub(super) fn request_id(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        if !self.live.bound.settings().request_id {
            return None;
        }
        let kept = headers.get(&REQUEST_ID).filter(|id| is_id(id.as_bytes()) && self.believes());
        kept.cloned().or_else(|| HeaderValue::from_bytes(&hex(self.two_words())).ok())
    }

    /// A note of the request of `parts`, where the policy has an access log.
    pub(super) fn note(&self, parts: &Parts, id: Option<&HeaderValue>) -> Note {
        let from = (self.client.peer.address, self.client.worker);
        let mut note = Note::begin(self.live.access_log.as_ref(), parts, from);
        note.with(|noted| noted.request_id = id.cloned());
        note
    }

    /// Gives a request on its way out, or an answer, its id.
    pub(super) fn identify(&self, headers: &mut HeaderMap, id: Option<&HeaderValue>) {
        if let Some(id) = id {
            headers.insert(REQUEST_ID, id.clone());
        }
    }

    /// Does with the trace context in `headers` what the policy says.
    pub(super) fn trace(&self, headers: &mut HeaderMap) {
        let treatment = self.live.bound.settings().trace_context;
        let kept = treatment == TraceContext::Leave || trace_context::keep_valid(headers);
        if !kept && treatment == TraceContext::Begin {
            let begun = trace_context::new_traceparent(self.two_words(), random());
            if let Some(parent) = begun {
                headers.insert(TRACEPARENT, parent);
            }
        }
    }

    /// Whether what the peer writes in headers counts.
    fn believes(&self) -> bool {
        let settings = self.live.client_address();
        self.client.peer.address.is_some_and(|address| settings.trusts(address))
            || matches!(settings.hops, Hops::Count(_))
    }

    fn two_words(&self) -> u128 {
        u128::from(random()) << 64 | u128::from(random())
    }
}

fn is_id(id: &[u8]) -> bool {
    (1..=LONGEST_ID).contains(&id.len()) && id.iter().all(u8::is_ascii_graphic)
}

/// Sixteen bytes in lower case. Every request has an id, and formatting machinery takes five times as long.
fn hex(word: u128) -> [u8; 32] {
    let mut digits = [0; 32];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(word.to_be_bytes()) {
        pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 0xf)]);
    }
    digits
}

fn digit(value: u8) -> u8 {
    if value < 10 { b'0' + value } else { b'a' + value - 10 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_plain_words() {
        assert!(is_id(b"7f3c-4.A_b"));
        assert!(is_id(&[b'x'; LONGEST_ID]) && !is_id(&[b'x'; LONGEST_ID + 1]));
        for wrong in [&b""[..], b"a b", b"a\tb", b"\xff", b"a\x7f"] {
            assert!(!is_id(wrong), "{wrong:?}");
        }
        assert_eq!(hex(1), *b"00000000000000000000000000000001");
        assert_eq!(hex(0x0123_4567_89ab_cdef << 64), *b"0123456789abcdef0000000000000000");
    }
}
