//! The limiters that are compared, with like parameters.

use std::hash::Hash;
use std::num::NonZeroU32;

use governor::clock::{DefaultClock, QuantaClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use tollgate_core::{
    Algorithm, Burst, FixedWindow, Limit, Micros, Rate, Rules, SlidingWindow, TokenBucket,
};
use tollgate_store::{Clock, DirectLimiter, KeyedLimiter, SystemClock};

use crate::keys::Key;

/// Units that each key is charged at first, so that no bucket is full again while it is measured: a key that is as fresh
/// as new may be forgotten, and the benchmark would measure expiry.
pub const BEGIN: u32 = 100_000;

/// [`BEGIN`], as governor wants it.
pub fn begin() -> NonZeroU32 {
    NonZeroU32::new(BEGIN).expect("not zero")
}

/// How much a limiter lets through.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// So much that nothing is ever refused, though no bucket is full again soon.
    Admits,
    /// One an hour.
    Refuses,
    /// One a second: full again soon.
    Expires,
}

impl Rule {
    fn parameters(self) -> (u32, u64, u32) {
        match self {
            Rule::Admits => (1, 1, 1_000_000_000),
            Rule::Refuses => (1, 3600, 1),
            Rule::Expires => (1, 1, 1),
        }
    }

    fn quota(self) -> Quota {
        let (count, per, burst) = self.parameters();
        let number = |number| NonZeroU32::new(number).expect("not zero");
        let each = std::time::Duration::from_secs(per) / count;
        Quota::with_period(each).expect("not zero").allow_burst(number(burst))
    }

    /// Our limit.
    pub fn limit(self) -> Limit {
        let (count, per, burst) = self.parameters();
        let rate = Rate { count: count.into(), per: Micros::from_secs(per) };
        let burst = Burst::Units(burst.into());
        limit(Algorithm::TokenBucket(TokenBucket { rate, burst, empty_at: None }))
    }
}

fn limit(algorithm: Algorithm) -> Limit {
    Limit::new(algorithm, Rules::default()).expect("a limit")
}

/// A fixed window of two words.
pub fn window(allowed: u64) -> Limit {
    limit(Algorithm::FixedWindow(FixedWindow { limit: allowed, window: Micros::from_secs(3600) }))
}

/// A sliding window of two words.
pub fn sliding(allowed: u64) -> Limit {
    let window = Micros::from_secs(3600);
    limit(Algorithm::SlidingWindow(SlidingWindow { limit: allowed, window, cells: 1 }))
}

/// Governor without keys.
pub fn governor_direct(rule: Rule) -> governor::DefaultDirectRateLimiter {
    RateLimiter::direct_with_clock(rule.quota(), DefaultClock::default())
}

/// Governor by key over DashMap with ahash.
pub type GovernorKeyed<K> = RateLimiter<
    K,
    DashMapStateStore<K, ahash::RandomState>,
    QuantaClock,
    NoOpMiddleware<governor::clock::QuantaInstant>,
>;

/// Governor by key.
pub fn governor_keyed<K: Hash + Eq + Clone>(rule: Rule) -> GovernorKeyed<K> {
    let hasher = ahash::RandomState::new();
    RateLimiter::dashmap_with_clock_and_hasher(rule.quota(), QuantaClock::default(), hasher)
}

/// Governor by key with its default hasher, as the issue has it for one hot key.
pub fn governor_default(rule: Rule) -> governor::DefaultKeyedRateLimiter<Key> {
    RateLimiter::dashmap_with_clock(rule.quota(), QuantaClock::default())
}

/// Ours without keys.
pub fn direct<C: Clock>(rule: Rule, clock: C) -> DirectLimiter<C> {
    DirectLimiter::new(rule.limit(), clock).expect("a bucket")
}

/// Ours by key.
pub fn keyed<C: Clock>(limit: Limit, max_keys: usize, clock: C) -> KeyedLimiter<Key, C> {
    KeyedLimiter::new(limit, max_keys, clock).expect("a bucket")
}

/// Ours by key, by the system's clock.
pub fn keyed_exact(rule: Rule, max_keys: usize) -> KeyedLimiter<Key, SystemClock> {
    keyed(rule.limit(), max_keys, SystemClock::new())
}
