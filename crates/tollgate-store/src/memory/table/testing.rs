//! What the table's tests share.

use super::Judge;
use crate::memory::KeyHash;

/// Lets nothing go.
pub(super) struct Keeps;

impl Judge for Keeps {
    fn fresh_at(&self, _: [u64; 2]) -> Option<u64> {
        Some(u64::MAX)
    }

    fn keeps(&self, _: u64) -> bool {
        true
    }
}

/// The same hash in every run: whether a chain becomes too long before its shard is full is a matter of chance.
pub(super) fn hash(number: u64) -> KeyHash {
    let mixed = |seed: u64| {
        let mut mixed = number.wrapping_add(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        u128::from(mixed ^ (mixed >> 31))
    };
    KeyHash::from_u128(mixed(1) << 64 | mixed(1 << 32))
}
