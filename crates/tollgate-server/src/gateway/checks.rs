//! What is refused before anyone is asked: requests that two readers could read differently, and those too large.

use http::header::HOST;
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode, Uri, Version};
use tollgate_http::{Answer, Problem};
use tollgate_policy::settings::GatewaySettings;

use super::framing::is_plainly_coded;
use super::survey::{Field, Survey};

/// The answer to a request that is not even decided; `None` where it is sound. `survey` is of its fields.
pub(super) fn fault(parts: &Parts, survey: Survey, settings: &GatewaySettings) -> Option<Answer> {
    let (status, detail) = complaint(parts, survey, settings)?;
    Some(Problem::new(status, detail).answer())
}

fn complaint(
    parts: &Parts,
    survey: Survey,
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
    if target_bytes(&parts.uri) > settings.max_header_bytes {
        let detail = "The target is longer than this gateway takes.";
        return Some((StatusCode::URI_TOO_LONG, detail));
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
    if parts.uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        // RFC 9110, 4.2.4: it is there to make one host look like another.
        return Some("The target names a user before its host.");
    }
    if survey.repeats(Field::Host) {
        return Some("The request names its host more than once.");
    }
    let host = parts.headers.get(HOST);
    if parts.version == Version::HTTP_2
        && let Some(detail) = fault_of_http2(parts, host)
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

fn is_padded(value: &HeaderValue) -> bool {
    let space = |byte: &u8| matches!(byte, b' ' | b'\t');
    let bytes = value.as_bytes();
    bytes.first().is_some_and(space) || bytes.last().is_some_and(space)
}

/// What is wrong with a request over HTTP/2 that h2 lets pass: its fields, or its `:authority` (RFC 9113, 8.2.1 and 8.3.1).
fn fault_of_http2(parts: &Parts, host: Option<&HeaderValue>) -> Option<&'static str> {
    if parts.headers.values().any(is_padded) {
        // RFC 9113, 8.2.1: over HTTP/1.1 the space would be none of the value's.
        return Some("A field begins or ends with a space.");
    }
    let Some(authority) = parts.uri.authority().map(http::uri::Authority::as_str) else {
        return host.is_none().then_some("The request does not name its host.");
    };
    if host.is_some_and(|host| !host.as_bytes().eq_ignore_ascii_case(authority.as_bytes())) {
        return Some("The Host field and the :authority differ.");
    }
    None
}

/// Whether `host` can be a host with or without a port; empty is one (RFC 9112, 3.2).
fn is_host(host: &[u8]) -> bool {
    host.iter().all(|byte| IN_A_HOST[usize::from(*byte)])
}

/// The bytes that a host consists of.
static IN_A_HOST: [bool; 256] = {
    let (mut known, mut byte) = ([false; 256], 0);
    while byte < 256 {
        known[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let (others, mut at) = (b"-._~!$&'()*+;=:[]%", 0);
    while at < others.len() {
        known[others[at] as usize] = true;
        at += 1;
    }
    known
};

fn target_bytes(uri: &Uri) -> usize {
    let path = uri.path_and_query().map_or(0, |path| path.as_str().len());
    path + uri.authority().map_or(0, |authority| authority.as_str().len())
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn status(request: http::request::Builder) -> Option<u16> {
        let (parts, ()) = request.body(()).expect("a request").into_parts();
        let settings =
            GatewaySettings { max_header_bytes: 100, ..crate::gateway::tests::settings() };
        complaint(&parts, Survey::of(&parts.headers), &settings).map(|(status, _)| status.as_u16())
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
    fn over_http2_the_authority_is_the_host() {
        let h2 = |uri: &str| Request::get(uri).version(Version::HTTP_2);
        assert_eq!(status(h2("https://a.example/x")), None);
        assert_eq!(status(h2("https://a.example/x").header("host", "A.example")), None);
        assert_eq!(status(h2("/x").header("host", "a.example")), None);
        assert_eq!(status(h2("https://a.example/x").header("host", "b.example")), Some(400));
        assert_eq!(status(h2("https://u@a.example/x")), Some(400));
        assert_eq!(status(h2("/x")), Some(400));
        let padded = |value| status(h2("https://a.example/x").header("x-key", value));
        assert_eq!([padded(""), padded("a b"), padded("a")], [None; 3]);
        assert_eq!([padded(" a"), padded("a "), padded("\ta"), padded(" ")], [Some(400); 4]);
    }

    #[test]
    fn tunnels_are_not_made() {
        assert_eq!(status(Request::connect("a.example:443")), Some(405));
    }
}
