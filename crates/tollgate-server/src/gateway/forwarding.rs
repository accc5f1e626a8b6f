//! What of `client_address: { forwarding: .. }` goes beyond `X-Forwarded-*`: whose address is named, `Forwarded` (RFC 7239)
//! and `Via` (RFC 9110, 7.6.3).

use std::borrow::Cow;
use std::fmt::Write;
use std::net::IpAddr;

use http::Version;
use http::header::{FORWARDED, HOST, HeaderMap, HeaderValue, VIA};
use tollgate_http::client_address;
use tollgate_policy::{Chain, ClientAddress, Headers};

use crate::connection::{Peer, Scheme};

/// The address that the upstream is told: the peer's behind what others said before it, or the client's alone.
pub(super) fn told<'p>(
    headers: &HeaderMap,
    settings: &ClientAddress,
    peer: &'p Peer,
) -> Cow<'p, Peer> {
    match settings.forwarding.chain {
        Chain::Append => Cow::Borrowed(peer),
        Chain::Replace => {
            let found = client_address::resolve(settings, peer.address, Headers::Map(headers));
            Cow::Owned(Peer::new(found.address))
        }
    }
}

/// Writes `Forwarded` and `Via`, where they are asked for. Those who are not believed have lost their `Forwarded` before.
pub(super) fn write(
    headers: &mut HeaderMap,
    settings: &ClientAddress,
    address: Option<IpAddr>,
    (scheme, version): (Scheme, Version),
) {
    if settings.forwarding.forwarded {
        let element = element(address, scheme, headers.get(HOST));
        if let Ok(element) = HeaderValue::from_maybe_shared(bytes::Bytes::from(element)) {
            headers.append(FORWARDED, element);
        }
    }
    if settings.forwarding.via {
        headers.append(VIA, HeaderValue::from_static(via(version)));
    }
}

/// The version in which the message came, and by whom.
fn via(version: Version) -> &'static str {
    match version {
        Version::HTTP_2 => "2.0 tollgate",
        Version::HTTP_10 => "1.0 tollgate",
        _ => "1.1 tollgate",
    }
}

fn element(address: Option<IpAddr>, scheme: Scheme, host: Option<&HeaderValue>) -> Vec<u8> {
    let mut text = String::with_capacity(64);
    // Writing to a string cannot fail.
    let _ = match address.map(|address| address.to_canonical()) {
        Some(IpAddr::V4(four)) => write!(text, "for={four}"),
        Some(IpAddr::V6(six)) => write!(text, "for=\"[{six}]\""),
        None => write!(text, "for=unknown"),
    };
    let _ = write!(text, ";proto={}", scheme.as_str());
    let mut element = text.into_bytes();
    if let Some(host) = host.filter(|host| !host.is_empty()) {
        element.extend_from_slice(b";host=\"");
        // A host has neither quotes nor backslashes: it was checked.
        element.extend_from_slice(host.as_bytes());
        element.push(b'"');
    }
    element
}

#[cfg(test)]
mod tests {
    use tollgate_policy::{Forwarding, Hops};

    use super::*;

    #[test]
    fn elements_are_those_of_rfc_7239() {
        let text = |address: Option<&str>, host: &'static str| {
            let address = address.map(|address| address.parse().expect("an address"));
            let host = HeaderValue::from_static(host);
            String::from_utf8(element(address, Scheme::Http, Some(&host))).expect("text")
        };
        assert_eq!(text(Some("192.0.2.1"), "a:80"), "for=192.0.2.1;proto=http;host=\"a:80\"");
        assert_eq!(text(Some("2001:db8::1"), "a"), "for=\"[2001:db8::1]\";proto=http;host=\"a\"");
        assert_eq!(text(Some("::ffff:192.0.2.1"), ""), "for=192.0.2.1;proto=http");
        assert_eq!(text(None, ""), "for=unknown;proto=http");
    }

    #[test]
    fn a_chain_is_carried_on_or_replaced() {
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", HeaderValue::from_static("192.0.2.9, 192.0.2.1"));
        let nets = "10.0.0.0/8".parse().into_iter().collect();
        let told_by = |chain| {
            let forwarding = Forwarding { chain, ..Forwarding::default() };
            let settings = ClientAddress {
                hops: Hops::Trusted(Vec::clone(&nets)),
                forwarding,
                ..ClientAddress::default()
            };
            told(&headers, &settings, &Peer::new(Some(IpAddr::from([10, 0, 0, 1])))).address
        };
        assert_eq!(told_by(Chain::Append), Some(IpAddr::from([10, 0, 0, 1])));
        assert_eq!(told_by(Chain::Replace), Some(IpAddr::from([192, 0, 2, 1])));
    }
}
