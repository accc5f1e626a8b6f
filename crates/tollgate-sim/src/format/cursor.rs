//! Values of a line in their usual forms: what is not in its usual form is left to the readers that take every form.

use std::net::{IpAddr, Ipv4Addr};
use std::ops::Range;

use super::json::plain_length;
use super::number::LARGEST;

/// Bytes to be compared with a place of a line.
#[derive(Debug)]
pub(super) struct Literal {
    text: Box<[u8]>,
    /// Where it is short enough: the bytes and as many ones, to be compared at once.
    word: Option<(u128, u128)>,
}

/// How many bytes are compared at once.
const LONG: usize = 16;

impl Literal {
    pub(super) fn new(text: &[u8]) -> Literal {
        let word = (text.len() <= LONG).then(|| {
            text.iter().rev().fold((0, 0), |(word, mask), byte| {
                (word << 8 | u128::from(*byte), mask << 8 | 0xff)
            })
        });
        Literal { text: text.into(), word }
    }
}

/// A place in a line.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a [u8]) -> Cursor<'a> {
        Cursor { text, at: 0 }
    }

    /// What was not taken yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Takes exactly these bytes.
    #[inline]
    pub(super) fn take(&mut self, literal: &Literal) -> Option<()> {
        let rest = self.rest();
        let found = match (rest.first_chunk::<LONG>(), literal.word) {
            (Some(start), Some((word, mask))) => (u128::from_le_bytes(*start) ^ word) & mask == 0,
            _ => rest.starts_with(&literal.text),
        };
        self.at += literal.text.len();
        found.then_some(())
    }

    /// Takes what stands for itself in a string. Whether the string ends there, what follows tells.
    #[inline]
    pub(super) fn string(&mut self) -> Range<usize> {
        let start = self.at;
        self.at += plain_length(self.rest());
        start..self.at
    }

    /// Takes a whole number of fewer than 16 digits.
    pub(super) fn whole(&mut self) -> Option<u64> {
        let zero = self.text.get(self.at) == Some(&b'0');
        let (high, count) = self.digits();
        if count < 8 {
            return (count == 1 || (count > 1 && !zero)).then_some(high);
        }
        let (low, more) = self.digits();
        (!zero && more < 8).then(|| high * POWERS[more] + low)
    }

    /// [`micros`](Cursor::micros) of a number of ten digits and six decimals, as moments are written.
    #[inline]
    pub(super) fn moment(&mut self) -> Option<u64> {
        let found = self.rest().first_chunk::<17>().and_then(ten_and_six);
        match found {
            Some(micros) => {
                self.at += 17;
                (micros <= LARGEST).then_some(micros)
            }
            None => self.micros(),
        }
    }

    /// Takes a number of seconds, of fewer than 16 digits and at most six decimals, as microseconds.
    pub(super) fn micros(&mut self) -> Option<u64> {
        let seconds = self.whole()?;
        let mut micros = 0;
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            let (decimals, count) = self.digits();
            micros = decimals * POWERS[6_usize.checked_sub(count).filter(|_| count > 0)?];
        }
        let sum = seconds.checked_mul(1_000_000)?.checked_add(micros)?;
        (sum <= LARGEST).then_some(sum)
    }

    /// Takes an IPv4 address.
    pub(super) fn address(&mut self) -> Option<IpAddr> {
        let mut octets = [0u8; 4];
        for (place, octet) in octets.iter_mut().enumerate() {
            if place > 0 {
                self.byte(b'.')?;
            }
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
    fn byte(&mut self, byte: u8) -> Option<()> {
        let found = self.text.get(self.at) == Some(&byte);
        self.at += 1;
        found.then_some(())
    }

    #[inline]
    fn digit(&mut self) -> Option<u8> {
        let digit = self.text.get(self.at)?.wrapping_sub(b'0');
        self.at += usize::from(digit < 10);
        (digit < 10).then_some(digit)
    }

    /// Takes up to eight digits: their value and their count.
    #[inline]
    fn digits(&mut self) -> (u64, usize) {
        let word = match self.rest().first_chunk::<8>() {
            Some(word) => u64::from_le_bytes(*word),
            None => last_word(self.rest()),
        };
        let (value, count) = leading_digits(word);
        self.at += count;
        (value, count)
    }
}

const POWERS: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// Fewer than eight bytes, and zeros after them.
fn last_word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

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
