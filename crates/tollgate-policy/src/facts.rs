//! What is known of a request when it is decided.

use std::net::IpAddr;

use http::header::{HOST, ValueIter};
use http::{HeaderName, HeaderValue};

use crate::ClientCertificate;
use crate::identity::Single;

/// The facts of one request. Everything is borrowed: deciding copies nothing.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// `GET`.
    pub method: &'a str,
    /// The authority of the target, where it names one. Else the `Host` field says who is asked (RFC 9112, 3.2.2): see
    /// [`Facts::host`].
    pub authority: Option<&'a str>,
    /// The path as received, without the query.
    pub path: &'a str,
    /// The name of the listener that it came by; none in a replay.
    pub listener: Option<&'a str>,
    /// What follows the `?`.
    pub query: Option<&'a str>,
    /// The header fields.
    pub headers: Headers<'a>,
    /// The whole body, where it was read. Not a part of it: nobody can tell what a part means.
    pub body: Option<&'a [u8]>,
    /// The client's address, found by `tollgate_http::client_address`; not yet cut to a prefix.
    pub client: Option<IpAddr>,
    /// What its certificate says, where it showed one that was verified.
    pub certificate: Option<&'a ClientCertificate>,
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
            authority: None,
            listener: None,
            path,
            query: None,
            headers,
            body: None,
            client: None,
            certificate: None,
            trusted: false,
            cost: None,
        }
    }

    /// Who is asked, as the client sent it: the target's authority, or else the `Host` field. It is looked for only where a
    /// policy asks.
    #[must_use]
    pub fn host(&self) -> Option<&'a str> {
        self.authority.or_else(|| match self.headers {
            Headers::Map(map) => map.get(HOST)?.to_str().ok(),
            Headers::Pairs(pairs) => {
                pairs.iter().find(|(name, _)| *name == HOST.as_str()).map(|(_, value)| *value)
            }
        })
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
    pub fn values<'n>(self, name: &'n HeaderName) -> impl Iterator<Item = &'a [u8]> + use<'a, 'n> {
        let values = match self {
            Headers::Map(map) => Values::Map(map.get_all(name).into_iter()),
            Headers::Pairs(pairs) => Values::Pairs(pairs.iter(), name.as_str()),
        };
        values.map(trim)
    }

    /// What the field lines called `name` say together.
    #[inline(always)]
    pub(crate) fn single(self, name: &HeaderName) -> Single<&'a [u8]> {
        // Not by way of `values`: a loop for each form is much shorter, and every identity of every request comes here.
        match self {
            Headers::Map(map) => single_in(map, name),
            Headers::Pairs(pairs) => {
                let name = name.as_str();
                together(pairs.iter().filter(|(field, _)| *field == name).map(|(_, value)| value))
            }
        }
    }
}

/// So many lines are compared with a name in the time that it takes to hash it.
const FEW_LINES: usize = 8;

#[inline(never)]
fn single_in<'a>(map: &'a http::HeaderMap, name: &HeaderName) -> Single<&'a [u8]> {
    if map.len() <= FEW_LINES {
        together(map.iter().filter(|(field, _)| *field == name).map(|(_, value)| value))
    } else {
        together(map.get_all(name).into_iter())
    }
}

/// What the values of one name's field lines say together.
#[inline(always)]
fn together<'a>(
    lines: impl Iterator<Item = &'a (impl AsRef<[u8]> + ?Sized + 'a)>,
) -> Single<&'a [u8]> {
    let mut said = &[][..];
    for line in lines {
        let value = trim(line.as_ref());
        if said.is_empty() {
            said = value;
        } else if !value.is_empty() && value != said {
            return Single::Several;
        }
    }
    if said.is_empty() { Single::Absent } else { Single::One(said) }
}

/// The values of one name's field lines, as they stand.
enum Values<'a, 'n> {
    Map(ValueIter<'a, HeaderValue>),
    Pairs(std::slice::Iter<'a, (&'a str, &'a str)>, &'n str),
}

impl<'a> Iterator for Values<'a, '_> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        match self {
            Values::Map(lines) => lines.next().map(HeaderValue::as_bytes),
            Values::Pairs(lines, name) => {
                lines.find(|(field, _)| field == name).map(|(_, value)| value.as_bytes())
            }
        }
    }
}

/// `value` without the optional white space (RFC 9110, 5.6.3) around it.
fn trim(value: &[u8]) -> &[u8] {
    let mut value = value;
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
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
            assert_eq!(headers.single(&name), Single::Several, "{headers:?}");
            let other = HeaderName::from_static("x-other");
            assert_eq!(headers.single(&other), Single::One(&b"o"[..]), "{headers:?}");
        }
    }

    #[test]
    fn a_field_is_found_among_few_lines_and_among_many() {
        let name = HeaderName::from_static("x-user");
        for others in 0..2 * FEW_LINES {
            let mut map = http::HeaderMap::new();
            let said = |map: &mut http::HeaderMap, value: Option<&'static str>| {
                let value = value.map(http::HeaderValue::from_static);
                value.map(|value| map.append(&name, value));
                let found = Headers::Map(map).single(&name);
                found.map(|value| String::from_utf8_lossy(value).into_owned())
            };
            for other in 0..others {
                let other = HeaderName::try_from(format!("x-user-{other}")).expect("a name");
                map.append(other, http::HeaderValue::from_static("o"));
            }
            assert_eq!(said(&mut map, None), Single::Absent, "{others}");
            assert_eq!(said(&mut map, Some("ada")), Single::One("ada".to_owned()), "{others}");
            assert_eq!(said(&mut map, Some(" ada")), Single::One("ada".to_owned()), "{others}");
            assert_eq!(said(&mut map, Some("bob")), Single::Several, "{others}");
        }
    }

    #[test]
    fn the_host_is_the_targets_or_the_fields() {
        let pairs = [("host", "field.example")];
        let mut map = http::HeaderMap::new();
        map.insert(HOST, http::HeaderValue::from_static("field.example"));
        for headers in [Headers::Map(&map), Headers::Pairs(&pairs)] {
            let facts = Facts::new("GET", "/", headers);
            assert_eq!(facts.host(), Some("field.example"));
            let facts = Facts { authority: Some("target.example"), ..facts };
            assert_eq!(facts.host(), Some("target.example"));
        }
        assert_eq!(Facts::new("GET", "/", Headers::Pairs(&[])).host(), None);
    }
}
