//! The shortest path: a bucket in one 64-bit word, for limiters that step a single limit.

use crate::bucket::Bucket;
use crate::{Micros, Retry, Timestamp};

/// A bucket whose whole arithmetic fits 64-bit words. [`Limit::bucket64`](crate::Limit::bucket64) gives it where the limit
/// has no rule and makes nobody wait.
///
/// ```
/// use tollgate_core::{Algorithm, Burst, Limit, Micros, Rate, Retry, Rules, Timestamp, TokenBucket};
///
/// let rate = Rate { count: 1, per: Micros::from_secs(1) };
/// let spec = TokenBucket { rate, burst: Burst::Units(2), empty_at: None };
/// let limit = Limit::new(Algorithm::TokenBucket(spec), Rules::default())?;
/// let bucket = limit.bucket64().expect("one unit a second fits 64 bits");
///
/// let now = Timestamp::from_micros(1_767_225_600_000_000);
/// let word = bucket.step(bucket.fresh(), now, 2).expect("a new bucket is full");
/// let refused = bucket.step(word, now, 1).expect_err("nothing is left");
/// assert_eq!(bucket.retry(&refused), Retry::After(Micros::from_secs(1)));
/// # Ok::<(), tollgate_core::SpecError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Bucket64(pub(crate) Bucket<u64>);

/// A refusal by a [`Bucket64`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused64 {
    /// What to keep: the word as it was, unless a wrong clock had written it; then the clamped one must be kept.
    pub word: u64,
    /// Ticks until it would be admitted; `NEVER` where it never will.
    excess: u64,
}

/// No excess of a bucket that fits 64 bits is as large.
const NEVER: u64 = u64::MAX;

impl Bucket64 {
    /// The word of a key that was never seen.
    #[must_use]
    pub fn fresh(&self) -> u64 {
        self.0.fresh
    }

    /// Takes `cost` at `now` from the bucket that `word` describes; `Ok` is the word to keep.
    ///
    /// # Errors
    /// [`Refused64`]; [`Bucket64::retry`] tells when it would be admitted.
    #[inline]
    pub fn step(&self, word: u64, now: Timestamp, cost: u64) -> Result<u64, Refused64> {
        let base = self.0.ticks(now.as_micros());
        let clamped = word.min(base + self.0.ceiling);
        let missing = clamped.saturating_sub(base);
        if cost > self.0.units {
            return Err(Refused64 { word: clamped, excess: NEVER });
        }
        let after = missing + cost * self.0.unit;
        if after > self.0.capacity {
            return Err(Refused64 { word: clamped, excess: after - self.0.capacity });
        }
        Ok(base + after)
    }

    /// When the refused cost would be admitted.
    #[must_use]
    pub fn retry(&self, refused: &Refused64) -> Retry {
        match refused.excess {
            NEVER => Retry::Never,
            excess => Retry::After(self.0.micros(excess)),
        }
    }

    /// The largest cost that would be admitted at `now`.
    #[must_use]
    #[inline]
    pub fn remaining(&self, word: u64, now: Timestamp) -> u64 {
        self.0.remaining(self.0.missing(word, self.0.ticks(now.as_micros())))
    }

    /// Until the bucket is full.
    #[must_use]
    #[inline]
    pub fn reset(&self, word: u64, now: Timestamp) -> Micros {
        let missing = self.0.missing(word, self.0.ticks(now.as_micros()));
        self.0.micros(missing)
    }

    /// Whether forgetting `word` at `now` would give its key nothing.
    #[must_use]
    #[inline]
    pub fn is_fresh(&self, word: u64, now: Timestamp) -> bool {
        word <= self.0.ticks(now.as_micros()).max(self.0.fresh)
    }
}
