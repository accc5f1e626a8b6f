//! Seeded chance.

/// SplitMix64.
#[derive(Clone, Debug)]
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to `below`, without it.
    pub(crate) fn below(&mut self, below: u64) -> u64 {
        self.next() % below.max(1)
    }

    /// `percent` times in a hundred.
    pub(crate) fn is(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Mostly short, now and then up to `most`.
    pub(crate) fn span(&mut self, most: u64) -> u64 {
        let halvings = self.below(10);
        self.below((most >> halvings).max(1))
    }
}
