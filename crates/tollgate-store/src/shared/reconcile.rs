//! Charges that were admitted while the shared store was away, kept for it until it is back.
//!
//! Of each key only what still counts is kept: a state of the node's own part of the limit, which forgets as the limit does.
//! What is missing in it when the store is back is charged there by force, so that nobody begins anew. Until then the key
//! stays with the node. Calls that the store may have heard of are not kept: it would charge them twice.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use tollgate_core::{Charged, Period, State, Timestamp};

use super::Node;
use super::concurrently::concurrently;
use super::course::Asked;
use super::fallback::{charge_anyway, is_over, missing};
use super::limits::Held;
use super::remote::{Admitted, Remote};
use crate::memory::KeyHash;
use crate::{LimitId, StoreError};

/// Most keys that are remembered.
const MOST: usize = 65_536;

/// So many are told to the store at a time.
const AT_A_TIME: usize = 32;

/// The keys.
#[derive(Debug, Default)]
pub(super) struct Unreconciled {
    keys: Mutex<HashMap<Key, Kept>>,
    /// How many there are: mostly none, and then nobody looks.
    len: AtomicUsize,
    /// How many more are being told.
    telling: AtomicUsize,
}

/// A key is being told.
struct Telling<'u>(&'u AtomicUsize);

impl Drop for Telling<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A limit, and the local store's name of the key.
type Key = (LimitId, KeyHash);

/// What was admitted of one key.
#[derive(Clone, Debug)]
struct Kept {
    held: Arc<Held>,
    /// The shared store's name of the key.
    name: u128,
    period: Option<Period>,
    /// Of the node's own part.
    state: State,
}

impl Unreconciled {
    /// How many keys the store has yet to be told of, or is being told of.
    pub(super) fn outstanding(&self) -> usize {
        self.len() + self.telling.load(Ordering::Relaxed)
    }

    pub(super) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    fn contains(&self, key: &Key) -> bool {
        self.len() > 0 && self.keys.lock().contains_key(key)
    }

    /// Adds `units` to what is kept of a key; `false` where there is no room for another.
    fn add(&self, key: Key, fresh: impl FnOnce() -> Kept, units: u64, now: Timestamp) -> bool {
        let mut keys = self.keys.lock();
        if keys.len() >= MOST && !keys.contains_key(&key) {
            return false;
        }
        let kept = keys.entry(key).or_insert_with(fresh);
        charge_anyway(&kept.held.part, &mut kept.state, units, kept.period, now);
        self.len.store(keys.len(), Ordering::Relaxed);
        true
    }

    fn take(&self, key: &Key) -> Option<Kept> {
        let mut keys = self.keys.lock();
        let kept = keys.remove(key);
        self.len.store(keys.len(), Ordering::Relaxed);
        kept
    }

    /// Keeps a key again that was taken: the store was certainly not told of it.
    fn put_back(&self, key: Key, kept: Kept, units: u64, now: Timestamp) {
        let mut keys = self.keys.lock();
        match keys.entry(key) {
            Entry::Vacant(place) => drop(place.insert(kept)),
            Entry::Occupied(mut place) => {
                let Kept { held, state, period, .. } = place.get_mut();
                charge_anyway(&held.part, state, units, *period, now);
            }
        }
        self.len.store(keys.len(), Ordering::Relaxed);
    }

    fn all(&self) -> Vec<Key> {
        self.keys.lock().keys().copied().collect()
    }

    /// Forgets one key: it was reset.
    pub(super) fn forget(&self, limit: LimitId, key: KeyHash) {
        self.take(&(limit, key));
    }

    /// Corrects what is kept of a charge; what the store was told already stays so.
    pub(super) fn settle(
        &self,
        limit: LimitId,
        key: KeyHash,
        charged: &Charged,
        units: u64,
        now: Timestamp,
    ) {
        if let Some(kept) = self.keys.lock().get_mut(&(limit, key)) {
            kept.held.part.settle(&mut kept.state, charged, units, kept.period, now);
        }
    }
}

impl<R: Remote> Node<R> {
    /// Keeps what was admitted of a charge without the shared store. Slots end by themselves, and are not told of.
    pub(super) fn charge_later(&self, one: &Asked<'_>, units: u64, now: Timestamp) {
        let Some(limit) = one.held.remote else { return };
        if units == 0 || one.held.has_slots() {
            return;
        }
        let fresh = || Kept {
            held: one.held.clone(),
            name: self.remote.name(limit, one.charge.key),
            period: one.charge.period,
            state: State::Fresh,
        };
        if !self.unreconciled.add((one.held.id, one.key), fresh, units, now) {
            self.counters.unreconciled.fetch_add(units, Ordering::Relaxed);
        }
    }

    /// Whether the shared store has yet to be told of what was admitted of a key.
    pub(super) fn is_unreconciled(&self, one: &Asked<'_>) -> bool {
        one.is_shared() && self.unreconciled.contains(&(one.held.id, one.key))
    }

    /// Tells the shared store what was admitted while it was away, as far as it is back.
    pub(super) async fn reconcile(&self) {
        if self.unreconciled.len() > 0 && !self.breaker.is_open() {
            concurrently(self.unreconciled.all(), AT_A_TIME, |key| self.reconcile_one(key)).await;
        }
    }

    async fn reconcile_one(&self, key: Key) {
        let now = self.now();
        let Ok(permit) = self.enter(now) else { return };
        self.unreconciled.telling.fetch_add(1, Ordering::Relaxed);
        let _telling = Telling(&self.unreconciled.telling);
        // From here on the key's decisions go to the store again, behind this.
        let Some(kept) = self.unreconciled.take(&key) else { return };
        let Some(limit) = kept.held.remote else { return };
        let units = kept.units(now);
        if units == 0 {
            return;
        }
        let admitted = Admitted { limit, name: kept.name, units, period: kept.period, now };
        match self.ask_aside(permit, self.remote.charge_admitted(&admitted)).await {
            Ok(before) => {
                self.counters.reconciled.fetch_add(units, Ordering::Relaxed);
                self.refresh(&kept.held, key.1, &before, &admitted);
            }
            Err(StoreError::Unavailable(trouble)) if !trouble.leaves_doubt() => {
                self.unreconciled.put_back(key, kept, units, self.now());
            }
            Err(StoreError::Unavailable(_)) => {
                self.counters.unreconciled.fetch_add(units, Ordering::Relaxed);
            }
            // The limit is gone, or its period is over: nothing counts any more.
            Err(_) => {}
        }
    }
}

impl Kept {
    /// How many of the units still count.
    fn units(&self, now: Timestamp) -> u64 {
        if is_over(self.period, now) {
            return 0;
        }
        missing(&self.held.part, &self.state, self.period, now)
    }
}
