//! The request as the upstream gets it.

use http::header::{HOST, HeaderMap, HeaderValue};
use http::request::Parts;
use http::uri::{PathAndQuery, Uri};
use http::{Request, Version};
use tollgate_policy::{ClientAddress, normalise};

use super::{forwarded, forwarding, hop_by_hop};
use crate::body::Upload;
use crate::connection::Client;

/// A request on its way out, and the protocol that it asks to be upgraded to.
pub(super) struct Outgoing {
    pub(super) request: Request<Upload>,
    pub(super) upgrade: Option<HeaderValue>,
}

/// Makes `parts` the upstream's: the normalised path and the query as it came, HTTP/1.1, no fields of the client's own
/// connection, and who sent it. The host stays the one that the client named.
pub(super) fn prepare(
    mut parts: Parts,
    body: Upload,
    settings: &ClientAddress,
    client: &Client,
) -> Outgoing {
    if let Some(authority) = parts.uri.authority() {
        // RFC 9112, 3.2.2: the target's authority stands for whatever Host says.
        let host = authority.as_str().rsplit('@').next().unwrap_or_default();
        if let Ok(host) = HeaderValue::from_str(host) {
            parts.headers.insert(HOST, host);
        }
    }
    parts.uri = target(&parts.uri);
    let old = parts.version != Version::HTTP_11;
    let upgrade = hop_by_hop::strip_request(&mut parts.headers).filter(|_| !old);
    let peer = client.peer.map(|peer| peer.ip());
    let told = forwarding::told(&parts.headers, settings, peer);
    forwarded::write(&mut parts.headers, settings, told, client.scheme());
    let arrived = (client.scheme(), parts.version);
    forwarding::write(&mut parts.headers, settings, told, arrived);
    name_a_host(&mut parts.headers);
    if let Some(protocol) = &upgrade {
        hop_by_hop::upgrade_to(&mut parts.headers, protocol.clone());
    }
    parts.version = Version::HTTP_11;
    Outgoing { request: Request::from_parts(parts, body), upgrade }
}

/// HTTP/1.1 asks for a Host; a client of HTTP/1.0 may have sent none.
fn name_a_host(headers: &mut HeaderMap) {
    if !headers.contains_key(HOST) {
        headers.insert(HOST, HeaderValue::from_static(""));
    }
}

/// The path in its normal form, and the query.
fn target(uri: &Uri) -> Uri {
    let path = normalise(uri.path()).unwrap_or_default();
    if uri.authority().is_none() && path == uri.path() {
        return uri.clone();
    }
    let target = match uri.query() {
        Some(query) => PathAndQuery::try_from(format!("{path}?{query}")),
        None => PathAndQuery::try_from(path.as_ref()),
    };
    // A path that has no normal form was refused before; what has one is a target.
    target.map_or_else(|_| uri.clone(), Uri::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_normalised_and_the_query_is_not() {
        let target = |uri: &str| target(&uri.parse().expect("a target")).to_string();
        assert_eq!(target("/v1/x?a=%6C/../b"), "/v1/x?a=%6C/../b");
        assert_eq!(target("/v1//./%6C/../x?q=1"), "/v1/x?q=1");
        assert_eq!(target("http://a.example/v1/x?q"), "/v1/x?q");
        assert_eq!(target("http://a.example"), "/");
        assert_eq!(target("/a?"), "/a?");
        assert_eq!(target("*"), "*");
    }
}
