//! What others may ask of a checked limit: how much it holds, in units and in ticks, and since when.

use crate::bucket::Bucket;
use crate::plan::Plan;
use crate::word::Word;
use crate::{Algorithm, Limit, Timestamp, TokenBucket};

/// A bucket in ticks of 1/n microsecond, where n/P is its rate in units per microsecond in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketTicks {
    /// n: ticks in a microsecond.
    pub per_micro: u64,
    /// P: ticks in a unit.
    pub unit: u64,
    /// What it holds.
    pub capacity: u128,
    /// What it holds and the deepest debt.
    pub ceiling: u128,
}

impl Limit {
    /// The largest cost that it ever admits at once, in units; 0 where it refuses everything.
    ///
    /// ```
    /// use tollgate_core::{Algorithm, LeakyBucket, Limit, Micros, Rate, Rules};
    ///
    /// let rate = Rate { count: 10, per: Micros::from_secs(1) };
    /// let spec = LeakyBucket { rate, burst: 4, nodelay: true, max_wait: None };
    /// let limit = Limit::new(Algorithm::LeakyBucket(spec), Rules::default())?;
    /// assert_eq!(limit.capacity(), 5); // The one being served, and four that wait.
    /// # Ok::<(), tollgate_core::SpecError>(())
    /// ```
    #[must_use]
    pub fn capacity(&self) -> u64 {
        match self.plan() {
            Plan::Closed => 0,
            Plan::Bucket(plan) => plan.0.units,
            Plan::WideBucket(plan) => plan.units,
            Plan::FixedWindow(plan) => plan.allowance.limit,
            Plan::SlidingPair(plan) | Plan::SlidingCells(plan) => plan.allowance.limit,
            Plan::SlidingLog(plan) => plan.allowance.limit,
            Plan::Quota(plan) => plan.allowance.limit,
            Plan::Concurrency(plan) => plan.allowance.limit,
        }
    }

    /// The most units that it ever holds against one key: its capacity and the deepest debt.
    #[must_use]
    pub fn most(&self) -> u64 {
        match self.plan() {
            Plan::Closed => 0,
            Plan::Bucket(plan) => plan.0.most,
            Plan::WideBucket(plan) => plan.most,
            Plan::FixedWindow(plan) => plan.allowance.most,
            Plan::SlidingPair(plan) | Plan::SlidingCells(plan) => plan.allowance.most,
            Plan::SlidingLog(plan) => plan.allowance.most,
            Plan::Quota(plan) => plan.allowance.most,
            Plan::Concurrency(plan) => plan.allowance.most,
        }
    }

    /// The bucket in ticks; `None` where it is no bucket, or one that refuses everything.
    #[must_use]
    pub fn bucket_ticks(&self) -> Option<BucketTicks> {
        match self.plan() {
            Plan::Bucket(plan) => Some(BucketTicks::of(&plan.0)),
            Plan::WideBucket(plan) => Some(BucketTicks::of(plan)),
            _ => None,
        }
    }

    /// The moment at which every key was empty; `None` where new keys begin full, or this is no token bucket.
    #[must_use]
    pub fn empty_at(&self) -> Option<Timestamp> {
        match self.algorithm() {
            Algorithm::TokenBucket(TokenBucket { empty_at, .. }) => *empty_at,
            _ => None,
        }
    }

    /// The same limit as if it had first been loaded at `moment`: a bucket that begins empty was empty then. Any other is
    /// as it is.
    #[must_use]
    pub fn loaded_at(&self, moment: Timestamp) -> Limit {
        let Algorithm::TokenBucket(TokenBucket { empty_at: Some(_), rate, burst }) =
            self.algorithm()
        else {
            return self.clone();
        };
        let spec = TokenBucket { rate: *rate, burst: *burst, empty_at: Some(moment) };
        // It was checked with another moment, and no moment makes parameters wrong; were one to, the checked one stays.
        Limit::new(Algorithm::TokenBucket(spec), self.rules().clone())
            .unwrap_or_else(|_| self.clone())
    }
}

impl BucketTicks {
    fn of<W: Word>(bucket: &Bucket<W>) -> BucketTicks {
        BucketTicks {
            per_micro: bucket.per_micro.low(),
            unit: bucket.unit.low(),
            capacity: bucket.capacity.wide(),
            ceiling: bucket.ceiling.wide(),
        }
    }
}
