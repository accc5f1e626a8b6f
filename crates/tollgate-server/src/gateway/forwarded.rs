//! What the upstream is told of the client: `X-Forwarded-For`, `-Proto` and `-Host`. A trusted peer's word is carried on
//! and added to; anybody else's is replaced, and a `Forwarded` of theirs is dropped, because the upstream believes us.

use http::header::{FORWARDED, HOST, HeaderMap, HeaderName, HeaderValue};
use tollgate_policy::{Chain, ClientAddress, Hops};

use super::survey::{Field, Survey};
use crate::connection::{Peer, Scheme};

const FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const ORIGINAL_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// Writes who sent the request that `headers` belong to; `survey` is of them.
pub(super) fn write(
    headers: &mut HeaderMap,
    survey: Survey,
    settings: &ClientAddress,
    peer: &Peer,
    scheme: Scheme,
) {
    let believed = settings.forwarding.chain == Chain::Append
        && (peer.address.is_some_and(|address| settings.trusts(address))
            || matches!(settings.hops, Hops::Count(_)));
    if !believed && survey.has(Field::Forwarded) {
        headers.remove(FORWARDED);
    }
    if settings.forwarding.x_forwarded {
        name(headers, survey, believed, peer, scheme);
    } else if !believed {
        for field in [FOR, PROTO, ORIGINAL_HOST] {
            headers.remove(field);
        }
    }
}

/// Writes `X-Forwarded-*`, to what is there where its sender is `believed`.
fn name(headers: &mut HeaderMap, survey: Survey, believed: bool, peer: &Peer, scheme: Scheme) {
    let before = if believed && survey.has(Field::ForwardedFor) { joined(headers) } else { None };
    headers.insert(FOR, entry(before, peer));
    if !believed || !survey.has(Field::ForwardedProto) {
        headers.insert(PROTO, HeaderValue::from_static(scheme.as_str()));
    }
    if believed && survey.has(Field::ForwardedHost) {
        return;
    }
    match headers.get(HOST).cloned() {
        Some(host) => headers.insert(ORIGINAL_HOST, host),
        None => headers.remove(ORIGINAL_HOST),
    };
}

/// The entries that are there, as one line.
fn joined(headers: &HeaderMap) -> Option<Vec<u8>> {
    let lines: Vec<&[u8]> = headers.get_all(FOR).iter().map(HeaderValue::as_bytes).collect();
    (!lines.is_empty()).then(|| lines.join(&b", "[..]))
}

fn entry(before: Option<Vec<u8>>, peer: &Peer) -> HeaderValue {
    let Some(mut line) = before else { return peer.line.clone() };
    line.extend_from_slice(b", ");
    line.extend_from_slice(peer.line.as_bytes());
    HeaderValue::from_maybe_shared(bytes::Bytes::from(line)).unwrap_or_else(|_| peer.line.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(peer: &str, trusted: &str, lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_static(value));
        }
        let nets = trusted.parse().into_iter().collect();
        let settings = ClientAddress { hops: Hops::Trusted(nets), ..ClientAddress::default() };
        let peer = Peer::new(Some(peer.parse().expect("an address")));
        let survey = Survey::of(&headers);
        write(&mut headers, survey, &settings, &peer, Scheme::Http);
        headers
    }

    #[test]
    fn addr_01_a_strangers_word_is_replaced() {
        let headers = written(
            "203.0.113.50",
            "",
            &[
                ("host", "a.example"),
                ("x-forwarded-for", "192.0.2.1"),
                ("x-forwarded-proto", "https"),
                ("x-forwarded-host", "evil.example"),
                ("forwarded", "for=192.0.2.1"),
            ],
        );
        assert_eq!(headers["x-forwarded-for"], "203.0.113.50");
        assert_eq!(headers["x-forwarded-proto"], "http");
        assert_eq!(headers["x-forwarded-host"], "a.example");
        assert!(!headers.contains_key("forwarded"));
    }

    #[test]
    fn a_trusted_proxys_word_is_carried_on() {
        let headers = written(
            "::ffff:10.0.0.1",
            "10.0.0.0/8",
            &[
                ("host", "a.example"),
                ("x-forwarded-for", "192.0.2.1, 192.0.2.2"),
                ("x-forwarded-for", "192.0.2.3"),
                ("x-forwarded-proto", "https"),
                ("x-forwarded-host", "b.example"),
                ("forwarded", "for=192.0.2.1"),
            ],
        );
        assert_eq!(headers["x-forwarded-for"], "192.0.2.1, 192.0.2.2, 192.0.2.3, 10.0.0.1");
        assert_eq!(headers.get_all("x-forwarded-for").iter().count(), 1);
        assert_eq!(headers["x-forwarded-proto"], "https");
        assert_eq!(headers["x-forwarded-host"], "b.example");
        assert_eq!(headers["forwarded"], "for=192.0.2.1");
    }

    #[test]
    fn a_trusted_proxy_that_says_nothing_is_helped() {
        let headers = written("10.0.0.1", "10.0.0.0/8", &[("host", "a.example")]);
        assert_eq!(headers["x-forwarded-for"], "10.0.0.1");
        assert_eq!(headers["x-forwarded-proto"], "http");
        assert_eq!(headers["x-forwarded-host"], "a.example");
    }
}
