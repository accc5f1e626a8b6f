//! Keys that the shared store said are exhausted: until then they are refused without asking it again.

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use tollgate_core::{Micros, Outcome, Retry, Standing, Timestamp};

use crate::LimitId;
use crate::memory::KeyHash;

/// So many sets, of which a key belongs to one.
const SETS: usize = 4096;

/// So many keys a set remembers; one more takes the place of the one whose time is over first.
const KEYS_A_SET: usize = 8;

/// A first refusal holds for so long: it may have met charges of a decision that is given back in the end.
const FIRST: Micros = Micros::new(100_000);

/// A repeated one holds for at most so long: an operator may have reset the key.
const REPEATED: Micros = Micros::from_secs(15);

/// A bounded memory of refusals.
#[derive(Debug)]
pub(super) struct Exhausted {
    sets: Box<[Mutex<Vec<Entry>>]>,
    /// How many are remembered: where there are none, nobody looks.
    len: AtomicUsize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    limit: LimitId,
    key: KeyHash,
    /// Costs from this on are refused.
    cost: u64,
    /// When the store said so.
    told: Timestamp,
    /// When it is asked again.
    ask_again: Timestamp,
    /// When it would admit; `None` is never.
    until: Option<Timestamp>,
    standing: Standing,
}

/// What is known of a key without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) retry: Retry,
    pub(super) standing: Standing,
}

impl Exhausted {
    pub(super) fn new() -> Exhausted {
        Exhausted { sets: (0..SETS).map(|_| Mutex::default()).collect(), len: AtomicUsize::new(0) }
    }

    /// Whether nothing is remembered.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len.load(Ordering::Relaxed) == 0
    }

    /// What is known to refuse a request of `cost`. For a greater cost than the one that was refused, the retry time is the
    /// earliest moment that it may be.
    pub(super) fn find(
        &self,
        limit: LimitId,
        key: KeyHash,
        cost: u64,
        now: Timestamp,
    ) -> Option<Known> {
        let set = self.set(key).lock();
        let entry = set.iter().find(|entry| entry.is(limit, key))?;
        // A clock that was set back says nothing of when it is over.
        let holds = entry.told <= now && now < entry.ask_again && cost >= entry.cost;
        holds.then(|| entry.known(now))
    }

    /// The store refused `cost` when it was asked at `now`.
    pub(super) fn note(
        &self,
        limit: LimitId,
        key: KeyHash,
        cost: u64,
        outcome: &Outcome,
        now: Timestamp,
    ) {
        let until = match outcome.retry {
            Retry::After(Micros::ZERO) => return,
            Retry::After(span) => Some(later(now, span)),
            Retry::Never => None,
        };
        let mut set = self.set(key).lock();
        let known = set.iter().position(|entry| entry.is(limit, key));
        let repeated = known.is_some_and(|index| {
            let entry = &set[index];
            entry.cost <= cost && entry.told <= now && entry.until.is_none_or(|until| now < until)
        });
        let most = later(now, if repeated { REPEATED } else { FIRST });
        let ask_again = until.map_or(most, |until| until.min(most));
        let standing = outcome.standing;
        let entry = Entry { limit, key, cost, told: now, ask_again, until, standing };
        match known {
            Some(index) => set[index] = entry,
            None if set.len() < KEYS_A_SET => {
                set.push(entry);
                self.len.fetch_add(1, Ordering::Relaxed);
            }
            None => {
                if let Some(first) = set.iter_mut().min_by_key(|entry| entry.ends()) {
                    *first = entry;
                }
            }
        }
    }

    /// The store admitted `cost`: what it refused before holds no more.
    pub(super) fn admitted(&self, limit: LimitId, key: KeyHash, cost: u64) {
        let refuses = |entry: &Entry| entry.is(limit, key) && entry.cost <= cost;
        let refused = self.set(key).lock().iter().any(refuses);
        if refused {
            self.forget(limit, key);
        }
    }

    /// Forgets one key: it was reset.
    pub(super) fn forget(&self, limit: LimitId, key: KeyHash) {
        let mut set = self.set(key).lock();
        let before = set.len();
        set.retain(|entry| !entry.is(limit, key));
        self.len.fetch_sub(before - set.len(), Ordering::Relaxed);
    }

    /// Forgets all: a reload may have raised any limit.
    pub(super) fn clear(&self) {
        for set in &self.sets {
            let mut set = set.lock();
            self.len.fetch_sub(set.len(), Ordering::Relaxed);
            set.clear();
        }
    }

    fn set(&self, key: KeyHash) -> &Mutex<Vec<Entry>> {
        &self.sets[key.shard(self.sets.len())]
    }
}

impl Entry {
    fn is(&self, limit: LimitId, key: KeyHash) -> bool {
        self.key == key && self.limit == limit
    }

