//! How identity values are spelt within a key, so that no two tuples of values are spelt alike.
//!
//! A key is its values' spellings, one after the other. Each begins with a byte that says of what kind it is and tells
//! where it ends, so a key can be read back in one way only, and what a client writes is never taken for an address, a
//! default or a missing value.

use std::net::IpAddr;

/// Nothing there: a bucket that no client can name.
const MISSING: u8 = 0;
/// An address: family, prefix, bits.
const ADDRESS: u8 = 1;
/// A value: the place of its source, length, bytes.
const VALUE: u8 = 2;

/// The place of a source that stands for an identity's default.
pub(crate) const DEFAULT_SOURCE: u8 = u8::MAX;

/// Kind, source and length.
const HEAD: u32 = 6;

/// Spellings of one request's values, and of the keys that consist of several.
#[derive(Debug, Default)]
pub(crate) struct Spellings {
    bytes: Vec<u8>,
}

/// Where one spelling is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    start: u32,
    text: u32,
    end: u32,
}

impl Spellings {
    /// Forgets all of them and keeps the room.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Spells a value of the identity's `source`-th source; `None` where it is empty. `fold` may change its text.
    #[inline]
    pub(crate) fn value(&mut self, source: u8, text: &[u8], fold: bool) -> Option<Part> {
        if fold { self.folded(source, text) } else { self.verbatim(source, text) }
    }

    fn folded(&mut self, source: u8, text: &[u8]) -> Option<Part> {
        if !text.is_ascii() {
            return self.verbatim(source, &crate::identity::fold(text));
        }
        let part = self.verbatim(source, text)?;
        self.bytes[part.text as usize..].make_ascii_lowercase();
        Some(part)
    }

    #[inline]
    fn verbatim(&mut self, source: u8, text: &[u8]) -> Option<Part> {
        // Beyond 4 GiB no header, query or path comes.
        let start = u32::try_from(self.bytes.len()).ok()?;
        let length = u32::try_from(text.len()).ok().filter(|length| *length > 0)?;
        let text_start = start.checked_add(HEAD)?;
        let end = text_start.checked_add(length)?;
        let [a, b, c, d] = length.to_le_bytes();
        self.bytes.reserve(HEAD as usize + text.len());
        self.bytes.extend_from_slice(&[VALUE, source, a, b, c, d]);
        self.bytes.extend_from_slice(text);
        Some(Part { start, text: text_start, end })
    }

    /// Spells a missing value.
    pub(crate) fn missing(&mut self) -> Part {
        let start = self.bytes.len() as u32;
        self.bytes.push(MISSING);
        Part { start, text: start + 1, end: start + 1 }
    }

    /// Spells the key that consists of `parts`.
    pub(crate) fn joined(&mut self, parts: &[Part]) -> Part {
        let start = self.bytes.len() as u32;
        for part in parts {
            self.bytes.extend_from_within(part.start as usize..part.end as usize);
        }
        let end = self.bytes.len() as u32;
        Part { start, text: end, end }
    }

    /// Spells an address, already cut to `prefix` where it is IPv6.
    pub(crate) fn address(&mut self, address: IpAddr, prefix: u8) -> Part {
        let start = self.bytes.len() as u32;
        match address {
            IpAddr::V4(four) => {
                self.bytes.extend_from_slice(&[ADDRESS, 4]);
                self.bytes.extend_from_slice(&four.octets());
            }
            IpAddr::V6(six) => {
                self.bytes.extend_from_slice(&[ADDRESS, 6, prefix]);
                self.bytes.extend_from_slice(&six.octets());
            }
        }
        let end = self.bytes.len() as u32;
        Part { start, text: end, end }
    }

    /// The spelling at `part`.
    pub(crate) fn spelling(&self, part: Part) -> &[u8] {
        &self.bytes[part.start as usize..part.end as usize]
    }

    /// The value's text at `part`; empty for an address.
    pub(crate) fn text(&self, part: Part) -> &[u8] {
        &self.bytes[part.text as usize..part.end as usize]
    }
}

