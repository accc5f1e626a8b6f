//! A reader of one JSON line that borrows what it can: no tree, no allocation.
//!
//! It takes what RFC 8259 takes, and says where it stopped. Numbers stay text, so that none passes through a double.

use std::borrow::Cow;

use super::BadLine;

/// How deep a value that nobody asked for may be nested.
const DEEPEST: usize = 64;

/// A place in a JSON text.
#[derive(Debug)]
pub(crate) struct Json<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Json<'a> {
    pub(crate) fn new(text: &'a str) -> Json<'a> {
        Json { text, at: 0 }
    }

    /// Where it is, in bytes.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The next byte that is not space, which stays.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    /// Takes `byte` if it is next.
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Takes `byte`, or says what was wanted.
    pub(crate) fn expect(&mut self, byte: u8, wanted: &str) -> Result<(), BadLine> {
        if self.eat(byte) { Ok(()) } else { Err(self.wrong(wanted)) }
    }

    /// Nothing but space may follow.
    pub(crate) fn end(&mut self) -> Result<(), BadLine> {
        if self.peek().is_none() { Ok(()) } else { Err(self.wrong("the end of the line")) }
    }

    /// Takes `null` if it is next.
    pub(crate) fn null(&mut self) -> bool {
        let found = self.peek() == Some(b'n') && self.rest().starts_with(b"null");
        self.at += if found { 4 } else { 0 };
        found
    }

    /// Takes an object; `field` takes the value of each name.
    pub(crate) fn object(
        &mut self,
        mut field: impl FnMut(&mut Json<'a>, &str) -> Result<(), BadLine>,
    ) -> Result<(), BadLine> {
        self.expect(b'{', "an object, `{`")?;
        if self.eat(b'}') {
            return Ok(());
        }
        loop {
            let name = self.name()?;
            self.expect(b':', "a `:`")?;
            field(self, &name)?;
            if self.eat(b'}') {
                return Ok(());
            }
            self.expect(b',', "a `,` or the object's end, `}`")?;
        }
    }

    /// Takes a string: as it lies in the text where it has no escapes, else decoded into `scratch`.
    pub(crate) fn string<'s>(&mut self, scratch: &'s mut String) -> Result<&'s str, BadLine>
    where
        'a: 's,
    {
        match self.borrowed()? {
            Ok(whole) => Ok(whole),
            Err(start) => {
                self.decode(start, scratch)?;
                Ok(scratch)
            }
        }
    }

    /// Takes a string that hardly ever has escapes.
    fn name(&mut self) -> Result<Cow<'a, str>, BadLine> {
        match self.borrowed()? {
            Ok(whole) => Ok(Cow::Borrowed(whole)),
            Err(start) => {
                let mut decoded = String::new();
                self.decode(start, &mut decoded)?;
                Ok(Cow::Owned(decoded))
            }
        }
    }

    /// Takes a string without escapes, or (`Err`) one's start before its first escape.
    fn borrowed(&mut self) -> Result<Result<&'a str, &'a str>, BadLine> {
        self.expect(b'"', "a string, `\"`")?;
        let plain = self.plain();
        if !self.next_is(b'"') {
            return Ok(Err(plain));
        }
        self.at += 1;
        Ok(Ok(plain))
    }

    /// Takes the rest of a string, into `scratch` behind its `start`.
    fn decode(&mut self, start: &str, scratch: &mut String) -> Result<(), BadLine> {
        scratch.clear();
        scratch.push_str(start);
        while !self.next_is(b'"') {
            if !self.next_is(b'\\') {
                return Err(
                    self.wrong("the string's end, `\"`, and no control characters before it")
                );
            }
            self.at += 1;
            scratch.push(self.escape()?);
            scratch.push_str(self.plain());
        }
        self.at += 1;
        Ok(())
    }

    /// Takes a number, as it is written.
    pub(crate) fn number(&mut self) -> Result<&'a str, BadLine> {
        self.peek();
        let count = number_length(self.rest()).ok_or_else(|| self.wrong("a number"))?;
        let start = self.at;
        self.at += count;
        Ok(&self.text[start..self.at])
    }

    /// Takes any value, and forgets it.
    pub(crate) fn skip(&mut self) -> Result<(), BadLine> {
        self.skip_to(DEEPEST)
    }

    fn skip_to(&mut self, deeper: usize) -> Result<(), BadLine> {
        match self.peek() {
            Some(b'"') => self.name().map(|_| ()),
            Some(b'{' | b'[') if deeper == 0 => Err(self.wrong("fewer than 64 nested values")),
            Some(b'{') => self.object(|json, _| json.skip_to(deeper - 1)),
            Some(b'[') => self.array(|json| json.skip_to(deeper - 1)),
            Some(b'-' | b'0'..=b'9') => self.number().map(|_| ()),
            _ => {
                let word = [&b"null"[..], b"true", b"false"]
                    .into_iter()
                    .find(|word| self.rest().starts_with(word));
                self.at += word.map(<[u8]>::len).ok_or_else(|| self.wrong("a value"))?;
                Ok(())
            }
        }
    }

    /// Takes an array; `item` takes each of its values.
    pub(crate) fn array(
        &mut self,
        mut item: impl FnMut(&mut Json<'a>) -> Result<(), BadLine>,
    ) -> Result<(), BadLine> {
        self.expect(b'[', "a list, `[`")?;
        if self.eat(b']') {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.eat(b']') {
                return Ok(());
            }
            self.expect(b',', "a `,` or the list's end, `]`")?;
        }
    }

    /// What was wanted here, and what is here.
    pub(crate) fn wrong(&self, wanted: &str) -> BadLine {
        let found = match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some(found) => format!("{found:?}"),
            None => "the end of the line".to_owned(),
        };
        BadLine::new(format!("column {}: expected {wanted}, found {found}", self.at + 1))
    }

    /// Takes what needs no decoding.
    fn plain(&mut self) -> &'a str {
        let start = self.at;
        let count = plain_length(self.rest());
        self.at += count;
        &self.text[start..self.at]
    }

    /// Takes what follows a backslash.
    fn escape(&mut self) -> Result<char, BadLine> {
        let byte = self.rest().first().copied();
        let decoded = match byte {
            Some(b'"' | b'\\' | b'/') => char::from(byte.unwrap_or_default()),
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.wrong("one of the escapes that JSON has")),
        };
        self.at += 1;
        Ok(decoded)
    }

    /// Takes `uXXXX`, and the second half of a pair where the first asks for one.
    fn unicode(&mut self) -> Result<char, BadLine> {
        let first = self.hexadecimal()?;
        let code = if (0xd800..0xdc00).contains(&first) && self.next_is(b'\\') {
            self.at += 1;
            let second = self.hexadecimal()?;
            if !(0xdc00..0xe000).contains(&second) {
                return Err(self.wrong("the second half of a surrogate pair before this"));
            }
            0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
        } else {
            first
        };
        char::from_u32(code).ok_or_else(|| self.wrong("a pair for the surrogate before this"))
    }

    fn hexadecimal(&mut self) -> Result<u32, BadLine> {
        let digits = self
            .rest()
            .get(..5)
            .filter(|rest| rest[0] == b'u' && rest[1..].iter().all(u8::is_ascii_hexdigit));
        let code = digits.map(|digits| {
            digits[1..].iter().fold(0, |sum, digit| {
                sum * 16 + char::from(*digit).to_digit(16).unwrap_or_default()
            })
        });
        let code = code.ok_or_else(|| self.wrong("`u` and four hexadecimal digits"))?;
        self.at += 5;
        Ok(code)
    }

    fn next_is(&self, byte: u8) -> bool {
        self.rest().first() == Some(&byte)
    }

    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }
}

