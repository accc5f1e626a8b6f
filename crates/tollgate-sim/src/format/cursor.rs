//! Values of a line in their usual forms: what is not in its usual form is left to the readers that take every form.

use std::net::{IpAddr, Ipv4Addr};
use std::ops::Range;

use super::json::{path_length, plain_length};
use super::number::LARGEST;

/// Bytes to be compared with a place of a line.
#[derive(Debug)]
pub(super) struct Literal {
    text: Box<[u8]>,
    /// The first 16 bytes and the next 16, and ones where they count.
    words: [(u128, u128); 2],
}

/// How many bytes are compared at once.
const WORD: usize = 16;

impl Literal {
    pub(super) fn new(text: &[u8]) -> Literal {
        let word = |place: usize| {
            let bytes = text.iter().skip(place * WORD).take(WORD).rev();
            bytes.fold((0, 0), |(word, mask), byte| {
                (word << 8 | u128::from(*byte), mask << 8 | 0xff)
            })
        };
        Literal { text: text.into(), words: [word(0), word(1)] }
    }

    /// Whether `text` begins with it.
    #[inline]
    fn starts(&self, text: &[u8]) -> bool {
        let [first, second] = &self.words;
        let length = self.text.len();
        if length <= WORD
            && let Some(start) = text.first_chunk()
        {
            return differing(start, first) == 0;
        }
        if length <= 2 * WORD
            && let Some((start, rest)) = text.split_first_chunk()
        {
            let second = rest.first_chunk().map(|rest| differing(rest, second));
            if let Some(second) = second {
                return differing(start, first) | second == 0;
            }
        }
        text.starts_with(&self.text)
    }
}

/// The bits that count in which `bytes` are not the word.
#[inline]
fn differing(bytes: &[u8; WORD], (word, mask): &(u128, u128)) -> u128 {
    (u128::from_le_bytes(*bytes) ^ word) & mask
}

