//! What a request's body is, as its head says: a JSON document, a form, or nothing that is read.

use http::header::{CONTENT_ENCODING, CONTENT_TYPE};

use super::Single;
use crate::{Facts, Headers};

/// A body, as it is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content<'a> {
    Json(&'a [u8]),
    Form(&'a [u8]),
    /// Nothing that is read: it was not shown, is too long, compressed, or of another type.
    Nothing,
    /// It is said to be of several types.
    Several,
}

impl Content<'_> {
    /// What it says to one who looks for another content.
    pub(super) fn says_nothing<T>(self) -> Single<T> {
        if self == Content::Several { Single::Several } else { Single::Absent }
    }
}

/// The body of `facts`, if it has at most `most` bytes.
pub(super) fn content<'a>(facts: &Facts<'a>, most: usize) -> Content<'a> {
    let Some(body) = facts.body.filter(|body| body.len() <= most) else { return Content::Nothing };
    if is_coded(facts.headers) {
        return Content::Nothing;
    }
    match facts.headers.single(&CONTENT_TYPE) {
        Single::Several => Content::Several,
        Single::Absent if body.iter().all(|byte| is_of_form(*byte)) => Content::Form(body),
        Single::Absent => Content::Json(body),
        Single::One(kind) => match Kind::of(kind) {
            Kind::Json => Content::Json(body),
            Kind::Form => Content::Form(body),
            Kind::Other => Content::Nothing,
        },
    }
}

/// Whether a body behind `headers` may say who sends it, if it is read.
pub(crate) fn may_speak(headers: Headers<'_>) -> bool {
    let kind = headers.single(&CONTENT_TYPE);
    let typed = match kind {
        Single::One(kind) => Kind::of(kind) != Kind::Other,
        Single::Absent => true,
        Single::Several => false,
    };
    typed && !is_coded(headers)
}

/// A body in a coding would have to be undone, without a bound that is known.
fn is_coded(headers: Headers<'_>) -> bool {
    headers
        .values(&CONTENT_ENCODING)
        .any(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Json,
    Form,
    Other,
}

impl Kind {
    /// The kind of a media type, parameters aside: JSON also by its suffix (RFC 6839).
    fn of(content_type: &[u8]) -> Kind {
        let essence = content_type.split(|byte| *byte == b';').next().unwrap_or_default();
        let essence = essence.trim_ascii();
        let ends_with = |suffix: &[u8]| {
            let start = essence.len().checked_sub(suffix.len());
            start.is_some_and(|start| essence[start..].eq_ignore_ascii_case(suffix))
        };
        if essence.eq_ignore_ascii_case(b"application/x-www-form-urlencoded") {
            Kind::Form
        } else if essence.eq_ignore_ascii_case(b"application/json")
            || essence.eq_ignore_ascii_case(b"text/json")
            || ends_with(b"+json")
        {
            Kind::Json
        } else {
            Kind::Other
        }
    }
}

/// Whether a form may hold `byte` (RFC 3986, 3.4). No object or list in JSON holds such bytes alone, so a body whose type
/// is not said is one or the other.
fn is_of_form(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=:@/?".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'a>(pairs: &'a [(&'a str, &'a str)], body: &'a str) -> Content<'a> {
        let headers = Headers::Pairs(pairs);
        let facts = Facts { body: Some(body.as_bytes()), ..Facts::new("POST", "/", headers) };
        let found = content(&facts, 20);
        let read = matches!(found, Content::Json(_) | Content::Form(_));
        assert!(!read || may_speak(headers), "what is not asked for is not read: {pairs:?}");
        found
    }

    fn typed(kind: &str) -> &'static str {
        match read(&[("content-type", kind)], "{}") {
            Content::Json(_) => "json",
            Content::Form(_) => "form",
            Content::Nothing => "nothing",
            Content::Several => "several",
        }
    }

    #[test]
    fn types_say_what_a_body_is() {
        for (kind, wanted) in [
            ("application/json", "json"),
            ("Application/JSON; charset=utf-8", "json"),
            ("application/vnd.api+json", "json"),
            ("text/json", "json"),
            ("application/x-www-form-urlencoded;charset=UTF-8", "form"),
            ("multipart/form-data; boundary=x", "nothing"),
            ("text/plain", "nothing"),
            ("application/jsonx", "nothing"),
            ("json", "nothing"),
        ] {
            assert_eq!(typed(kind), wanted, "{kind}");
        }
        let twice = [("content-type", "application/json"), ("content-type", "text/plain")];
        assert_eq!(read(&twice, "{}"), Content::Several);
    }

    #[test]
    fn a_body_without_a_type_is_what_it_looks_like() {
        assert_eq!(read(&[], r#"{"user":"a&user=b"}"#), Content::Json(br#"{"user":"a&user=b"}"#));
        assert_eq!(read(&[], "user=ada%40a.example"), Content::Form(b"user=ada%40a.example"));
        assert_eq!(read(&[("content-type", "")], "user=a"), Content::Form(b"user=a"));
    }

    #[test]
    fn long_and_compressed_bodies_are_not_read() {
        let json = ("content-type", "application/json");
        assert_eq!(read(&[json], "123456789 123456789 "), Content::Json(b"123456789 123456789 "));
        assert_eq!(read(&[json], "123456789 123456789 1"), Content::Nothing);
        assert_eq!(read(&[json, ("content-encoding", "gzip")], "{}"), Content::Nothing);
        assert_eq!(read(&[json, ("content-encoding", "Identity")], "{}"), Content::Json(b"{}"));
        let twice = [json, ("content-encoding", "identity"), ("content-encoding", "br")];
        assert_eq!(read(&twice, "{}"), Content::Nothing);
    }
}
