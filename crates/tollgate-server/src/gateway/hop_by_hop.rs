//! Fields that concern one connection only (RFC 9110, 7.6.1).

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use smallvec::SmallVec;

use super::survey::{Field, Survey};

/// Names that are never passed on, whether `Connection` lists them or not.
const NEVER: [(Field, HeaderName); 8] = [
    (Field::Connection, header::CONNECTION),
    (Field::KeepAlive, HeaderName::from_static("keep-alive")),
    (Field::ProxyConnection, HeaderName::from_static("proxy-connection")),
    (Field::ProxyAuthenticate, header::PROXY_AUTHENTICATE),
    (Field::ProxyAuthorization, header::PROXY_AUTHORIZATION),
    (Field::Te, header::TE),
    (Field::TransferEncoding, header::TRANSFER_ENCODING),
    (Field::Upgrade, header::UPGRADE),
];

/// Removes what concerns the connection only. Answers the protocol that the sender would upgrade to, where it asks for one
/// that may be passed on: none in which HTTP goes on, because its requests would go past every limit.
///
/// `survey` is of `headers`.
pub(super) fn strip(headers: &mut HeaderMap, survey: Survey) -> Option<HeaderValue> {
    let upgrade = if survey.has(Field::Upgrade) { upgrade(headers) } else { None };
    if survey.has(Field::Named) {
        remove_named(headers);
    }
    if survey.has(Field::TransferEncoding) {
        // RFC 9112, 6.3: the coding says where the body ends, and a length beside it must not be passed on.
        headers.remove(header::CONTENT_LENGTH);
    }
    for (_, name) in NEVER.iter().filter(|(field, _)| survey.has(*field)) {
        headers.remove(name);
    }
    upgrade
}

/// As [`strip`], for a request: that its sender takes trailers is passed on.
pub(super) fn strip_request(headers: &mut HeaderMap, survey: Survey) -> Option<HeaderValue> {
    let trailers = survey.has(Field::Te) && lists(headers, &header::TE, "trailers");
    let upgrade = strip(headers, survey);
    if trailers {
        headers.insert(header::TE, HeaderValue::from_static("trailers"));
        headers.insert(header::CONNECTION, HeaderValue::from_static("te"));
    }
    upgrade
}

/// Makes the message ask for, or agree to, an upgrade to `protocol`.
pub(super) fn upgrade_to(headers: &mut HeaderMap, protocol: HeaderValue) {
    let connection = if headers.contains_key(header::TE) { "upgrade, te" } else { "upgrade" };
    headers.insert(header::CONNECTION, HeaderValue::from_static(connection));
    headers.insert(header::UPGRADE, protocol);
}

fn upgrade(headers: &HeaderMap) -> Option<HeaderValue> {
    let protocol = headers.get(header::UPGRADE)?;
    let http = || members(headers, &header::UPGRADE).any(carries_http);
    (lists(headers, &header::CONNECTION, "upgrade") && !http()).then(|| protocol.clone())
}

/// Whether HTTP goes on in `protocol`: another version of it (`h2c`, `HTTP/2.0`), or the same within TLS (RFC 2817).
fn carries_http(protocol: &str) -> bool {
    let name = protocol.split(['/', ';', '-', ' ']).next().unwrap_or_default();
    ["h2", "h2c", "h3", "http", "tls", "ssl"].iter().any(|http| name.eq_ignore_ascii_case(http))
}

/// Whether one of the comma-separated members of `name` is `member`, parameters and case aside.
fn lists(headers: &HeaderMap, name: &HeaderName, member: &str) -> bool {
    members(headers, name).any(|found| {
        found.split(';').next().is_some_and(|found| found.trim().eq_ignore_ascii_case(member))
    })
}

/// The comma-separated members of all lines of `name`.
pub(super) fn members<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> impl Iterator<Item = &'a str> {
    let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

fn remove_named(headers: &mut HeaderMap) {
    let named: SmallVec<[HeaderName; 4]> = members(headers, &header::CONNECTION)
        // What stands there most often, and names a field that goes in any case or none.
        .filter(|name| {
            !name.eq_ignore_ascii_case("keep-alive") && !name.eq_ignore_ascii_case("close")
        })
        .filter_map(|name| HeaderName::from_bytes(name.as_bytes()).ok())
        .filter(|name| !KEPT.contains(name))
        .collect();
    for name in named {
        headers.remove(name);
    }
}

