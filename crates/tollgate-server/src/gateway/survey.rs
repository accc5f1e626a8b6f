//! One look at a message's fields: which of those that the gateway minds are there. A look-up in the map costs as much as
//! passing by all fields of a common request, and most requests have none of them.

use http::header::HeaderMap;

use super::disguised::is_disguised;

/// A field that the gateway minds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Field {
    Connection,
    ContentLength,
    Forwarded,
    Host,
    KeepAlive,
    ProxyAuthenticate,
    ProxyAuthorization,
    ProxyConnection,
    Te,
    TransferEncoding,
    Upgrade,
    ForwardedFor,
    ForwardedHost,
    ForwardedProto,
    /// One of the gateway's own in disguise.
    Disguised,
    /// Connection says more than that it is kept or closed: it may name fields.
    Named,
}

/// What is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Survey {
    once: u16,
    again: u16,
    /// As the fields stand on the wire: each with its colon, a space and a line end.
    pub(super) bytes: usize,
}

impl Survey {
    /// Of `headers`.
    pub(super) fn of(headers: &HeaderMap) -> Survey {
        let mut survey = Survey::default();
        for (name, value) in headers {
            survey.bytes += name.as_str().len() + value.len() + 4;
            if let Some(field) = Field::named(name.as_str()) {
                survey.again |= survey.once & field.bit();
                match field {
                    // A list is several lengths, and what is no number is none.
                    Field::ContentLength if !is_length(value.as_bytes()) => {
                        survey.again |= field.bit();
                    }
                    Field::Connection if !names_nothing(value.as_bytes()) => {
                        survey.note(Field::Named);
                    }
                    _ => {}
                }
                survey.note(field);
            }
        }
        survey
    }

    /// `field` is there now.
    pub(super) fn note(&mut self, field: Field) {
        self.once |= field.bit();
    }

    /// `field` is there.
    pub(super) fn has(self, field: Field) -> bool {
        self.once & field.bit() != 0
    }

    /// `field` is there more than once; a length also where it cannot be read as one.
    pub(super) fn repeats(self, field: Field) -> bool {
        self.again & field.bit() != 0
    }
}

impl Field {
    fn bit(self) -> u16 {
        1 << self as u8
    }

    fn named(name: &str) -> Option<Field> {
        // By length first: most names are told apart by it.
        Some(match (name.len(), name) {
            (2, "te") => Field::Te,
            (4, "host") => Field::Host,
            (7, "upgrade") => Field::Upgrade,
            (9, "forwarded") => Field::Forwarded,
            (10, "connection") => Field::Connection,
            (10, "keep-alive") => Field::KeepAlive,
            (14, "content-length") => Field::ContentLength,
            (15, "x-forwarded-for") => Field::ForwardedFor,
            (16, "proxy-connection") => Field::ProxyConnection,
            (16, "x-forwarded-host") => Field::ForwardedHost,
            (17, "transfer-encoding") => Field::TransferEncoding,
            (17, "x-forwarded-proto") => Field::ForwardedProto,
            (18, "proxy-authenticate") => Field::ProxyAuthenticate,
            (19, "proxy-authorization") => Field::ProxyAuthorization,
            (_, name) if is_disguised(name) => Field::Disguised,
            _ => return None,
        })
    }
}

/// Connection is what it is most often: one word that names no field but those that go in any case.
fn names_nothing(connection: &[u8]) -> bool {
    matches!(connection, b"keep-alive" | b"close")
}

/// Whether `text` is a length as HTTP writes it: digits alone, of at most 64 bits.
fn is_length(text: &[u8]) -> bool {
    !text.is_empty()
        && text
            .iter()
            .try_fold(0_u64, |sum, byte| {
                let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
                sum.checked_mul(10)?.checked_add(digit.into())
            })
            .is_some()
}

#[cfg(test)]
mod tests {
    use http::header::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn what_is_there_is_seen_once_or_more() {
        let mut headers = HeaderMap::new();
        for (name, value) in [("Host", "a"), ("TE", "trailers"), ("te", "gzip"), ("x-a", "b")] {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
            headers.append(name, HeaderValue::from_static(value));
        }
        let survey = Survey::of(&headers);
        assert!(survey.has(Field::Host) && !survey.repeats(Field::Host));
        assert!(survey.repeats(Field::Te));
        assert!(!survey.has(Field::Connection));
        assert_eq!(survey.bytes, "Host: a\r\nTE: trailers\r\nte: gzip\r\nx-a: b\r\n".len());
    }

    #[test]
    fn every_name_is_known_by_its_length() {
        for name in [
            "connection",
            "content-length",
            "forwarded",
            "host",
            "keep-alive",
            "proxy-authenticate",
            "proxy-authorization",
            "proxy-connection",
            "te",
            "transfer-encoding",
            "upgrade",
            "x-forwarded-for",
            "x-forwarded-host",
            "x-forwarded-proto",
            "x_forwarded_for",
        ] {
            assert!(Field::named(name).is_some(), "{name}");
        }
        assert_eq!(Field::named("x-forwarded-fox"), None);
    }
}
