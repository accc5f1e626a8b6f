//! What is refused before anyone is asked: requests that two readers could read differently, and those too large.

use http::header::{CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode, Uri, Version};
use tollgate_http::{Answer, Problem};
use tollgate_policy::settings::GatewaySettings;

use super::hop_by_hop::is_plainly_coded;

/// The answer to a request that is not even decided; `None` where it is sound.
pub(super) fn fault(parts: &Parts, settings: &GatewaySettings) -> Option<Answer> {
    let (status, detail) = complaint(parts, settings)?;
    Some(Problem::new(status, detail).answer())
}

fn complaint(parts: &Parts, settings: &GatewaySettings) -> Option<(StatusCode, &'static str)> {
    if parts.method == Method::CONNECT {
        let detail = "This is a gateway to certain services and makes no tunnels by CONNECT.";
        return Some((StatusCode::METHOD_NOT_ALLOWED, detail));
    }
    if let Some(detail) = ambiguity(parts) {
        return Some((StatusCode::BAD_REQUEST, detail));
    }
    if !is_plainly_coded(&parts.headers) {
        let detail = "The body comes in a transfer coding other than chunked.";
        return Some((StatusCode::NOT_IMPLEMENTED, detail));
    }
    if target_bytes(&parts.uri) > settings.max_header_bytes {
        let detail = "The target is longer than this gateway takes.";
        return Some((StatusCode::URI_TOO_LONG, detail));
    }
    if header_bytes(&parts.headers) > settings.max_header_bytes {
        let detail = "The header fields together are larger than this gateway takes.";
        return Some((StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, detail));
    }
    None
}

/// What in a request could be read in two ways (RFC 9112, 3.2 and 6.3); hyper has refused the rest.
fn ambiguity(parts: &Parts) -> Option<&'static str> {
    if parts.uri.authority().is_some() && parts.uri.scheme().is_none() {
        // RFC 9112, 3.2.3: only CONNECT names an authority alone.
        return Some("The target is neither a path nor a whole URI.");
    }
    if parts.uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        // RFC 9110, 4.2.4: it is there to make one host look like another.
        return Some("The target names a user before its host.");
    }
    let mut hosts = parts.headers.get_all(HOST).iter();
    let host = hosts.next();
    if hosts.next().is_some() {
        return Some("The request names its host more than once.");
    }
    if host.is_none() && parts.version == Version::HTTP_11 {
        return Some("The request does not name its host.");
    }
    if host.is_some_and(|host| !is_host(host.as_bytes())) {
        return Some("The Host field is not a host.");
    }
    let lengths = parts.headers.get_all(CONTENT_LENGTH).iter().count();
    if lengths > 1 || (lengths == 1 && parts.headers.contains_key(TRANSFER_ENCODING)) {
        return Some("The request states the length of its body in more than one way.");
    }
    None
}

/// Whether `host` can be a host with or without a port; empty is one (RFC 9112, 3.2).
fn is_host(host: &[u8]) -> bool {
    host.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+;=:[]%".contains(byte))
}

fn target_bytes(uri: &Uri) -> usize {
    let path = uri.path_and_query().map_or(0, |path| path.as_str().len());
    path + uri.authority().map_or(0, |authority| authority.as_str().len())
}

/// As they stand on the wire: each with its colon, a space and a line end.
fn header_bytes(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum()
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn status(request: http::request::Builder) -> Option<u16> {
        let (parts, ()) = request.body(()).expect("a request").into_parts();
        let settings =
            GatewaySettings { max_header_bytes: 100, ..crate::gateway::tests::settings() };
        complaint(&parts, &settings).map(|(status, _)| status.as_u16())
    }

    fn get() -> http::request::Builder {
        Request::get("/").header("host", "a.example:80")
    }

    #[test]
    fn sound_requests_pass() {
        assert_eq!(status(get()), None);
        assert_eq!(status(Request::get("/").version(Version::HTTP_10)), None);
        assert_eq!(status(Request::get("/").header("host", "[2001:db8::1]:80")), None);
        assert_eq!(status(Request::get("/").header("host", "")), None);
    }

    #[test]
    fn ambiguous_requests_do_not() {
        assert_eq!(status(Request::get("/")), Some(400));
        assert_eq!(status(Request::get("b.example").header("host", "a")), Some(400));
        assert_eq!(status(get().header("host", "b.example")), Some(400));
        assert_eq!(status(Request::get("/").header("host", "a b")), Some(400));
        assert_eq!(status(Request::get("/").header("host", "a/b")), Some(400));
        assert_eq!(status(Request::get("/").header("host", "user@a")), Some(400));
        assert_eq!(status(Request::get("http://user@a/").header("host", "a")), Some(400));
        let twice = get().header("content-length", "1").header("content-length", "1");
        assert_eq!(status(twice), Some(400));
        let both = get().header("content-length", "1").header("transfer-encoding", "chunked");
        assert_eq!(status(both), Some(400));
    }

    #[test]
    fn bodies_in_other_codings_do_not() {
        let coded = |coding| get().header("transfer-encoding", coding);
        assert_eq!(status(coded("chunked")), None);
        assert_eq!(status(coded("gzip, chunked")), Some(501));
        assert_eq!(status(coded("chunked").header("transfer-encoding", "chunked")), Some(501));
    }

    #[test]
    fn large_requests_do_not() {
        let long = format!("/{}", "a".repeat(100));
        assert_eq!(status(Request::get(&long).header("host", "a")), Some(414));
        assert_eq!(status(get().header("x-a", "a".repeat(90))), Some(431));
    }

    #[test]
    fn tunnels_are_not_made() {
        assert_eq!(status(Request::connect("a.example:443")), Some(405));
    }
}