/// How many bytes at the start of `text` are a JSON number; `None`: they are none.
fn number_length(text: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        text.get(from..)
            .map_or(0, |rest| rest.iter().take_while(|byte| byte.is_ascii_digit()).count())
    };
    let mut at = usize::from(text.first() == Some(&b'-'));
    let whole = digits(at);
    if whole == 0 || (whole > 1 && text[at] == b'0') {
        return None;
    }
    at += whole;
    if text.get(at) == Some(&b'.') {
        at += 1 + Some(digits(at + 1)).filter(|count| *count > 0)?;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        at += 1 + usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        at += Some(digits(at)).filter(|count| *count > 0)?;
    }
    Some(at)
}

/// How many bytes at the start of `text` stand for themselves in a string: up to a quote, a backslash or a control
/// character. (A call for each string is quicker than a loop for each of its callers, whose registers are full.)
#[inline(never)]
pub(super) fn plain_length(text: &[u8]) -> usize {
    length(text, not_plain, |byte| matches!(byte, 0..0x20 | b'"' | b'\\'))
}

/// The same, up to a question mark.
#[inline(never)]
pub(super) fn path_length(text: &[u8]) -> usize {
    let ends = |word| not_plain(word) | equal_to(word, b'?');
    length(text, ends, |byte| matches!(byte, 0..0x20 | b'"' | b'\\' | b'?'))
}

