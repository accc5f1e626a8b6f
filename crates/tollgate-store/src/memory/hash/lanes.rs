//! Two independent 64-bit hashes in one pass over a key.
//!
//! Each lane is a chain of folded multiplications (the 128-bit product of two words, its halves xored), the scheme of
//! wyhash and its kin: a 16-byte block costs a lane one multiplication. Every factor is masked by a secret, so that who
//! does not know the secrets cannot choose keys that collide; the lanes have different ones, so that they do not collide together.

use std::hash::{BuildHasher, Hasher, RandomState};

/// What the hashes are seeded with.
#[derive(Clone, Debug)]
pub(super) struct Secrets {
    /// What each lane begins with.
    first: [u64; 2],
    /// What masks each block's second word.
    block: [u64; 2],
    /// What masks the end.
    end: [u64; 2],
}

/// The hash of a key as far as it was read.
#[derive(Clone, Debug)]
pub(super) struct Lanes<'s> {
    secrets: &'s Secrets,
    lanes: [u64; 2],
    /// A number that waits for another to fill a block with, and 1; or zeros.
    half: [u64; 2],
    /// How many bytes were read, numbers apart.
    length: u64,
}

impl Secrets {
    /// Secrets from the system's randomness.
    pub(super) fn new() -> Secrets {
        // The standard library's keys are random, and what they make of a number is not to be told from random.
        let random = RandomState::new();
        let pair = |number: u64| [random.hash_one(number), random.hash_one(number + 1)];
        Secrets { first: pair(0), block: pair(2), end: pair(4) }
    }

    /// As plain words.
    pub(super) fn words(&self) -> [u64; 6] {
        let ([a, b], [c, d], [e, f]) = (self.first, self.block, self.end);
        [a, b, c, d, e, f]
    }

    /// Back from [`Secrets::words`].
    pub(super) fn from_words([a, b, c, d, e, f]: [u64; 6]) -> Secrets {
        Secrets { first: [a, b], block: [c, d], end: [e, f] }
    }

    /// Nothing read yet.
    #[inline]
    pub(super) fn begin(&self) -> Lanes<'_> {
        Lanes { secrets: self, lanes: self.first, half: [0; 2], length: 0 }
    }
}

impl Lanes<'_> {
    /// Both hashes.
    #[inline]
    pub(super) fn end(&self) -> [u64; 2] {
        let [number, count] = self.half;
        let last = |lane: usize| {
            let [masked, end] = [self.lanes[lane] ^ number, self.secrets.end[lane]];
            fold(masked, end ^ (self.length << 1 | count))
        };
        [last(0), last(1)]
    }

    #[inline]
    fn block(&mut self, first: u64, second: u64) {
        for lane in 0..2 {
            self.lanes[lane] = fold(first ^ self.lanes[lane], second ^ self.secrets.block[lane]);
        }
    }

    #[inline]
    fn number(&mut self, number: u64) {
        match self.half {
            [_, 0] => self.half = [number, 1],
            [first, _] => {
                self.half = [0; 2];
                self.block(first, number);
            }
        }
    }
}

impl Hasher for Lanes<'_> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        if self.half[1] != 0 {
            let [first, _] = std::mem::take(&mut self.half);
            self.block(first, 0);
            // A block that is half a number is another than one of that number and 0.
            self.length = self.length.wrapping_add(1 << 56);
        }
        self.length = self.length.wrapping_add(bytes.len() as u64);
        // Blocks of 16 bytes; the last one ends with the key, and overlaps with what is before it.
        let mut rest = bytes;
        while let Some((block, after)) = rest.split_first_chunk::<16>()
            && !after.is_empty()
        {
            self.block(word(block.first_chunk()), word(block.last_chunk()));
            rest = after;
        }
        let end = bytes.last_chunk::<16>().map_or(rest, |end| end);
        let (first, second) = ends(end);
        self.block(first, second);
    }

    #[inline]
    fn write_u8(&mut self, number: u8) {
        self.number(number.into());
    }

    #[inline]
    fn write_u16(&mut self, number: u16) {
        self.number(number.into());
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.number(number.into());
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.number(number);
    }

    #[inline]
    fn write_u128(&mut self, number: u128) {
        self.number(number as u64);
        self.number((number >> 64) as u64);
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.number(number as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.end()[0]
    }
}

/// The product of both, its halves xored.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// At most 16 bytes as two words, which overlap where there are fewer; with the length they tell the bytes.
#[inline]
fn ends(bytes: &[u8]) -> (u64, u64) {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        return (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        return (u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into());
    }
    match bytes {
        [] => (0, 0),
        [first, .., last] => {
            (u64::from(*first) << 8 | u64::from(bytes[bytes.len() / 2]), (*last).into())
        }
        [only] => ((*only).into(), (*only).into()),
    }
}

fn word(bytes: Option<&[u8; 8]>) -> u64 {
    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
