//! The same request in the forms of HTTP/1.1 (a target and a Host) and HTTP/2 (a whole URI, nothing of a connection).

use http::header::{CONNECTION, CONTENT_LENGTH, HOST, HeaderValue, TRANSFER_ENCODING, UPGRADE};
use http::uri::{Authority, Parts, PathAndQuery, Scheme};
use http::{Request, Uri, Version};
use http_body::Body;

use super::dial::Endpoint;

/// As HTTP/1.1 has it. It comes so already, unless it was to go over HTTP/2 before.
pub(super) fn for_http1<B: Body>(mut request: Request<B>) -> Request<B> {
    if !request.body().is_end_stream() && !request.headers().contains_key(CONTENT_LENGTH) {
        // hyper sends no body of unknown length with a GET, unless it is told to.
        request.headers_mut().insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    }
    let Some(authority) = request.uri().authority() else { return request };
    if let Ok(host) = HeaderValue::from_str(authority.as_str()) {
        request.headers_mut().insert(HOST, host);
    }
    *request.uri_mut() = target(request.uri()).into();
    *request.version_mut() = Version::HTTP_11;
    request
}

/// As HTTP/2 has it. A protocol that the client would upgrade to is left out: a server need not upgrade, and over HTTP/2
/// cannot.
pub(super) fn for_http2<B: Body>(
    mut request: Request<B>,
    secure: bool,
    at: &Endpoint,
) -> Request<B> {
    if !request.body().is_end_stream() {
        request.headers_mut().remove(TRANSFER_ENCODING);
    }
    if request.uri().authority().is_some() {
        return request;
    }
    let headers = request.headers_mut();
    headers.remove(CONNECTION);
    headers.remove(UPGRADE);
    let named = headers.remove(HOST).and_then(|host| Authority::try_from(host.as_bytes()).ok());
    let mut parts = Parts::default();
    parts.scheme = Some(if secure { Scheme::HTTPS } else { Scheme::HTTP });
    parts.authority = Some(named.unwrap_or_else(|| authority(at)));
    parts.path_and_query = Some(target(request.uri()));
    if let Ok(uri) = Uri::from_parts(parts) {
        *request.uri_mut() = uri;
    }
    *request.version_mut() = Version::HTTP_2;
    request
}

/// How a server is called by those who have no name for it.
pub(super) fn authority(at: &Endpoint) -> Authority {
    let text = match at {
        Endpoint::Tcp(address) => address.to_string(),
        Endpoint::Unix(_) => String::new(),
    };
    Authority::try_from(text).unwrap_or_else(|_| Authority::from_static("localhost"))
}

fn target(uri: &Uri) -> PathAndQuery {
    uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http_body_util::{Empty, Full};

    use super::*;

    fn request(uri: &str, host: &str) -> Request<Empty<Bytes>> {
        Request::builder()
            .uri(uri)
            .header(HOST, host)
            .header(CONNECTION, "upgrade, te")
            .header(UPGRADE, "websocket")
            .header("te", "trailers")
            .body(Empty::new())
            .expect("a request")
    }

    #[test]
    fn there_and_back() {
        let at = Endpoint::Tcp(([127, 0, 0, 1], 9001).into());
        let there = for_http2(request("/a?b=c", "shop.example:8080"), true, &at);
        assert_eq!(there.uri(), "https://shop.example:8080/a?b=c");
        assert_eq!(there.headers().keys().map(|name| name.as_str()).collect::<Vec<_>>(), ["te"]);
        let twice = for_http2(there, true, &at);
        let back = for_http1(twice);
        assert_eq!((back.uri().to_string().as_str(), back.version()), ("/a?b=c", Version::HTTP_11));
        assert_eq!(back.headers()[HOST], "shop.example:8080");
    }

    #[test]
    fn a_request_without_a_usable_host_names_the_server() {
        for host in ["", "a b", "a/b"] {
            let at = Endpoint::Tcp(([127, 0, 0, 1], 9001).into());
            let there = for_http2(request("*", host), false, &at);
            assert_eq!(there.uri().authority().map(Authority::as_str), Some("127.0.0.1:9001"));
            let there = for_http2(request("/", host), false, &Endpoint::Unix("/run/a b".into()));
            assert_eq!(there.uri(), "http://localhost/");
        }
    }

    #[test]
    fn a_body_of_unknown_length_comes_in_chunks_and_only_there() {
        let at = Endpoint::Tcp(([127, 0, 0, 1], 9001).into());
        let coded = |request: &Request<_>| request.headers().contains_key(TRANSFER_ENCODING);
        let body = Full::new(Bytes::from_static(b"x"));
        let unknown = for_http1(request("/", "a").map(|_| body.clone()));
        assert!(coded(&unknown));
        assert!(!coded(&for_http2(unknown, false, &at)));
        let mut known = request("/", "a").map(|_| body);
        known.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static("1"));
        assert!(!coded(&for_http1(known)));
        assert!(!for_http1(request("/", "a")).headers().contains_key(TRANSFER_ENCODING));
    }
}
