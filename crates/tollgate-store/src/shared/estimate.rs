//! `sync: estimate`: the node decides on its own copy of the sum, reports what it admitted, and fetches the sum.
//!
//! The copy is a key of the local store. A report charges the shared store by force and brings the state that it had before;
//! with the report's units, and those that the node admitted meanwhile, that is the copy from then on.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;
use tollgate_core::{Charged, Period, Timestamp};

use super::Node;
use super::concurrently::concurrently;
use super::fallback::charge_anyway;
use super::limits::Held;
use super::remote::{Admitted, Before, Remote};
use crate::memory::KeyHash;
use crate::{Charge, LimitId, StoreError, Taken};

/// Apart, so that decisions do not wait for each other.
const SHARDS: usize = 16;

/// Most keys that wait for their report.
const MOST: usize = 1 << 20;

/// So many reports are on their way at a time.
const AT_A_TIME: usize = 32;

/// What was admitted since the last report, by key.
#[derive(Debug)]
pub(super) struct Unreported {
    shards: Box<[Mutex<HashMap<Key, Units>>]>,
    len: AtomicUsize,
    /// The last reports failed: the copies are no estimate of anything any more.
    stale: AtomicBool,
}

type Key = (LimitId, KeyHash);

#[derive(Clone, Copy, Debug)]
struct Units {
    /// The shared store's name of the key.
    name: u128,
    units: u64,
    period: Option<Period>,
}

impl Unreported {
    pub(super) fn new() -> Unreported {
        Unreported {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            len: AtomicUsize::new(0),
            stale: AtomicBool::new(false),
        }
    }

    /// Whether the last reports failed.
    #[inline]
    pub(super) fn is_stale(&self) -> bool {
        self.stale.load(Ordering::Relaxed)
    }

    pub(super) fn set_stale(&self, stale: bool) {
        self.stale.store(stale, Ordering::Relaxed);
    }

    /// Adds to what is to be reported; `false` where there is no room.
    fn add(&self, key: Key, first: impl FnOnce() -> Units, units: u64) -> bool {
        let mut shard = self.shard(key.1).lock();
        if let Some(known) = shard.get_mut(&key) {
            known.units = known.units.saturating_add(units);
            return true;
        }
        if self.len.fetch_add(1, Ordering::Relaxed) >= MOST {
            self.len.fetch_sub(1, Ordering::Relaxed);
            return false;
        }
        shard.insert(key, Units { units, ..first() });
        true
    }

    /// Corrects what is to be reported of a charge; what was reported already stays so.
    pub(super) fn settle(&self, limit: LimitId, key: KeyHash, charged: &Charged, units: u64) {
        if let Some(known) = self.shard(key).lock().get_mut(&(limit, key)) {
            let (more, less) =
                (units.saturating_sub(charged.units), charged.units.saturating_sub(units));
            known.units = known.units.saturating_add(more).saturating_sub(less);
        }
    }

    fn units(&self, key: Key) -> u64 {
        self.shard(key.1).lock().get(&key).map_or(0, |known| known.units)
    }

    fn take(&self, key: Key) -> Option<Units> {
        let taken = self.shard(key.1).lock().remove(&key);
        self.len.fetch_sub(usize::from(taken.is_some()), Ordering::Relaxed);
        taken
    }

    /// Forgets one key: it was reset.
    pub(super) fn forget(&self, limit: LimitId, key: KeyHash) {
        self.take((limit, key));
    }

    fn all(&self, limit: LimitId) -> Vec<Key> {
        let mut keys = Vec::new();
        for shard in &self.shards {
            keys.extend(shard.lock().keys().filter(|key| key.0 == limit));
        }
        keys
    }

    fn shard(&self, key: KeyHash) -> &Mutex<HashMap<Key, Units>> {
        &self.shards[key.shard(SHARDS)]
    }
}

impl<R: Remote> Node<R> {
    /// Whether the sums can be reported and fetched.
    #[inline]
    pub(super) fn estimates(&self) -> bool {
        !self.unreported.is_stale() && !self.breaker.is_open()
    }