    fn ends(&self) -> Timestamp {
        self.until.unwrap_or(self.ask_again)
    }

    fn known(&self, now: Timestamp) -> Known {
        let since = |then: Timestamp| now.as_micros().saturating_sub(then.as_micros());
        let left = |span: Micros| Micros::new(span.get().saturating_sub(since(self.told)));
        let Standing { remaining, reset, next } = self.standing;
        let until = |until: Timestamp| until.as_micros().saturating_sub(now.as_micros());
        Known {
            retry: self.until.map_or(Retry::Never, |at| Retry::After(Micros::new(until(at)))),
            standing: Standing { remaining, reset: left(reset), next: left(next) },
        }
    }
}

fn later(now: Timestamp, span: Micros) -> Timestamp {
    Timestamp::from_micros(now.as_micros().saturating_add(span.get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: LimitId = LimitId(7);

    fn key(number: u64) -> KeyHash {
        KeyHash { index: number, fingerprint: number + 2 }
    }

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_micros(1_000_000_000 + millis * 1000)
    }

    fn refused(millis: u64) -> Outcome {
        let span = Micros::new(millis * 1000);
        let standing = Standing { remaining: 0, reset: span, next: span };
        Outcome { refused: true, retry: Retry::After(span), standing, ..Outcome::default() }
    }

    /// A memory that was told twice that the key has nothing for `cost` until a minute after the epoch of the test.
    fn told_twice(cost: u64) -> Exhausted {
        let exhausted = Exhausted::new();
        exhausted.note(LIMIT, key(1), cost, &refused(60_000), at(0));
        exhausted.note(LIMIT, key(1), cost, &refused(59_900), at(100));
        exhausted
    }

    #[test]
    fn a_first_refusal_holds_a_moment_and_a_repeated_one_longer() {
        let exhausted = Exhausted::new();
        assert!(exhausted.is_empty());
        exhausted.note(LIMIT, key(1), 1, &refused(60_000), at(0));
        let known = exhausted.find(LIMIT, key(1), 1, at(99)).expect("it was just told");
        assert_eq!(known.retry, Retry::After(Micros::new(59_901_000)));
        assert_eq!(known.standing.reset, Micros::new(59_901_000));
        assert!(exhausted.find(LIMIT, key(1), 1, at(100)).is_none());
        exhausted.note(LIMIT, key(1), 1, &refused(59_900), at(100));
        assert!(exhausted.find(LIMIT, key(1), 1, at(15_099)).is_some());
        assert!(exhausted.find(LIMIT, key(1), 1, at(15_100)).is_none());
    }

    #[test]
    fn it_ends_when_the_store_said_and_not_later() {
        let exhausted = told_twice(1);
        exhausted.note(LIMIT, key(1), 1, &refused(10_000), at(50_000));
        assert!(exhausted.find(LIMIT, key(1), 1, at(59_999)).is_some());
        assert!(exhausted.find(LIMIT, key(1), 1, at(60_000)).is_none());
    }

    #[test]
    fn a_smaller_cost_is_asked() {
        let exhausted = told_twice(5);
        assert!(exhausted.find(LIMIT, key(1), 4, at(200)).is_none());
        assert!(exhausted.find(LIMIT, key(1), 5, at(200)).is_some());
        assert!(exhausted.find(LIMIT, key(1), 6, at(200)).is_some());
    }

    #[test]
    fn others_are_not_meant() {
        let exhausted = told_twice(1);
        assert!(exhausted.find(LIMIT, key(2), 1, at(200)).is_none());
        assert!(exhausted.find(LimitId(8), key(1), 1, at(200)).is_none());
    }

    #[test]
    fn clk_a_clock_that_was_set_back_asks() {
        assert!(told_twice(1).find(LIMIT, key(1), 1, at(99)).is_none());
    }

    #[test]
    fn what_is_forgotten_is_asked() {
        let exhausted = told_twice(1);
        exhausted.forget(LIMIT, key(1));
        assert!(exhausted.find(LIMIT, key(1), 1, at(200)).is_none() && exhausted.is_empty());
        let exhausted = told_twice(1);
        exhausted.clear();
        assert!(exhausted.is_empty());
    }

    #[test]
    fn a_flood_of_keys_is_bounded() {
        let exhausted = Exhausted::new();
        for number in 0..200_000 {
            // Spread over the sets by their upper bits.
            let key = KeyHash { index: number << 40, fingerprint: number + 2 };
            exhausted.note(LIMIT, key, 1, &refused(60_000), at(number));
        }
        assert!(exhausted.len.load(Ordering::Relaxed) <= SETS * KEYS_A_SET);
        assert!(exhausted.sets.iter().all(|set| set.lock().len() <= KEYS_A_SET));
    }
}