/// A key as a person reads it: its values, with a comma between them; `(none)` where a value is missing. The key of a
/// limit that counts everybody together is `(everybody)`. It is for an operator's own eyes: the values stand as they are.
#[must_use]
pub fn readable_key(key: &[u8]) -> String {
    let mut rest = key;
    let mut parts = Vec::new();
    while let Some((part, after)) = read_part(rest) {
        parts.push(part);
        rest = after;
    }
    if parts.is_empty() { "(everybody)".to_owned() } else { parts.join(", ") }
}

/// The first part of a key to be read, and what follows it; `None` at the end, and where nothing was spelt as here.
fn read_part(key: &[u8]) -> Option<(String, &[u8])> {
    let (kind, rest) = key.split_first()?;
    match *kind {
        MISSING => Some(("(none)".to_owned(), rest)),
        ADDRESS => {
            let (family, rest) = rest.split_first()?;
            if *family == 4 {
                let (octets, rest) = rest.split_first_chunk::<4>()?;
                return Some((IpAddr::from(*octets).to_string(), rest));
            }
            let (prefix, rest) = rest.split_first()?;
            let (octets, rest) = rest.split_first_chunk::<16>()?;
            Some((format!("{}/{prefix}", IpAddr::from(*octets)), rest))
        }
        _ => {
            let (length, rest) = rest.get(1..)?.split_first_chunk::<4>()?;
            let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
            let (text, rest) = rest.split_at_checked(length)?;
            Some((String::from_utf8_lossy(text).into_owned(), rest))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    enum Word {
        Missing,
        Address(IpAddr),
        Value(u8, Vec<u8>),
    }

    fn word() -> impl Strategy<Value = Word> {
        let four = any::<u32>().prop_map(|bits| IpAddr::V4(Ipv4Addr::from_bits(bits)));
        let six = any::<u128>().prop_map(|bits| IpAddr::V6(Ipv6Addr::from_bits(bits)));
        prop_oneof![
            Just(Word::Missing),
            four.prop_map(Word::Address),
            six.prop_map(Word::Address),
            // Few bytes and short texts, so that tuples often nearly agree.
            (0_u8..3, prop::collection::vec(0_u8..4, 1..8)).prop_map(|(s, t)| Word::Value(s, t)),
        ]
    }

    fn key(words: &[Word]) -> Vec<u8> {
        let mut spellings = Spellings::default();
        let mut part = |word: &Word| match word {
            Word::Missing => spellings.missing(),
            Word::Address(address) => spellings.address(*address, 64),
            Word::Value(source, text) => spellings.value(*source, text, false).expect("not empty"),
        };
        let parts: Vec<_> = words.iter().map(&mut part).collect();
        let key = spellings.joined(&parts);
        spellings.spelling(key).to_vec()
    }

    proptest! {
        #[test]
        fn keys_are_injective(
            a in prop::collection::vec(word(), 0..4),
            b in prop::collection::vec(word(), 0..4),
        ) {
            prop_assert_eq!(a == b, key(&a) == key(&b));
        }
    }

    #[test]
    fn keys_can_be_read() {
        let words = [
            Word::Value(0, b"ada".to_vec()),
            Word::Address(IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9))),
            Word::Address(IpAddr::V6(Ipv6Addr::from_bits(0x2001_0db8 << 96))),
            Word::Missing,
        ];
        assert_eq!(readable_key(&key(&words)), "ada, 203.0.113.9, 2001:db8::/64, (none)");
        assert_eq!(readable_key(&key(&[])), "(everybody)");
        assert_eq!(readable_key(&[2, 0, 9, 0, 0, 0, b'x']), "(everybody)");
    }

    proptest! {
        #[test]
        fn no_key_panics(key in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = readable_key(&key);
        }
    }

    #[test]
    fn an_empty_value_is_none() {
        let mut spellings = Spellings::default();
        assert_eq!(spellings.value(0, b"", false), None);
        let part = spellings.value(0, b"x", false).expect("a value");
        assert_eq!(spellings.text(part), b"x");
    }
}
