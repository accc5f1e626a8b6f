//! Percent escapes in queries, forms and path segments.

use std::borrow::Cow;

/// The values of the parameters called `name`, in order: escapes decoded, `+` a space
/// (`application/x-www-form-urlencoded`). A `%` without two digits is itself.
pub(crate) fn parameters<'a>(query: &'a [u8], name: &str) -> impl Iterator<Item = Cow<'a, [u8]>> {
    query.split(|byte| *byte == b'&').filter_map(move |pair| {
        let mut halves = pair.splitn(2, |byte| *byte == b'=');
        let (key, value) = (halves.next().unwrap_or(b""), halves.next().unwrap_or(b""));
        let key = Decoded { rest: key, plus: true };
        key.eq(name.bytes()).then(|| decode(value, true))
    })
}

/// `text` with its escapes decoded, once; with `plus`, a `+` becomes a space.
pub(crate) fn decode(text: &[u8], plus: bool) -> Cow<'_, [u8]> {
    let special = |byte: &u8| *byte == b'%' || (plus && *byte == b'+');
    if !text.iter().any(special) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(Decoded { rest: text, plus }.collect())
}

/// The bytes of a text whose escapes are decoded as it is read.
struct Decoded<'a> {
    rest: &'a [u8],
    plus: bool,
}

impl Iterator for Decoded<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        let (&byte, tail) = self.rest.split_first()?;
        self.rest = tail;
        match (byte, byte_of(tail)) {
            (b'%', Some(value)) => {
                self.rest = &tail[2..];
                Some(value)
            }
            (b'+', _) if self.plus => Some(b' '),
            _ => Some(byte),
        }
    }
}

/// The byte that the two hexadecimal digits at the start of `text` stand for.
fn byte_of(text: &[u8]) -> Option<u8> {
    let digit = |place: usize| char::from(*text.get(place)?).to_digit(16);
    Some((digit(0)? * 16 + digit(1)?) as u8)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{decode, parameters};

    #[test]
    fn parameters_are_decoded() {
        let cases: [(&str, &[&[u8]]); 7] = [
            ("user=u1", &[b"u1"]),
            ("a=1&us%65r=a+b%20c&b", &[b"a b c"]),
            ("user=a&user=b", &[b"a", b"b"]),
            ("user", &[b""]),
            ("user=a%3Db%26c=d", &[b"a=b&c=d"]),
            ("user=100%&x", &[b"100%"]),
            ("User=x&&=", &[]),
        ];
        for (query, values) in cases {
            let found: Vec<_> = parameters(query.as_bytes(), "user").collect();
            assert_eq!(found, values, "{query}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_decode(text in prop::collection::vec(any::<u8>(), 0..64), plus: bool) {
            prop_assert!(decode(&text, plus).len() <= text.len());
        }
    }
}