/// How many bytes of `text` stand before the first that `ends` it. Eight are looked at together: `end_in` tells the first
/// of them by the lowest bit that is set.
#[inline(always)]
fn length(text: &[u8], end_in: impl Fn(u64) -> u64, ends: impl Fn(&u8) -> bool) -> usize {
    let mut rest = text;
    while let Some((word, after)) = rest.split_first_chunk() {
        let found = end_in(u64::from_le_bytes(*word));
        if found != 0 {
            return text.len() - rest.len() + (found.trailing_zeros() / 8) as usize;
        }
        rest = after;
    }
    text.len() - rest.len() + rest.iter().take_while(|byte| !ends(byte)).count()
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The lowest bit that is set is the highest of the first byte that is a quote, a backslash or a control character; no bit
/// is set where there is none. (A borrow can set bits of later bytes only.)
#[inline]
fn not_plain(word: u64) -> u64 {
    // Exclusive or with 2 puts the quote, 0x22, right behind the control characters and moves none of these out.
    let quote_or_control = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21) & !word & HIGHS;
    quote_or_control | equal_to(word, b'\\')
}

/// The same for the first byte that is `byte`, which is ASCII.
#[inline]
fn equal_to(word: u64, byte: u8) -> u64 {
    (word ^ (ONES * u64::from(byte))).wrapping_sub(ONES) & !word & HIGHS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn plain_bytes_are_counted_as_one_by_one(text in prop::collection::vec(any::<u8>(), 0..40), at in 0usize..60, end in 0usize..4) {
            let mut text: Vec<u8> = text.iter().map(|byte| byte | 0x80 | 0x40).collect();
            if let Some(byte) = text.get_mut(at) {
                *byte = [b'"', b'\\', 0x1f, b'!'][end];
            }
            let one_by_one = text.iter().position(|byte| *byte < 0x20 || *byte == b'"' || *byte == b'\\');
            prop_assert_eq!(plain_length(&text), one_by_one.unwrap_or(text.len()));
        }

        #[test]
        fn any_bytes_are_counted_as_one_by_one(text in prop::collection::vec(0u8..0x80, 0..40)) {
            let one_by_one = text.iter().position(|byte| *byte < 0x20 || *byte == b'"' || *byte == b'\\');
            prop_assert_eq!(plain_length(&text), one_by_one.unwrap_or(text.len()));
        }

        #[test]
        fn a_path_ends_before_its_query(text in "[a-z/é]{0,20}[?\"\\\\]{0,3}[a-z]{0,9}") {
            let one_by_one = text.bytes().position(|byte| matches!(byte, b'?' | b'"' | b'\\'));
            prop_assert_eq!(path_length(text.as_bytes()), one_by_one.unwrap_or(text.len()));
        }
    }
}
