//! Numbers from a seed (SplitMix64), the same on every machine.

/// A stream of numbers.
pub(crate) struct Random(u64);

impl Random {
    /// The stream of that seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn within(&mut self, low: u64, high: u64) -> u64 {
        low + ((u128::from(self.next()) * (u128::from(high - low) + 1)) >> 64) as u64
    }

    /// The same, signed.
    pub(crate) fn signed(&mut self, low: i64, high: i64) -> i64 {
        low + self.within(0, high.abs_diff(low)) as i64
    }

    /// True in so many of 100 cases.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.within(1, 100) <= percent
    }

    /// One of them.
    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.within(0, from.len() as u64 - 1) as usize].clone()
    }
}
