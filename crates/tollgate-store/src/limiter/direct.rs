//! One bucket for everybody.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tollgate_core::{Asked, Bucket64, Limit, Micros, Outcome, State, step};

use super::{Refused, UnsupportedLimit, supported};
use crate::{Clock, SystemClock};

/// A limiter without keys: one atomic word for buckets of ordinary parameters, a small mutex for all else.
///
/// ```
/// use tollgate_core::{Algorithm, Burst, Limit, Micros, Rate, Retry, Rules, TokenBucket};
/// use tollgate_store::{DirectLimiter, ManualClock};
///
/// let rate = Rate { count: 10, per: Micros::from_secs(1) };
/// let spec = TokenBucket { rate, burst: Burst::Units(2), empty_at: None };
/// let limit = Limit::new(Algorithm::TokenBucket(spec), Rules::default())?;
/// // A service takes a `SystemClock`.
/// let limiter = DirectLimiter::new(limit, ManualClock::default())?;
///
/// assert!(limiter.check().is_ok());
/// assert!(limiter.check().is_ok());
/// let refused = limiter.check().expect_err("two of two are taken");
/// assert_eq!(refused.retry, Retry::After(Micros::new(100_000)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DirectLimiter<C = SystemClock> {
    clock: C,
    kept: Kept,
}

#[derive(Debug)]
enum Kept {
    Word(Bucket64, AtomicU64),
    State(Limit, Mutex<State>),
}

impl<C: Clock> DirectLimiter<C> {
    /// A limiter by `limit` on `clock`.
    ///
    /// # Errors
    /// [`UnsupportedLimit`] for a quota or a concurrency limit.
    pub fn new(limit: Limit, clock: C) -> Result<DirectLimiter<C>, UnsupportedLimit> {
        supported(&limit)?;
        let kept = match limit.bucket64() {
            Some(bucket) => Kept::Word(bucket.clone(), AtomicU64::new(bucket.fresh())),
            None => Kept::State(limit, Mutex::new(State::Fresh)),
        };
        Ok(DirectLimiter { clock, kept })
    }

    /// Takes one unit. `Ok` is how long to wait before going on: zero, but for a leaky bucket with delay.
    ///
    /// # Errors
    /// [`Refused`], and then nothing was taken.
    #[inline]
    pub fn check(&self) -> Result<Micros, Refused> {
        self.check_n(1)
    }

    /// Takes `cost` units or none; 0 asks without taking.
    ///
    /// # Errors
    /// [`Refused`], and then nothing was taken.
    #[inline]
    pub fn check_n(&self, cost: u64) -> Result<Micros, Refused> {
        match &self.kept {
            Kept::Word(bucket, word) => self.check_word(bucket, word, cost),
            Kept::State(limit, state) => self.check_state(limit, state, cost),
        }
    }

    #[inline]
    fn check_word(
        &self,
        bucket: &Bucket64,
        word: &AtomicU64,
        cost: u64,
    ) -> Result<Micros, Refused> {
        let now = self.clock.now();
        let mut seen = word.load(Ordering::Relaxed);
        loop {
            let (next, answer) = match bucket.step(seen, now, cost) {
                Ok(next) => (next, Ok(Micros::ZERO)),
                Err(refused) => (refused.word, Err(Refused { retry: bucket.retry(&refused) })),
            };
            if next == seen {
                return answer;
            }
            match word.compare_exchange_weak(seen, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return answer,
                Err(other) => seen = other,
            }
        }
    }

    fn check_state(
        &self,
        limit: &Limit,
        state: &Mutex<State>,
        cost: u64,
    ) -> Result<Micros, Refused> {
        let mut state = state.lock();
        let now = self.clock.now();
        let mut outcomes = [Outcome::default()];
        let mut asked = [Asked { limit, state: &mut *state, cost, period: None }];
        // A log's entries are never given back, so one ticket does for all.
        let decision = step(&mut asked, now, 0, None, &mut outcomes);
        if decision.admitted { Ok(decision.delay) } else { Err(Refused { retry: decision.retry }) }
    }
}
