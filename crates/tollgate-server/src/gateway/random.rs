//! Random numbers, of which no secret is made.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

thread_local! {
    /// Where the thread's next number comes from. Threads that draw from one would wait for each other's cache line.
    static DRAWN: Cell<u64> = Cell::new(RandomState::new().hash_one(0));
}

/// Uniform over all values. SplitMix64, from a random start.
pub(super) fn random() -> u64 {
    let drawn = DRAWN.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
    DRAWN.set(drawn);
    let mut mixed = drawn;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_threads_draw_the_same() {
        let draw = || (0..100).map(|_| random()).collect::<Vec<u64>>();
        let mut drawn = std::thread::spawn(draw).join().expect("a thread");
        drawn.extend(draw());
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn.len(), 200);
    }
}
