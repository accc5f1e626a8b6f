//! Choices out of arbitrary bytes: every input means something, and small changes of it small changes of the meaning.

/// Bytes that are read once; after the last, zeros.
pub struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    /// All of an input.
    pub fn new(data: &'a [u8]) -> Bytes<'a> {
        Bytes(data)
    }

    /// Whether all were read.
    pub fn are_used_up(&self) -> bool {
        self.0.is_empty()
    }

    /// The next one.
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// A number below `end`, which is at most 256.
    pub fn below(&mut self, end: u16) -> u64 {
        u64::from(u16::from(self.byte()) % end)
    }

    /// True for one half of the bytes.
    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// A number of any size: mostly small, and the large ones near powers of two.
    pub fn number(&mut self) -> u64 {
        let shape = self.byte();
        match shape {
            0..=127 => u64::from(shape % 16),
            128..=191 => u64::from(shape - 128) << 8 | u64::from(self.byte()),
            _ => {
                let power = 1u64 << (shape - 192);
                match self.byte() {
                    0 => power - 1,
                    1 => power,
                    2 => power + (power - 1),
                    low => power.wrapping_add(u64::from(low)),
                }
            }
        }
    }
}
