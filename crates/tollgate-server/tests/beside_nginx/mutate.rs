//! Seeds, changed a little: where two readers may part.

use crate::seeds::Seed;

/// A small generator: its whole state is the number that a run prints.
pub(crate) struct Random(u64);

/// What is put in, or in the place of something.
const WORDS: [&[u8]; 28] = [
    b"\r",
    b"\n",
    b"\r\n",
    b"\r\n\r\n",
    b"\0",
    b"\t",
    b" ",
    b"\x0b",
    b"\xff",
    b":",
    b";",
    b",",
    b"0",
    b"5",
    b"+",
    b"-1",
    b"/",
    b"%2e",
    b"%",
    b"Host: b\r\n",
    b"Content-Length: 5\r\n",
    b"Content-Length: 0\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: identity\r\n",
    b"chunked",
    b" HTTP/1.1",
    b"GET /inner HTTP/1.1\r\nHost: inner\r\n\r\n",
    b"0\r\n\r\n",
];

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn state(&self) -> u64 {
        self.0
    }

    /// splitmix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// One of `seeds`, with up to four changes.
    pub(crate) fn input(&mut self, seeds: &[Seed]) -> Vec<u8> {
        let mut input = seeds[self.below(seeds.len())].bytes.to_vec();
        for _ in 0..=self.below(4) {
            let place = self.below(input.len() + 1);
            match self.below(4) {
                0 => {
                    drop(input.splice(place..place, WORDS[self.below(WORDS.len())].iter().copied()))
                }
                1 => {
                    let end = input.len().min(place + 1 + self.below(3));
                    drop(input.splice(place..end, WORDS[self.below(WORDS.len())].iter().copied()));
                }
                2 => drop(input.drain(place..input.len().min(place + 1 + self.below(4)))),
                _ => {
                    let other = seeds[self.below(seeds.len())].bytes;
                    let from = self.below(other.len());
                    let to = other.len().min(from + self.below(40));
                    drop(input.splice(place..place, other[from..to].iter().copied()));
                }
            }
        }
        input
    }
}
