//! A bucket for each key.

use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use parking_lot::Mutex;
use smallvec::SmallVec;
use tollgate_core::{Bucket64, Decision, Limit, Micros, Retry, Timestamp};

use super::{Refused, UnsupportedLimit, supported};
use crate::memory::{
    Again, Ask, Backoff, Counter, Home, KeyHash, KeyHasher, Look, PATIENCE, Plan, Room, Table,
    attempt, make_room,
};
use crate::{Call, Clock, Definition, LimitId, Shape, Sharing, SystemClock};

/// A limiter by key, of bounded memory: beyond `max_keys` only keys as fresh as new make way, and newcomers share one
/// bucket while there is none.
///
/// Keys are remembered as 128 bits of a hash with a random seed.
///
/// ```
/// use tollgate_core::{Algorithm, Burst, Limit, Micros, Rate, Retry, Rules, TokenBucket};
/// use tollgate_store::{KeyedLimiter, ManualClock};
///
/// let rate = Rate { count: 10, per: Micros::from_secs(1) };
/// let spec = TokenBucket { rate, burst: Burst::Units(2), empty_at: None };
/// let limit = Limit::new(Algorithm::TokenBucket(spec), Rules::default())?;
/// // A service takes a `SystemClock`.
/// let limiter = KeyedLimiter::new(limit, 100_000, ManualClock::default())?;
///
/// assert!(limiter.check_n("alice", 2).is_ok());
/// let refused = limiter.check("alice").expect_err("two of two are taken");
/// assert_eq!(refused.retry, Retry::After(Micros::new(100_000)));
/// assert!(limiter.check("bob").is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct KeyedLimiter<K: ?Sized, C = SystemClock> {
    clock: C,
    hasher: KeyHasher,
    /// Where all is one word.
    bucket: Option<Bucket64>,
    counter: Arc<Counter>,
    tickets: AtomicU64,
    sweep: Mutex<usize>,
    keys: PhantomData<fn(&K)>,
}

impl<K: Hash + ?Sized, C: Clock> KeyedLimiter<K, C> {
    /// A limiter by `limit` on `clock` that remembers at most `max_keys` keys.
    ///
    /// # Errors
    /// [`UnsupportedLimit`] for a quota or a concurrency limit.
    pub fn new(
        limit: Limit,
        max_keys: usize,
        clock: C,
    ) -> Result<KeyedLimiter<K, C>, UnsupportedLimit> {
        supported(&limit)?;
        let name: Arc<str> = "keyed limiter".into();
        let room = Arc::new(Room::new(name.clone(), max_keys));
        let shape = Shape(String::new());
        let definition = Definition {
            name,
            class: None,
            limit: limit.clone(),
            shape,
            max_keys,
            sharing: Sharing::default(),
        };
        let since = clock.now();
        Ok(KeyedLimiter {
            hasher: KeyHasher::new(),
            bucket: limit.bucket64().cloned(),
            counter: Arc::new(Counter::new(LimitId(0), &definition, limit, room, None, since)),
            clock,
            tickets: AtomicU64::new(0),
            sweep: Mutex::new(0),
            keys: PhantomData,
        })
    }

    /// Takes one unit of `key`. `Ok` is how long to wait before going on: zero, but for a leaky bucket with delay.
    ///
    /// # Errors
    /// [`Refused`], and then nothing was taken.
    #[inline]
    pub fn check(&self, key: &K) -> Result<Micros, Refused> {
        self.check_n(key, 1)
    }

    /// Takes `cost` units of `key` or none; 0 asks without taking.
    ///
    /// # Errors
    /// [`Refused`], and then nothing was taken.
    #[inline]
    pub fn check_n(&self, key: &K, cost: u64) -> Result<Micros, Refused> {
        let key = self.hasher.hash_value(key);
        match (&self.bucket, self.counter.table()) {
            (Some(bucket), Some(table)) => {
                // The key's line is on its way while the clock is read, and where it is is known by then: nothing that
                // comes after a reading of the processor's ticks begins before it.
                let home = table.touch(key);
                self.check_word(bucket, table, key, &home, cost, self.clock.now())
            }
            _ => self.check_any(key, cost, self.clock.now()),
        }
    }

