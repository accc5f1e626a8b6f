//! What is refused before anyone is asked: requests that two readers could read differently, and those too large.

use http::header::HOST;
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode, Version};
use hyper::body::Body;
use tollgate_http::{Answer, Problem};
use tollgate_policy::settings::GatewaySettings;

use super::hop_by_hop::is_plainly_coded;
use super::survey::{Field, Survey};
use crate::body::Inbound;

/// The answer to a request that is not even decided; `None` where it is sound. `survey` is of its fields.
pub(super) fn fault(
    parts: &Parts,
    survey: Survey,
    body: &Inbound,
    settings: &GatewaySettings,
) -> Option<Answer> {
    let (status, detail) = complaint(parts, survey, body.size_hint().lower(), settings)?;
    Some(Problem::new(status, detail).answer())
}

fn complaint(
    parts: &Parts,
    survey: Survey,
    length: u64,
    settings: &GatewaySettings,
) -> Option<(StatusCode, &'static str)> {
    if parts.method == Method::CONNECT {
        let detail = "This is a gateway to certain services and makes no tunnels by CONNECT.";
        return Some((StatusCode::METHOD_NOT_ALLOWED, detail));
    }
    if let Some(detail) = ambiguity(parts, survey) {
        return Some((StatusCode::BAD_REQUEST, detail));
    }
    if survey.has(Field::TransferEncoding) && !is_plainly_coded(&parts.headers) {
        let detail = "The body comes in a transfer coding other than chunked.";
        return Some((StatusCode::NOT_IMPLEMENTED, detail));
    }
    if settings.max_body_bytes.is_some_and(|most| length > most) {
        let detail = "The body is larger than this gateway passes on.";
        return Some((StatusCode::PAYLOAD_TOO_LARGE, detail));
    }
    if survey.bytes > settings.max_header_bytes || parts.headers.len() > settings.max_headers {
        let detail = "The header fields are more or larger than this gateway takes.";
        return Some((StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, detail));
    }
    None
}

/// What in a request could be read in two ways (RFC 9112, 3.2 and 6.3); hyper has refused the rest.
fn ambiguity(parts: &Parts, survey: Survey) -> Option<&'static str> {
    if parts.uri.authority().is_some() && parts.uri.scheme().is_none() {
        // RFC 9112, 3.2.3: only CONNECT names an authority alone.
        return Some("The target is neither a path nor a whole URI.");
    }
    if survey.repeats(Field::Host) {
        return Some("The request names its host more than once.");
    }
    let host = parts.headers.get(HOST);
    if parts.version == Version::HTTP_2
        && let Some(detail) = authority_fault(parts, host)
    {
        return Some(detail);
    }
    if host.is_none() && parts.version == Version::HTTP_11 {
        return Some("The request does not name its host.");
    }
    if host.is_some_and(|host| !is_host(host.as_bytes())) {
        return Some("The Host field is not a host.");
    }
    let codings = survey.has(Field::TransferEncoding);
    if survey.repeats(Field::ContentLength) || (survey.has(Field::ContentLength) && codings) {
        return Some("The request states the length of its body in more than one way.");
    }
    None
}

/// What is wrong with the `:authority` of a request over HTTP/2 (RFC 9113, 8.3.1).
fn authority_fault(parts: &Parts, host: Option<&HeaderValue>) -> Option<&'static str> {
    let Some(authority) = parts.uri.authority().map(http::uri::Authority::as_str) else {
        return host.is_none().then_some("The request does not name its host.");
    };
    if authority.contains('@') {
        return Some("The :authority holds more than a host and a port.");
    }
    if host.is_some_and(|host| !host.as_bytes().eq_ignore_ascii_case(authority.as_bytes())) {
        return Some("The Host field and the :authority differ.");
    }
    None
}

/// Whether `host` can be a host with or without a port; empty is one (RFC 9112, 3.2).
fn is_host(host: &[u8]) -> bool {
    host.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+;=:[]%".contains(byte))
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn status(request: http::request::Builder, length: u64) -> Option<u16> {
        let (parts, ()) = request.body(()).expect("a request").into_parts();
        let settings = GatewaySettings {
            max_body_bytes: Some(10),
            max_header_bytes: 100,
            ..crate::gateway::tests::settings()
        };
        complaint(&parts, Survey::of(&parts.headers), length, &settings)
            .map(|(status, _)| status.as_u16())
    }

    fn get() -> http::request::Builder {
        Request::get("/").header("host", "a.example:80")
    }

    #[test]
    fn sound_requests_pass() {
        assert_eq!(status(get(), 10), None);
        assert_eq!(status(Request::get("/").version(Version::HTTP_10), 0), None);
        assert_eq!(status(Request::get("/").header("host", "[2001:db8::1]:80"), 0), None);
        assert_eq!(status(Request::get("/").header("host", ""), 0), None);
    }

    #[test]
    fn ambiguous_requests_do_not() {
        assert_eq!(status(Request::get("/"), 0), Some(400));
        assert_eq!(status(Request::get("b.example").header("host", "a"), 0), Some(400));
        assert_eq!(status(get().header("host", "b.example"), 0), Some(400));
        assert_eq!(status(Request::get("/").header("host", "a b"), 0), Some(400));
        assert_eq!(status(Request::get("/").header("host", "a/b"), 0), Some(400));
        assert_eq!(status(Request::get("/").header("host", "user@a"), 0), Some(400));
        let twice = get().header("content-length", "1").header("content-length", "1");
        assert_eq!(status(twice, 1), Some(400));
        let both = get().header("content-length", "1").header("transfer-encoding", "chunked");
        assert_eq!(status(both, 0), Some(400));
    }

    #[test]
    fn bodies_in_other_codings_do_not() {
        let coded = |coding| get().header("transfer-encoding", coding);
        assert_eq!(status(coded("chunked"), 0), None);
        assert_eq!(status(coded("gzip, chunked"), 0), Some(501));
        assert_eq!(status(coded("chunked").header("transfer-encoding", "chunked"), 0), Some(501));
    }

    #[test]
    fn large_requests_do_not() {
        assert_eq!(status(get(), 11), Some(413));
        assert_eq!(status(get().header("x-a", "a".repeat(90)), 0), Some(431));
    }

    #[test]
    fn over_http2_the_authority_is_the_host() {
        let h2 = |uri: &str| Request::get(uri).version(Version::HTTP_2);
        assert_eq!(status(h2("https://a.example/x"), 0), None);
        assert_eq!(status(h2("https://a.example/x").header("host", "A.example"), 0), None);
        assert_eq!(status(h2("/x").header("host", "a.example"), 0), None);
        assert_eq!(status(h2("https://a.example/x").header("host", "b.example"), 0), Some(400));
        assert_eq!(status(h2("https://u@a.example/x"), 0), Some(400));
        assert_eq!(status(h2("/x"), 0), Some(400));
    }

    #[test]
    fn tunnels_are_not_made() {
        assert_eq!(status(Request::connect("a.example:443"), 0), Some(405));
    }
}
