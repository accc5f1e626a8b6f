//! One limit of one class under one set of parameters, with what was counted by it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard};
use tollgate_core::{Algorithm, Limit, Period, State, Timestamp};

use super::hash::KeyHash;
use super::locked::{Locked, Shard, Stage};
use super::room::Room;
use crate::{Definition, LimitId, Shape};

/// Parameters and counts. A reload with other parameters makes a new one, which takes the counts over shard by shard.
#[derive(Debug)]
pub(super) struct Counter {
    pub(super) id: LimitId,
    pub(super) class: Option<Arc<str>>,
    pub(super) shape: Shape,
    pub(super) limit: Limit,
    pub(super) room: Arc<Room>,
    pub(super) locked: Locked,
    period: SeenPeriod,
    previous: Mutex<Option<Arc<Counter>>>,
    since: Timestamp,
}

/// What was found when a shard was swept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Swept {
    /// Keys forgotten.
    pub(super) freed: usize,
    /// When the first of the others is as fresh as new, in microseconds since the epoch.
    pub(super) lowest: u64,
}

impl Counter {
    /// Begins to count at `since`; with `previous`, what that one counted is taken over.
    pub(super) fn new(
        id: LimitId,
        definition: &Definition,
        limit: Limit,
        room: Arc<Room>,
        previous: Option<Arc<Counter>>,
        since: Timestamp,
    ) -> Counter {
        let stage = if previous.is_some() { Stage::Awaiting } else { Stage::Here };
        // A successor's shards answer to its predecessor's, one to one.
        let shards =
            previous.as_ref().map_or_else(|| shards_for(room.max()), |p| p.locked.shards());
        Counter {
            id,
            class: definition.class.clone(),
            shape: definition.shape.clone(),
            limit,
            room,
            locked: Locked::new(shards, stage),
            period: SeenPeriod::default(),
            previous: Mutex::new(previous),
            since,
        }
    }

    /// Locks a shard, with its counts; `None` where a successor has them.
    pub(super) fn lock(&self, shard: usize) -> Option<MutexGuard<'_, Shard>> {
        let mut guard = self.locked.lock(shard);
        if guard.stage == Stage::Awaiting {
            self.take_over(shard, &mut guard);
        }
        (guard.stage == Stage::Here).then_some(guard)
    }

    /// Takes all counts over that are still with the predecessor, shard by shard, and lets go of it.
    pub(super) fn take_over_all(&self) {
        for shard in 0..self.locked.shards() {
            drop(self.lock(shard));
        }
        *self.previous.lock() = None;
    }

    fn take_over(&self, shard: usize, into: &mut Shard) {
        into.stage = Stage::Here;
        let Some(previous) = self.previous.lock().clone() else { return };
        // The lock order is successor before predecessor, everywhere.
        let Some(mut from) = previous.lock(shard) else { return };
        from.stage = Stage::Moved;
        self.period.carry(&previous.period);
        if !Arc::ptr_eq(&self.room, &previous.room) {
            self.room.admit(from.counted());
            previous.room.leave(from.counted());
        }
        for (key, state) in from.keys.drain() {
            let state = self.limit.carry_over(&previous.limit, state, self.since);
            into.keys.insert(key, state);
        }
        from.keys.shrink_to_fit();
    }

    /// Remembers the period of a quota's request.
    pub(super) fn saw(&self, period: Option<Period>) {
        if let Some(period) = period {
            self.period.saw(period);
        }
    }

    /// The period around `now`, as far as it is known from requests.
    pub(super) fn period_at(&self, now: Timestamp) -> Option<Period> {
        self.period.at(now)
    }

    /// When `state` is as fresh as new, in microseconds since the epoch; at `now` or before: it is.
    pub(super) fn fresh_at(&self, state: &State, now: Timestamp) -> u64 {
        let period = self.period_at(now);
        if self.limit.is_fresh(state, period, now) {
            return 0;
        }
        if period.is_none() && matches!(self.limit.algorithm(), Algorithm::Quota(_)) {
            return u64::MAX;
        }
        now.as_micros() + self.limit.standing(state, period, now).reset.get()
    }

    /// Forgets the keys of a shard that are as fresh as new, but for `keep`.
    pub(super) fn forget_fresh(&self, shard: usize, now: Timestamp, keep: &[KeyHash]) -> Swept {
        let mut swept = Swept { freed: 0, lowest: u64::MAX };
        let Some(mut guard) = self.lock(shard) else { return swept };
        guard.keys.retain(|key, state| {
            let fresh_at = self.fresh_at(state, now);
            let key = KeyHash::from_u128(*key);
            if fresh_at > now.as_micros() || keep.contains(&key) {
                swept.lowest = swept.lowest.min(fresh_at);
                return true;
            }
            swept.freed += usize::from(key != KeyHash::OVERFLOW);
            false
        });
        if guard.keys.capacity() > 64 && guard.keys.len() < guard.keys.capacity() / 4 {
            guard.keys.shrink_to_fit();
        }
        drop(guard);
        self.room.leave(swept.freed);
        swept
    }

    /// How many places a sweep has to visit.
    pub(super) fn shards(&self) -> usize {
        self.locked.shards()
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        // What this one still counts leaves the room with it; what a successor took over stays.
        for shard in 0..self.locked.shards() {
            self.room.leave(self.locked.lock(shard).counted());
        }
    }
}

/// Shards for so many keys: few enough that a small limit stays small, enough that each stays small.
fn shards_for(max: usize) -> usize {
    (max / 2048).next_power_of_two().clamp(16, 1024)
}

/// The latest period that requests brought, from which the store tells whether a quota's count is over.
#[derive(Debug, Default)]
struct SeenPeriod {
    start: AtomicU64,
    end: AtomicU64,
}

impl SeenPeriod {
    fn saw(&self, period: Period) {
        let start = period.start.as_micros();
        if start > self.start.load(Ordering::Acquire) {
            // The end first: a start without its end would call a running period over.
            self.end.fetch_max(period.end.as_micros(), Ordering::AcqRel);
            self.start.fetch_max(start, Ordering::AcqRel);
        } else {
            self.end.fetch_max(period.end.as_micros(), Ordering::AcqRel);
        }
    }

    fn carry(&self, from: &SeenPeriod) {
        self.end.fetch_max(from.end.load(Ordering::Acquire), Ordering::AcqRel);
        self.start.fetch_max(from.start.load(Ordering::Acquire), Ordering::AcqRel);
    }

    fn at(&self, now: Timestamp) -> Option<Period> {
        let start = self.start.load(Ordering::Acquire);
        let end = self.end.load(Ordering::Acquire);
        match end {
            0 => None,
            _ if now.as_micros() >= end => {
                Some(Period { start: Timestamp::from_micros(end), end: Timestamp::MAX })
            }
            _ => Some(Period {
                start: Timestamp::from_micros(start),
                end: Timestamp::from_micros(end),
            }),
        }
    }
}