/// Fields that a message means nothing without, or that say who sent it: a sender must not list them (RFC 9110, 7.6.1),
/// and one that does cannot make the gateway drop them.
const KEPT: [HeaderName; 6] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::CACHE_CONTROL,
    header::AUTHORIZATION,
    HeaderName::from_static("x-forwarded-for"),
    header::FORWARDED,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn strip_request(headers: &mut HeaderMap) -> Option<HeaderValue> {
        let survey = Survey::of(headers);
        super::strip_request(headers, survey)
    }

    fn headers(lines: &[(&str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in lines {
            map.append(
                HeaderName::from_bytes(name.as_bytes()).expect("a name"),
                HeaderValue::from_str(value).expect("a value"),
            );
        }
        map
    }

    fn names(map: &HeaderMap) -> Vec<&str> {
        let mut names: Vec<&str> = map.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn connection_fields_and_those_it_names_go() {
        let mut map = headers(&[
            ("connection", "close, X-Secret"),
            ("connection", "x-other"),
            ("x-secret", "1"),
            ("x-other", "1"),
            ("keep-alive", "timeout=5"),
            ("te", "gzip"),
            ("transfer-encoding", "chunked"),
            ("proxy-authorization", "Basic eA=="),
            ("upgrade", "websocket"),
            ("accept", "*/*"),
        ]);
        assert_eq!(strip_request(&mut map), None, "Connection does not list upgrade");
        assert_eq!(names(&map), ["accept"]);
    }

    #[test]
    fn fields_that_others_rely_on_stay() {
        let mut map = headers(&[
            ("connection", "host, authorization"),
            ("host", "a"),
            ("authorization", "b"),
        ]);
        strip_request(&mut map);
        assert_eq!(names(&map), ["authorization", "host"]);
    }

    #[test]
    fn a_coding_goes_before_a_length() {
        let mut map = headers(&[("content-length", "3"), ("transfer-encoding", "chunked")]);
        let survey = Survey::of(&map);
        strip(&mut map, survey);
        assert!(map.is_empty());
    }

    #[test]
    fn trailers_stay_wanted() {
        let mut map = headers(&[("connection", "te"), ("te", "deflate;q=0.5, Trailers")]);
        strip_request(&mut map);
        assert_eq!(
            (map["te"].as_bytes(), map["connection"].as_bytes()),
            (&b"trailers"[..], &b"te"[..])
        );
    }

    #[test]
    fn no_upgrade_goes_past_the_limits() {
        let passed = |lines: &[&str]| {
            let mut map = headers(&[("connection", "upgrade")]);
            for line in lines {
                map.append("upgrade", HeaderValue::from_str(line).expect("a value"));
            }
            strip_request(&mut map).is_some()
        };
        assert!(passed(&["websocket"]) && passed(&["echo/2"]) && passed(&["httpecho"]));
        for protocol in ["H2C", "h2", "h2c-14", "HTTP/2.0", "http/1.1", "TLS/1.0", "tls"] {
            assert!(!passed(&[protocol]), "{protocol}");
            assert!(!passed(&[&format!("websocket, {protocol}")]), "{protocol}");
            assert!(!passed(&["websocket", protocol]), "{protocol}");
        }
    }

    #[test]
    fn upgrades_are_told_apart() {
        let mut map = headers(&[("connection", "keep-alive, Upgrade"), ("upgrade", "websocket")]);
        let protocol = strip_request(&mut map).expect("an upgrade");
        assert!(map.is_empty());
        upgrade_to(&mut map, protocol);
        assert_eq!(
            (map["upgrade"].as_bytes(), map["connection"].as_bytes()),
            (&b"websocket"[..], &b"upgrade"[..])
        );
        let mut map = headers(&[
            ("connection", "upgrade, http2-settings"),
            ("upgrade", "h2c"),
            ("http2-settings", ""),
        ]);
        assert_eq!(strip_request(&mut map), None);
        assert!(map.is_empty());
    }
}
