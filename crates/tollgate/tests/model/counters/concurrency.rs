//! Slots that are held for a while.

use super::{Counter, RequestId};
use crate::model::rational::{Rat, whole};

/// The slots of a key.
pub(crate) struct Slots {
    limit: u64,
    held: Vec<Held>,
    next_end: i64,
}

struct Held {
    units: Rat,
    /// Free at that microsecond.
    end: i64,
}

impl Slots {
    /// All free.
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, held: Vec::new(), next_end: 0 }
    }

    fn held(&self, now: i64) -> impl Iterator<Item = &Held> {
        self.held.iter().filter(move |held| held.end > now)
    }
}

impl Counter for Slots {
    fn capacity(&self) -> Rat {
        whole(self.limit)
    }

    fn level(&self, now: i64) -> Rat {
        self.held(now).fold(whole(self.limit), |left, held| left - &held.units)
    }

    fn take(&mut self, _request: RequestId, units: &Rat, _now: i64) {
        if *units > whole(0) {
            self.held.push(Held { units: units.clone(), end: self.next_end });
        }
    }

    /// A slot is free when its request ends, which is also when its outcome is known.
    fn give_back(&mut self, _request: RequestId, _now: i64) {}

    fn reset(&self, now: i64) -> Rat {
        whole(self.held(now).map(|held| held.end - now).max().unwrap_or(0))
    }

    fn slot_ends_at(&mut self, end: i64) {
        self.next_end = end;
    }

    fn frees_at_unknown_times(&self) -> bool {
        true
    }
}