    /// Takes one unit of each key, each for itself, in order: what [`KeyedLimiter::check`] would answer for each, at one
    /// reading of the clock, and sooner, since the memory of all is on its way at once.
    #[must_use]
    pub fn check_many<'k>(
        &self,
        keys: impl IntoIterator<Item = &'k K>,
    ) -> SmallVec<[Result<Micros, Refused>; 16]>
    where
        K: 'k,
    {
        let keys: SmallVec<[KeyHash; 16]> =
            keys.into_iter().map(|key| self.hasher.hash_value(key)).collect();
        match (&self.bucket, self.counter.table()) {
            (Some(bucket), Some(table)) => {
                let homes: SmallVec<[Home<'_>; 16]> =
                    keys.iter().map(|key| table.touch(*key)).collect();
                let now = self.clock.now();
                let touched = keys.into_iter().zip(&homes);
                touched
                    .map(|(key, home)| self.check_word(bucket, table, key, home, 1, now))
                    .collect()
            }
            _ => {
                let now = self.clock.now();
                keys.into_iter().map(|key| self.check_any(key, 1, now)).collect()
            }
        }
    }

    /// Keys remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counter.room.live()
    }

    /// Whether no key is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Does a bounded piece of the sweep that forgets keys as fresh as new; `true` when a whole round is done.
    pub fn sweep(&self) -> bool {
        let mut position = self.sweep.lock();
        self.counter.forget_fresh(*position, self.clock.now(), &[]);
        *position = (*position + 1) % self.counter.shards();
        *position == 0
    }

    #[inline(always)]
    fn check_word(
        &self,
        bucket: &Bucket64,
        table: &Table,
        key: KeyHash,
        home: &Home<'_>,
        cost: u64,
        now: Timestamp,
    ) -> Result<Micros, Refused> {
        let mut met = Backoff::default();
        let mut look = table.look_from(key, home).or_else(|| table.look(key).ok());
        while let Some(found) = look.filter(Look::is_present) {
            let seen = found.words[0];
            let (next, answer) = match bucket.step(seen, now, cost) {
                Ok(next) => (next, Ok(Micros::ZERO)),
                Err(refused) => (refused.word, Err(Refused { retry: bucket.retry(&refused) })),
            };
            if next == seen || table.replace(&found, [next, 0]) {
                return answer;
            }
            met.pause();
            look = table.look(key).ok();
        }
        self.check_any(key, cost, now)
    }

    /// A new key, or a state of more than one word.
    #[cold]
    fn check_any(&self, key: KeyHash, cost: u64, now: Timestamp) -> Result<Micros, Refused> {
        let counter = &self.counter;
        let call = Call { charges: &[], now, hold: None };
        let (mut key, mut searches) = (key, 0);
        loop {
            let mut plan = Plan::default();
            plan.add(Ask::new(counter, key, cost));
            match attempt(&mut plan, &call, &self.tickets) {
                Ok(decided) => return answer(&decided.decision),
                Err(Again::Changed | Again::Moved) => {}
                Err(Again::Full(_)) => {
                    searches += 1;
                    if searches <= PATIENCE && make_room(&[counter], &counter.room, now, &[key]) {
                        continue;
                    }
                    if key == KeyHash::OVERFLOW {
                        // No memory even for the bucket that stands in: nobody new passes, until when is not known.
                        return Err(Refused { retry: Retry::After(Micros::ZERO) });
                    }
                    counter.room.count_overflow();
                    (key, searches) = (KeyHash::OVERFLOW, 0);
                }
            }
        }
    }
}

fn answer(decision: &Decision) -> Result<Micros, Refused> {
    if decision.admitted { Ok(decision.delay) } else { Err(Refused { retry: decision.retry }) }
}