/// A place in a line.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    text: &'a [u8],
    /// What was not taken yet.
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a [u8]) -> Cursor<'a> {
        Cursor { text, rest: text }
    }

    /// What was not taken yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Takes exactly these bytes.
    #[inline]
    pub(super) fn take(&mut self, literal: &Literal) -> Option<()> {
        if !literal.starts(self.rest) {
            return None;
        }
        self.pass(literal.text.len())
    }

    /// Takes what stands for itself in a string. Whether the string ends there, what follows tells.
    #[inline]
    pub(super) fn string(&mut self) -> Option<Range<usize>> {
        self.span(plain_length(self.rest))
    }

    /// The same, but not beyond a question mark.
    #[inline]
    pub(super) fn path(&mut self) -> Option<Range<usize>> {
        self.span(path_length(self.rest))
    }

    /// Takes a whole number of fewer than 16 digits.
    #[inline]
    pub(super) fn whole(&mut self) -> Option<u64> {
        self.read(whole)
    }

    /// Takes three digits, as statuses are written. Whether the number ends there, what follows tells.
    #[inline]
    pub(super) fn three_digits(&mut self) -> Option<u64> {
        let (digits, rest) = self.rest.split_first_chunk::<3>()?;
        let [a, b, c] = digits.map(|digit| u64::from(digit.wrapping_sub(b'0')));
        if a == 0 || a.max(b).max(c) > 9 {
            return None;
        }
        self.rest = rest;
        Some(100 * a + 10 * b + c)
    }

    /// [`micros`](Cursor::micros) of a number of ten digits and six decimals, as moments are written.
    #[inline]
    pub(super) fn moment(&mut self) -> Option<u64> {
        match self.rest.split_first_chunk::<17>() {
            Some((start, rest)) if let Some(micros) = ten_and_six(start) => {
                self.rest = rest;
                (micros <= LARGEST).then_some(micros)
            }
            _ => self.micros(),
        }
    }

    /// Takes a number of seconds, of fewer than 16 digits and at most six decimals, as microseconds.
    #[inline]
    pub(super) fn micros(&mut self) -> Option<u64> {
        self.read(micros)
    }

    /// Takes an IPv4 address.
    #[inline]
    pub(super) fn address(&mut self) -> Option<IpAddr> {
        let mut octets = [self.octet()?, 0, 0, 0];
        for octet in &mut octets[1..] {
            let [b'.', rest @ ..] = self.rest else { return None };
            self.rest = rest;
            *octet = self.octet()?;
        }
        Some(IpAddr::V4(Ipv4Addr::from(octets)))
    }

    /// Takes 1 to 3 digits; zeros before others were octal to some, and are an error elsewhere.
    #[inline]
    fn octet(&mut self) -> Option<u8> {
        let mut value = u32::from(self.digit()?);
        if value > 0 {
            for _ in 0..2 {
                let Some(digit) = self.digit() else { break };
                value = value * 10 + u32::from(digit);
            }
        }
        u8::try_from(value).ok()
    }

    #[inline]
    fn digit(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        let digit = first.wrapping_sub(b'0');
        (digit < 10).then(|| {
            self.rest = rest;
            digit
        })
    }

    /// Takes up to eight digits: their value and their count.
    #[inline]
    fn digits(&mut self) -> Option<(u64, usize)> {
        let word = match self.rest.first_chunk::<8>() {
            Some(word) => u64::from_le_bytes(*word),
            None => self.last_word(),
        };
        let (value, count) = leading_digits(word);
        self.pass(count)?;
        Some((value, count))
    }

    /// What is left of the line where that is fewer than eight bytes, and zeros after it.
    #[inline]
    fn last_word(&self) -> u64 {
        match self.text.last_chunk() {
            Some(word) => {
                let taken = 64 - 8 * self.rest.len() as u32;
                u64::from_le_bytes(*word).checked_shr(taken).unwrap_or(0)
            }
            None => self.rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        }
    }

    /// Takes `count` bytes.
    #[inline]
    fn pass(&mut self, count: usize) -> Option<()> {
        self.rest = self.rest.get(count..)?;
        Some(())
    }

    /// Takes `count` bytes: where they are.
    #[inline]
    fn span(&mut self, count: usize) -> Option<Range<usize>> {
        let start = self.text.len() - self.rest.len();
        self.pass(count)?;
        Some(start..start + count)
    }

    /// What `read` makes of what was not taken yet, and takes. By value, so that this cursor can live in registers.
    #[inline]
    fn read(&mut self, read: fn(Cursor<'a>) -> Number<'a>) -> Option<u64> {
        let (value, rest) = read(Cursor { ..*self })?;
        self.rest = rest;
        Some(value)
    }
}

/// A number and what follows it.
type Number<'a> = Option<(u64, &'a [u8])>;

