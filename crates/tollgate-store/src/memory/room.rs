//! How many keys a limit may remember: one count for all classes of a name.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use tollgate_core::Timestamp;

/// The room that the classes of one limit share.
#[derive(Debug)]
pub(crate) struct Room {
    /// The limit's name.
    pub(crate) name: Arc<str>,
    /// Where the search for keys as fresh as new stands.
    pub(crate) search: Mutex<Search>,
    max: AtomicUsize,
    live: AtomicUsize,
    evicted: AtomicU64,
    overflowed: AtomicU64,
    /// Before this moment no key is as fresh as new, as far as is known: not worth a look.
    next_free: AtomicU64,
    /// The earliest of the moments told by [`Room::frees_at`] since the current search began.
    told: AtomicU64,
}

/// A search through all shards of all classes, a bounded piece at a time.
#[derive(Debug)]
pub(crate) struct Search {
    /// The next shard, counted through all classes.
    pub(crate) position: usize,
    /// Shards looked at since one gave something.
    pub(crate) fruitless: usize,
    /// The first moment at which one of the keys seen is as fresh as new.
    pub(crate) lowest: u64,
}

impl Room {
    /// Room for `max` keys.
    pub(crate) fn new(name: Arc<str>, max: usize) -> Room {
        Room {
            name,
            search: Mutex::new(Search { position: 0, fruitless: 0, lowest: u64::MAX }),
            max: AtomicUsize::new(max),
            live: AtomicUsize::new(0),
            evicted: AtomicU64::new(0),
            overflowed: AtomicU64::new(0),
            next_free: AtomicU64::new(0),
            told: AtomicU64::new(u64::MAX),
        }
    }

    /// The room that follows `before` and goes on counting where it was.
    pub(crate) fn after(before: &Room, max: usize) -> Room {
        let room = Room::new(before.name.clone(), max);
        let (evicted, overflowed) = before.counters();
        room.evicted.store(evicted, Ordering::Relaxed);
        room.overflowed.store(overflowed, Ordering::Relaxed);
        room
    }

    /// A reload gives it another size. Keys above it stay until they are as fresh as new.
    pub(crate) fn resize(&self, max: usize) {
        self.max.store(max, Ordering::Relaxed);
        self.frees_at(0);
    }

    /// `keys` keys come with a reload: they are let in, room or not.
    pub(crate) fn admit(&self, keys: usize) {
        self.live.fetch_add(keys, Ordering::Relaxed);
    }

    /// A place for one more key, if there is one.
    pub(crate) fn enter(&self) -> bool {
        let max = self.max.load(Ordering::Relaxed);
        self.live
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |live| {
                (live < max).then_some(live + 1)
            })
            .is_ok()
    }

    /// `keys` keys were forgotten.
    pub(crate) fn leave(&self, keys: usize) {
        self.live.fetch_sub(keys, Ordering::Relaxed);
    }

    /// Keys remembered.
    pub(crate) fn live(&self) -> usize {
        self.live.load(Ordering::Relaxed)
    }

    /// Most keys remembered.
    pub(crate) fn max(&self) -> usize {
        self.max.load(Ordering::Relaxed)
    }

    /// Whether another key would be one too many.
    pub(crate) fn is_full(&self) -> bool {
        self.live() >= self.max()
    }

    /// Keys were forgotten to make room.
    pub(crate) fn count_evicted(&self, keys: usize) {
        self.evicted.fetch_add(keys as u64, Ordering::Relaxed);
    }

    /// A newcomer was sent to the overflow bucket.
    pub(crate) fn count_overflow(&self) {
        self.overflowed.fetch_add(1, Ordering::Relaxed);
    }

    /// Keys forgotten to make room, and newcomers sent to the overflow bucket.
    pub(crate) fn counters(&self) -> (u64, u64) {
        (self.evicted.load(Ordering::Relaxed), self.overflowed.load(Ordering::Relaxed))
    }

    /// Whether a search for a key as fresh as new may find one at `now`.
    pub(crate) fn may_free(&self, now: Timestamp) -> bool {
        now.as_micros() >= self.next_free.load(Ordering::SeqCst)
    }

    /// A search begins anew.
    pub(crate) fn search_begins(&self) {
        self.told.store(u64::MAX, Ordering::SeqCst);
    }

    /// A whole search found no key that is as fresh as new before `at`.
    pub(crate) fn none_before(&self, at: u64) {
        // In this order: a moment told meanwhile either is read here or is written to `next_free` after this.
        self.next_free.store(at, Ordering::SeqCst);
        self.next_free.fetch_min(self.told.load(Ordering::SeqCst), Ordering::SeqCst);
    }

    /// A key will be as fresh as new at `at`, earlier than a search may have seen.
    pub(crate) fn frees_at(&self, at: u64) {
        // Read first: nearly every key frees later than the first one.
        if at < self.told.load(Ordering::SeqCst) {
            self.told.fetch_min(at, Ordering::SeqCst);
        }
        if at < self.next_free.load(Ordering::SeqCst) {
            self.next_free.fetch_min(at, Ordering::SeqCst);
        }
    }
}
