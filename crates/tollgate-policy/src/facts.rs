//! What is known of a request when it is decided.

use std::net::IpAddr;

use http::HeaderName;

/// The facts of one request. Everything is borrowed: deciding copies nothing.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// `GET`.
    pub method: &'a str,
    /// The authority, without scheme, as the client sent it.
    pub host: Option<&'a str>,
    /// The path as received, without the query.
    pub path: &'a str,
    /// What follows the `?`.
    pub query: Option<&'a str>,
    /// The header fields.
    pub headers: Headers<'a>,
    /// A bounded prefix of the body, where it was read.
    pub body: Option<&'a [u8]>,
    /// The client's address, found by `tollgate_http::client_address`; not yet cut to a prefix.
    pub client: Option<IpAddr>,
    /// Whether the socket's peer is a trusted proxy, so that its headers and cookies count.
    pub trusted: bool,
    /// A cost that overrides the policy's (a replay's `cost`).
    pub cost: Option<u64>,
}

impl<'a> Facts<'a> {
    /// A request of which only this is known.
    #[must_use]
    pub fn new(method: &'a str, path: &'a str, headers: Headers<'a>) -> Facts<'a> {
        Facts {
            method,
            host: None,
            path,
            query: None,
            headers,
            body: None,
            client: None,
            trusted: false,
            cost: None,
        }
    }
}

/// Header fields, wherever they are kept.
#[derive(Clone, Copy, Debug)]
pub enum Headers<'a> {
    /// Of a live request.
    Map(&'a http::HeaderMap),
    /// Of a recorded one: names in lower case.
    Pairs(&'a [(&'a str, &'a str)]),
}

impl<'a> Headers<'a> {
    /// The values of every field line called `name`, in order, without the white space around them.
    pub fn values(self, name: &HeaderName) -> impl Iterator<Item = &'a [u8]> {
        let (map, pairs) = match self {
            Headers::Map(map) => (Some(map.get_all(name).into_iter()), None),
            Headers::Pairs(pairs) => (None, Some(pairs.iter())),
        };
        let live = map.into_iter().flatten().map(http::HeaderValue::as_bytes);
        let name = name.as_str();
        let recorded = pairs.into_iter().flatten();
        let recorded =
            recorded.filter(move |(field, _)| *field == name).map(|(_, value)| value.as_bytes());
        live.chain(recorded).map(trim)
    }
}

/// `value` without the optional white space (RFC 9110, 5.6.3) around it.
fn trim(value: &[u8]) -> &[u8] {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = value.iter().position(|byte| !blank(byte)).unwrap_or(value.len());
    let end = value.iter().rposition(|byte| !blank(byte)).map_or(start, |last| last + 1);
    &value[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn live_and_recorded_fields_read_alike() {
        let pairs = [("x-user", " u1\t"), ("x-other", "o"), ("x-user", ""), ("x-user", "u 2")];
        let mut map = http::HeaderMap::new();
        for (name, value) in pairs {
            map.append(name, value.parse().expect("a value"));
        }
        let name = HeaderName::from_static("x-user");
        for headers in [Headers::Map(&map), Headers::Pairs(&pairs)] {
            let values: Vec<_> = headers.values(&name).collect();
            assert_eq!(values, [&b"u1"[..], b"", b"u 2"], "{headers:?}");
        }
    }
}