/// [`Cursor::whole`], and what follows it.
#[inline(never)]
fn whole(mut cursor: Cursor<'_>) -> Number<'_> {
    let zero = cursor.rest.first() == Some(&b'0');
    let (high, count) = cursor.digits()?;
    if count < 8 {
        return (count == 1 || (count > 1 && !zero)).then_some((high, cursor.rest));
    }
    let (low, more) = cursor.digits()?;
    (!zero && more < 8).then(|| (high * POWERS[more] + low, cursor.rest))
}

/// [`Cursor::micros`], and what follows it.
#[inline(never)]
fn micros(mut cursor: Cursor<'_>) -> Number<'_> {
    // Spans are mostly below ten seconds.
    let seconds = match cursor.rest {
        [digit @ b'0'..=b'9', rest @ ..] if rest.first() == Some(&b'.') => {
            cursor.rest = rest;
            u64::from(digit - b'0')
        }
        _ => cursor.whole()?,
    };
    let mut micros = 0;
    if let [b'.', rest @ ..] = cursor.rest {
        cursor.rest = rest;
        let (decimals, count) = cursor.digits()?;
        micros = decimals * POWERS[6_usize.checked_sub(count).filter(|_| count > 0)?];
    }
    let sum = seconds.checked_mul(1_000_000)?.checked_add(micros)?;
    (sum <= LARGEST).then_some((sum, cursor.rest))
}

const POWERS: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// `1767225600.250000` in microseconds: its digits without the point.
#[inline]
fn ten_and_six(text: &[u8; 17]) -> Option<u64> {
    let (start, _) = text.split_first_chunk::<8>()?;
    let (_, end) = text.split_last_chunk::<8>()?;
    let [.., a, b, point, _, _, _, _, _, _] = *text;
    // The last two digits before the point take the place of one of them and the point.
    let end = u64::from_le_bytes(*end) & !0xffff | u64::from(b) << 8 | u64::from(a);
    let (start, end) = (digit_values(u64::from_le_bytes(*start)), digit_values(end));
    let usual = point == b'.' && text[0] != b'0' && not_digits(start) | not_digits(end) == 0;
    usual.then(|| joined(start) * 100_000_000 + joined(end))
}

const ONES: u64 = 0x0101_0101_0101_0101;

/// Digits as their values; other bytes as 10 or more.
#[inline]
fn digit_values(word: u64) -> u64 {
    word ^ (ONES * u64::from(b'0'))
}

/// The high bits of the bytes that are 10 or more.
#[inline]
fn not_digits(values: u64) -> u64 {
    (((values & (ONES * 0x7f)) + ONES * (0x80 - 10)) | values) & (ONES * 0x80)
}

/// Eight digits as a number: neighbours are joined thrice.
#[inline]
fn joined(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(10 * 0x100 + 1) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100 * 0x1_0000 + 1) >> 16 & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(10_000 * 0x1_0000_0000 + 1) >> 32
}

/// The decimal number at the start of eight bytes, and how many of them it has: its digits are moved to the word's end.
#[inline]
fn leading_digits(word: u64) -> (u64, usize) {
    let values = digit_values(word);
    let count = not_digits(values).trailing_zeros() / 8;
    match values.checked_shl(64 - 8 * count) {
        Some(digits) => (joined(digits), count as usize),
        None => (0, 0),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::format::{address, number, whole};

    /// What `take` makes of all of `text`.
    fn all<'a, T>(text: &'a str, take: impl Fn(&mut Cursor<'a>) -> Option<T>) -> Option<T> {
        let mut cursor = Cursor::new(text.as_bytes());
        take(&mut cursor).filter(|_| cursor.rest().is_empty())
    }

    #[test]
    fn the_usual_forms_are_taken() {
        for take in [Cursor::micros, Cursor::moment] {
            assert_eq!(all("1767225600.000100", take), Some(1_767_225_600_000_100));
        }
        assert_eq!(all("0.25", Cursor::micros), Some(250_000));
        assert_eq!(all("0", Cursor::micros), Some(0));
        assert_eq!(all("123456789012345", Cursor::whole), Some(123_456_789_012_345));
        assert_eq!(all("203.0.113.255", Cursor::address), address("203.0.113.255").ok());
    }

    proptest! {
        #[test]
        fn what_is_taken_is_what_the_others_read(text in "[0-9]{0,17}|[0-9]{10}[.][0-9]{6}|[0-9]{0,11}[.][0-9]{0,8}|[0-9]{1,3}([.][0-9]{1,3}){2,4}|[0-9.e]{0,9}") {
            if let Some(micros) = all(&text, Cursor::micros) {
                prop_assert_eq!(number::seconds(&text).map(|micros| micros.get()), Ok(micros));
            }
            if let Some(micros) = all(&text, Cursor::moment) {
                prop_assert_eq!(number::seconds(&text).map(|micros| micros.get()), Ok(micros));
            }
            if let Some(number) = all(&text, Cursor::whole) {
                prop_assert_eq!(whole(&text), Some(number));
                prop_assert!(text == "0" || !text.starts_with('0'));
            }
            prop_assert_eq!(all(&text, Cursor::address), address(&text).ok());
        }

        #[test]
        fn eight_bytes_are_counted_as_one_by_one(bytes in any::<[u8; 8]>(), digits in 0usize..=8) {
            let mut bytes = bytes;
            bytes[..digits].iter_mut().for_each(|byte| *byte = b'0' + *byte % 10);
            let count = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let value = bytes[..count].iter().fold(0, |sum, byte| sum * 10 + u64::from(byte - b'0'));
            prop_assert_eq!(leading_digits(u64::from_le_bytes(bytes)), (value, count));
        }
    }
}
