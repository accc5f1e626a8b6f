//! JSON text gathered to be written in large pieces.

/// Text that grows at its end. What is put has a size that is known when this is compiled, wherever it can: that costs a
/// few moves and no call.
#[derive(Debug)]
pub(super) struct Text {
    bytes: Vec<u8>,
}

impl Text {
    /// With room for `room` bytes before it grows.
    pub(super) fn new(room: usize) -> Text {
        Text { bytes: Vec::with_capacity(room) }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Puts all of `text`.
    #[inline]
    pub(super) fn put(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
    }

    /// Puts the first `count` bytes of `text`.
    #[inline]
    pub(super) fn put_first<const N: usize>(&mut self, text: &[u8; N], count: usize) {
        let end = self.bytes.len() + count;
        self.bytes.extend_from_slice(text);
        self.bytes.truncate(end);
    }

    /// Writes `text` over what was put at `place`.
    #[inline]
    pub(super) fn replace<const N: usize>(&mut self, place: usize, text: &[u8; N]) {
        if let Some(there) = self.bytes.get_mut(place..).and_then(<[u8]>::first_chunk_mut) {
            *there = *text;
        }
    }

    /// Puts a number in decimal.
    #[inline]
    pub(super) fn number(&mut self, number: u64) {
        if number < LOW {
            let (digits, count) = eight_digits(number);
            self.put_first(&(digits >> (64 - 8 * count)).to_le_bytes(), count as usize);
        } else {
            self.long_number(number);
        }
    }

    #[inline(never)]
    fn long_number(&mut self, number: u64) {
        if number < LOW * LOW {
            self.number(number / LOW);
            self.put(&eight_digits(number % LOW).0.to_le_bytes());
        } else {
            self.put(itoa::Buffer::new().format(number).as_bytes());
        }
    }
}

/// The first number that has more than eight digits.
const LOW: u64 = 100_000_000;

/// The eight digits of a number below 100,000,000, zeros in front, and how many of them count. It is cut into halves,
/// quarters and digits in the parts of one word; `10,486 / 2^20` and `103 / 2^10` are 1/100 and 1/10, closely enough for
/// four and for two digits.
#[inline]
fn eight_digits(number: u64) -> (u64, u32) {
    let halves = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((halves * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let quarters = hundreds | ((halves - hundreds * 100) << 16);
    let tens = ((quarters * 103) >> 10) & 0x000f_000f_000f_000f;
    let digits = tens | ((quarters - tens * 10) << 8);
    // A digit of 0 counts where it is the last.
    let zeros = (digits | 1 << 56).trailing_zeros() / 8;
    (digits | 0x3030_3030_3030_3030, 8 - zeros)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_four_digits_are_written_in_all_quarters() {
        for quarter in 0..10_000 {
            for scale in [1, 10_000, LOW, 10_000 * LOW] {
                for number in [quarter * scale, quarter * scale + scale - 1] {
                    let mut text = Text::new(0);
                    text.number(number);
                    assert_eq!(text.bytes(), number.to_string().as_bytes());
                }
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_put_is_there(numbers in prop::collection::vec((any::<u64>(), 0u32..64), 0..2_000)) {
            let (mut text, mut expected) = (Text::new(10), String::new());
            for (number, shift) in numbers {
                text.number(number >> shift);
                text.put_first(b", and more", 2);
                text.put(b"text");
                expected += &format!("{}, text", number >> shift);
            }
            prop_assert_eq!(text.bytes(), expected.as_bytes());
            text.replace(0, b"");
            prop_assert_eq!(text.bytes(), expected.as_bytes());
        }
    }
}
