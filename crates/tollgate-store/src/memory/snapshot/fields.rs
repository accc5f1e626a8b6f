//! Numbers and texts as bytes: little-endian, of fixed width or behind their length.

/// What is written.
#[derive(Debug, Default)]
pub(super) struct Out(pub(super) Vec<u8>);

impl Out {
    pub(super) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub(super) fn flag(&mut self, flag: bool) {
        self.byte(flag.into());
    }

    pub(super) fn short(&mut self, number: u32) {
        self.0.extend(number.to_le_bytes());
    }

    pub(super) fn long(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    /// A number that may be absent.
    pub(super) fn perhaps(&mut self, number: Option<u64>) {
        self.flag(number.is_some());
        self.long(number.unwrap_or(0));
    }

    pub(super) fn text(&mut self, text: &str) {
        self.short(u32::try_from(text.len()).unwrap_or(u32::MAX));
        self.0.extend(text.as_bytes());
    }
}

/// What is read; every question answers `None` where the bytes do not have it.
#[derive(Clone, Copy, Debug)]
pub(super) struct In<'a>(pub(super) &'a [u8]);

impl<'a> In<'a> {
    fn chunk<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (chunk, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*chunk)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.chunk::<1>().map(|[byte]| byte)
    }

    pub(super) fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    pub(super) fn short(&mut self) -> Option<u32> {
        self.chunk().map(u32::from_le_bytes)
    }

    pub(super) fn long(&mut self) -> Option<u64> {
        self.chunk().map(u64::from_le_bytes)
    }

    pub(super) fn perhaps(&mut self) -> Option<Option<u64>> {
        let there = self.flag()?;
        let number = self.long()?;
        Some(there.then_some(number))
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.short()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }

    /// Nothing may be left.
    pub(super) fn end(self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}
