//! The request as the upstream gets it.

use bytes::Bytes;
use http::header::{COOKIE, HOST, HeaderMap, HeaderValue};
use http::request::Parts;
use http::uri::{PathAndQuery, Uri};
use http::{Request, Version};
use tollgate_policy::{ClientAddress, normalise};

use super::survey::{Field, Survey};
use super::{disguised, forwarded, forwarding, hop_by_hop};
use crate::body::Upload;
use crate::connection::Client;

/// Makes `parts` the upstream's: the normalised path and the query as it came, HTTP/1.1, no fields of the client's own
/// connection, and who sent it. The host stays the one that the client named. Answers the protocol that it asks to be
/// upgraded to.
pub(super) fn prepare(
    parts: &mut Parts,
    mut survey: Survey,
    settings: &ClientAddress,
    client: &Client,
) -> Option<HeaderValue> {
    if let Some(authority) = parts.uri.authority() {
        // RFC 9112, 3.2.2: the target's authority stands for whatever Host says.
        let host = authority.as_str().rsplit('@').next().unwrap_or_default();
        if let Ok(host) = HeaderValue::from_str(host) {
            parts.headers.insert(HOST, host);
            survey.note(Field::Host);
        }
    }
    if parts.version == Version::HTTP_2 {
        join_cookies(&mut parts.headers);
    }
    if let Some(target) = target(&parts.uri) {
        parts.uri = target;
    }
    let old = parts.version != Version::HTTP_11;
    let upgrade = hop_by_hop::strip_request(&mut parts.headers, survey).filter(|_| !old);
    if survey.has(Field::Disguised) {
        disguised::drop(&mut parts.headers);
    }
    let told = forwarding::told(&parts.headers, settings, &client.peer);
    forwarded::write(&mut parts.headers, survey, settings, &told, client.scheme());
    let arrived = (client.scheme(), parts.version);
    forwarding::write(&mut parts.headers, settings, told.address, arrived);
    if !survey.has(Field::Host) {
        // HTTP/1.1 asks for one; a client of HTTP/1.0 may have sent none.
        parts.headers.insert(HOST, HeaderValue::from_static(""));
    }
    if let Some(protocol) = &upgrade {
        hop_by_hop::upgrade_to(&mut parts.headers, protocol.clone());
    }
    parts.version = Version::HTTP_11;
    upgrade
}

/// The request of `parts`, which it is taken out of, with `body`.
pub(super) fn take(parts: &mut Parts, body: Upload) -> Request<Upload> {
    let mut request = Request::new(body);
    *request.method_mut() = std::mem::take(&mut parts.method);
    *request.uri_mut() = std::mem::take(&mut parts.uri);
    *request.version_mut() = parts.version;
    *request.headers_mut() = std::mem::take(&mut parts.headers);
    request
}

/// Over HTTP/2 a client may send each cookie as a field of its own; others know one field (RFC 9113, 8.2.3).
fn join_cookies(headers: &mut HeaderMap) {
    let lines: Vec<&[u8]> = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
    if lines.len() > 1
        && let Ok(one) = HeaderValue::from_maybe_shared(Bytes::from(lines.join(&b"; "[..])))
    {
        headers.insert(COOKIE, one);
    }
}

/// The path in its normal form, and the query; `None` where the target is that already.
fn target(uri: &Uri) -> Option<Uri> {
    let path = normalise(uri.path()).unwrap_or_default();
    if uri.authority().is_none() && path == uri.path() {
        return None;
    }
    let target = match uri.query() {
        Some(query) => PathAndQuery::try_from(format!("{path}?{query}")),
        None => PathAndQuery::try_from(path.as_ref()),
    };
    // A path that has no normal form was refused before; what has one is a target.
    target.ok().map(Uri::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_normalised_and_the_query_is_not() {
        let target = |uri: &str| {
            let uri = uri.parse().expect("a target");
            target(&uri).unwrap_or(uri).to_string()
        };
        assert_eq!(target("/v1/x?a=%6C/../b"), "/v1/x?a=%6C/../b");
        assert_eq!(target("/v1//./%6C/../x?q=1"), "/v1/x?q=1");
        assert_eq!(target("http://a.example/v1/x?q"), "/v1/x?q");
        assert_eq!(target("http://a.example"), "/");
        assert_eq!(target("/a?"), "/a?");
        assert_eq!(target("*"), "*");
    }
}
