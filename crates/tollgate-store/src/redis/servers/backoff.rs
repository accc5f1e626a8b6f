//! How long to wait before the next attempt to connect.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// The first wait is at most this.
const FIRST: Duration = Duration::from_millis(25);

/// No wait is longer than this, so a server that is back is found soon.
const LONGEST: Duration = Duration::from_secs(2);

/// Waits that double and are spread over the upper half of each span, so that many nodes which lost the same server do
/// not come back to it in step.
#[derive(Debug)]
pub(super) struct Backoff {
    span: Duration,
    random: u64,
}

impl Backoff {
    /// Spread by `seed`.
    pub(super) fn new(seed: u64) -> Backoff {
        Backoff { span: FIRST, random: seed }
    }

    /// Spread by chance.
    pub(super) fn by_chance() -> Backoff {
        Backoff::new(RandomState::new().hash_one(0_u8))
    }

    /// The next wait; the one after it is twice as long.
    pub(super) fn next(&mut self) -> Duration {
        let span = self.span;
        self.span = (span * 2).min(LONGEST);
        let half = span / 2;
        half + half.mul_f64(self.chance())
    }

    /// Begins anew: what was tried worked.
    pub(super) fn reset(&mut self) {
        self.span = FIRST;
    }

    /// From 0 up to 1 (SplitMix64).
    fn chance(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let bits = u32::try_from(mixed >> 32).unwrap_or(u32::MAX);
        f64::from(bits) / (f64::from(u32::MAX) + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_to_a_longest_and_are_spread() {
        let mut backoff = Backoff::new(7);
        let mut span = FIRST;
        for _ in 0..20 {
            let wait = backoff.next();
            assert!(wait >= span / 2 && wait < span, "{wait:?} of {span:?}");
            span = (span * 2).min(LONGEST);
        }
        backoff.reset();
        assert!(backoff.next() < FIRST);

        let waits: std::collections::BTreeSet<Duration> =
            (0..100).map(|seed| Backoff::new(seed).next()).collect();
        assert!(waits.len() > 90, "nodes wait for different times: {}", waits.len());
    }
}
