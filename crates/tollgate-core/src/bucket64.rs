//! The shortest path: a bucket in one 64-bit word, for limiters that step a single limit.

use crate::{Micros, Retry, Timestamp};

/// A bucket whose whole arithmetic fits 64-bit words, without any rule of section 5. See [`Limit::bucket64`](crate::Limit::bucket64).
#[derive(Clone, Debug)]
pub struct Bucket64 {}

/// A refusal by a [`Bucket64`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused64 {
    /// What to keep: the word as it was, unless a wrong clock had written it; then the clamped one must be kept.
    pub word: u64,
}

impl Bucket64 {
    /// The word of a key that was never seen.
    #[must_use]
    pub fn fresh(&self) -> u64 {
        unimplemented!("follows at once")
    }

    /// Takes `cost` at `now` from the bucket that `word` describes; `Ok` is the word to keep.
    ///
    /// # Errors
    /// [`Refused64`]; [`Bucket64::retry`] tells when it would be admitted.
    #[inline]
    pub fn step(&self, word: u64, now: Timestamp, cost: u64) -> Result<u64, Refused64> {
        let _ = (word, now, cost);
        unimplemented!("follows at once")
    }

    /// When the refused cost would be admitted.
    #[must_use]
    pub fn retry(&self, refused: &Refused64) -> Retry {
        let _ = refused;
        unimplemented!("follows at once")
    }

    /// The largest cost that would be admitted at `now`.
    #[must_use]
    pub fn remaining(&self, word: u64, now: Timestamp) -> u64 {
        let _ = (word, now);
        unimplemented!("follows at once")
    }

    /// Until the bucket is full.
    #[must_use]
    pub fn reset(&self, word: u64, now: Timestamp) -> Micros {
        let _ = (word, now);
        unimplemented!("follows at once")
    }

    /// Whether forgetting `word` at `now` would give its key nothing.
    #[must_use]
    pub fn is_fresh(&self, word: u64, now: Timestamp) -> bool {
        let _ = (word, now);
        unimplemented!("follows at once")
    }
}