    /// Keeps what was admitted on an estimate for the next report.
    pub(super) fn report_later(&self, held: &Held, charge: &Charge<'_>, taken: &Taken) {
        let Some(limit) = held.remote else { return };
        // Not the name in `taken`: a newcomer without room was charged to the overflow bucket.
        let key = (held.id, self.local.name_of(charge.key));
        let first =
            || Units { name: self.remote.name(limit, charge.key), units: 0, period: charge.period };
        if !self.unreported.add(key, first, taken.charged.units) {
            self.counters.unreconciled.fetch_add(taken.charged.units, Ordering::Relaxed);
        }
    }

    /// Reports what was admitted of a limit's keys, and fetches their sums.
    pub(super) async fn report(&self, held: &Arc<Held>) {
        let keys = self.unreported.all(held.id);
        concurrently(keys, AT_A_TIME, |key| self.report_one(held, key)).await;
    }

    async fn report_one(&self, held: &Arc<Held>, key: Key) {
        let now = self.now();
        let Some(limit) = held.remote else { return };
        let Ok(permit) = self.enter(now) else { return };
        let Some(Units { name, units, period }) = self.unreported.take(key) else { return };
        let admitted = Admitted { limit, name, units, period, now };
        match self.ask_aside(permit, self.remote.charge_admitted(&admitted)).await {
            Ok(before) => {
                let whole = &held.definition.limit;
                let left = whole.standing(&before.state, period, before.now).remaining;
                let beyond = units.saturating_sub(left);
                self.counters.overshoot.fetch_add(beyond, Ordering::Relaxed);
                self.refresh(held, key.1, &before, &admitted);
            }
            Err(StoreError::Unavailable(trouble)) => {
                self.unreported.set_stale(true);
                let first = || Units { name, units: 0, period };
                if trouble.leaves_doubt() || !self.unreported.add(key, first, units) {
                    self.counters.unreconciled.fetch_add(units, Ordering::Relaxed);
                }
            }
            // The limit is gone, or its period is over: nothing counts any more.
            Err(_) => {}
        }
    }

    /// Makes the copy of a key's sum, where there is one: what the store had before `admitted` was charged, with that and what
    /// was admitted since.
    pub(super) fn refresh(&self, held: &Held, key: KeyHash, before: &Before, admitted: &Admitted) {
        if held.every().is_none() {
            return;
        }
        let (period, now) = (admitted.period, self.now());
        // Without room for the key it begins fresh, or shares the overflow bucket.
        let _ = self.local.rewrite_now(held.id, key, now, |limit, state| {
            let mut sum = before.state.clone();
            charge_anyway(limit, &mut sum, admitted.units, period, before.now);
            charge_anyway(limit, &mut sum, self.unreported.units((held.id, key)), period, now);
            let changed = *state != sum;
            *state = sum;
            changed
        });
        let mut sum = before.state.clone();
        charge_anyway(&held.definition.limit, &mut sum, admitted.units, period, before.now);
        let standing = held.definition.limit.standing(&sum, period, before.now);
        self.seed(held, key, standing, period, now);
    }

    /// When each estimated limit is to be reported next, and those whose time has come.
    pub(super) fn due(
        &self,
        next: &mut HashMap<LimitId, Timestamp>,
        now: Timestamp,
    ) -> Vec<Arc<Held>> {
        let limits = self.limits.load();
        next.retain(|id, _| limits.get(*id).is_ok());
        let mut due = Vec::new();
        for held in limits.all() {
            let Some(every) = held.every() else { continue };
            let at = next.entry(held.id).or_insert(now);
            // A clock that was set back does not put it off.
            let wait = at.as_micros().saturating_sub(now.as_micros());
            if wait == 0 || wait > every.get() {
                *at = Timestamp::from_micros(now.as_micros().saturating_add(every.get()));
                due.push(held.clone());
            }
        }
        due
    }
}
