//! Text gathered to be written in one piece.

/// Bytes that grow at their end. Everything is put there in pieces of a size known when this is compiled, which costs a
/// few moves and no call; what is too much is overwritten by what follows.
#[derive(Debug)]
pub(crate) struct Piece {
    bytes: Vec<u8>,
    end: usize,
}

/// How much is added where there is no room.
const STEP: usize = 4_096;

impl Piece {
    /// With room for `room` bytes before it grows.
    pub(crate) fn new(room: usize) -> Piece {
        Piece { bytes: vec![0; room], end: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.end
    }

    /// What was put.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.end]
    }

    pub(crate) fn clear(&mut self) {
        self.end = 0;
    }

    /// Replaces the byte at `place`, which was put before.
    #[inline]
    pub(crate) fn replace(&mut self, place: usize, byte: u8) {
        self.bytes[..self.end][place] = byte;
    }

    /// Puts the first `count` of `text`.
    #[inline]
    pub(crate) fn put<const N: usize>(&mut self, text: &[u8; N], count: usize) {
        if self.bytes.len() - self.end < N {
            self.grow(N);
        }
        if let Some(room) = self.bytes[self.end..].first_chunk_mut::<N>() {
            *room = *text;
        }
        self.end += count.min(N);
    }

    /// Puts all of `text`.
    #[inline]
    pub(crate) fn text<const N: usize>(&mut self, text: &[u8; N]) {
        self.put(text, N);
    }

    /// Puts a text of any length.
    pub(crate) fn slice(&mut self, text: &[u8]) {
        if self.bytes.len() - self.end < text.len() {
            self.grow(text.len());
        }
        self.bytes[self.end..self.end + text.len()].copy_from_slice(text);
        self.end += text.len();
    }

    /// Puts a number in decimal.
    #[inline]
    pub(crate) fn number(&mut self, number: u64) {
        if number < 100_000_000 {
            let (digits, count) = eight_digits(number);
            self.put(&digits, count);
        } else {
            self.slice(itoa::Buffer::new().format(number).as_bytes());
        }
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        self.bytes.resize(self.end + more + STEP, 0);
    }
}

/// The digits of a number below 100,000,000, and how many they are. It is cut into halves, quarters and digits in the parts
/// of one word; `10,486 / 2^20` and `103 / 2^10` are 1/100 and 1/10, closely enough for four and for two digits.
#[inline]
fn eight_digits(number: u64) -> ([u8; 8], usize) {
    let halves = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((halves * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let quarters = hundreds | ((halves - hundreds * 100) << 16);
    let tens = ((quarters * 103) >> 10) & 0x000f_000f_000f_000f;
    let digits = tens | ((quarters - tens * 10) << 8);
    let zeros = (digits.trailing_zeros() / 8).min(7);
    let text = (digits | 0x3030_3030_3030_3030) >> (8 * zeros);
    (text.to_le_bytes(), 8 - zeros as usize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_four_digits_are_written_in_both_halves() {
        for number in 0..10_000 {
            for number in [number, number * 10_000, number * 10_000 + 9_999 - number] {
                let mut piece = Piece::new(0);
                piece.number(number);
                assert_eq!(piece.bytes(), number.to_string().as_bytes());
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_put_is_there(numbers in prop::collection::vec((any::<u64>(), 0u32..64), 0..2_000)) {
            let (mut piece, mut expected) = (Piece::new(10), String::new());
            for (number, shift) in numbers {
                piece.number(number >> shift);
                piece.put(b", and more", 2);
                piece.slice(b"text");
                expected += &format!("{}, text", number >> shift);
            }
            prop_assert_eq!(piece.bytes(), expected.as_bytes());
            prop_assert_eq!(piece.len(), expected.len());
        }
    }
}
