//! A stand-in for the shared store: a memory store that several nodes share, and that can fail, hang and lose its replies.

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::{MappedMutexGuard, Mutex, MutexGuard};
use tollgate_core::{Limit, Period, Standing, Timestamp};

use super::fallback::charge_anyway;
use super::lease::tests::model::{Fault, LeasedKey};
use super::lease::{Answer, GENERATION, Request};
use super::limits::refuser;
use super::remote::{Admitted, Before, Members, Remote};
use crate::memory::KeyHash;
use crate::{
    Call, Charge, Clock, Definition, LimitId, ManualClock, MemoryOptions, MemoryStore, Store,
    StoreError, StoreOutcome, Taken, Trouble,
};

/// How long a node waits.
pub(super) const BUDGET: Duration = Duration::from_millis(20);

/// How the store does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Health {
    Well,
    /// It answers with an error at once, and does nothing.
    Fails(Trouble),
    /// It never answers, and does nothing.
    Hangs,
    /// It does what it is asked, and its answer never comes.
    LosesReplies,
    /// It does what it is asked, and answers after half of the budget.
    Slow,
}

/// The store that all nodes share.
pub(super) struct Central {
    store: MemoryStore,
    clock: Arc<ManualClock>,
    health: Mutex<Health>,
    refuser: Mutex<LimitId>,
    /// The limits by their names here, and the keys of those that are leased: they are counted apart from the store's.
    limits: Mutex<Vec<Limit>>,
    leased: Mutex<HashMap<(LimitId, u128), LeasedKey>>,
    members: Mutex<BTreeSet<u128>>,
    /// By how many microseconds its clock is ahead.
    pub(super) ahead: AtomicU64,
    /// Calls of any kind but heartbeats.
    calls: AtomicUsize,
    waiting: AtomicUsize,
    most_waiting: AtomicUsize,
}

/// A node's way to it.
#[derive(Clone)]
pub(super) struct Double(pub(super) Arc<Central>);

impl Central {
    /// A store whose clock is `clock`, unless it is ahead.
    pub(super) fn new(clock: Arc<ManualClock>) -> Arc<Central> {
        Arc::new(Central {
            store: MemoryStore::new(MemoryOptions::default()),
            clock,
            health: Mutex::new(Health::Well),
            refuser: Mutex::new(LimitId(0)),
            limits: Mutex::default(),
            leased: Mutex::default(),
            members: Mutex::default(),
            ahead: AtomicU64::new(0),
            calls: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            most_waiting: AtomicUsize::new(0),
        })
    }

    pub(super) fn becomes(&self, health: Health) {
        *self.health.lock() = health;
    }

    /// A key of a leased limit, by the limit's name there.
    pub(super) fn leased(&self, limit: LimitId, name: u128) -> MappedMutexGuard<'_, LeasedKey> {
        MutexGuard::map(self.leased.lock(), |keys| {
            keys.entry((limit, name)).or_insert_with(|| {
                let limit = self.limits.lock()[limit.0 as usize].clone();
                LeasedKey::new(limit, GENERATION, Fault::None)
            })
        })
    }

    /// How often it was called.
    pub(super) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// How many calls waited for it at a time.
    pub(super) fn most_waiting(&self) -> usize {
        self.most_waiting.load(Ordering::Relaxed)
    }

    /// A member that nobody runs.
    pub(super) fn joins(&self, member: u128) {
        self.members.lock().insert(member);
    }

    /// A member that is missed.
    pub(super) fn dies(&self, member: u128) {
        self.members.lock().remove(&member);
    }

    /// How a key stands, by the limit's name there: its place among the shared ones.
    pub(super) fn standing(&self, place: u32, key: &str) -> Standing {
        let charge = Charge { limit: LimitId(place), key: key.as_bytes(), cost: 0, period: None };
        self.store.peek_now(&charge, self.now()).expect("an answer")
    }

    fn now(&self) -> Timestamp {
        let ahead = self.ahead.load(Ordering::Relaxed);
        Timestamp::from_micros(self.clock.now().as_micros() + ahead)
    }

    /// Does `what` as its health allows.
    async fn answer<T>(
        &self,
        what: impl FnOnce(&MemoryStore) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let waiting = Waiting::begin(self);
        let timed_out = Err(StoreError::Unavailable(Trouble::TimedOut));
        let health = *self.health.lock();
        let answer = match health {
            Health::Well => what(&self.store),
            Health::Fails(trouble) => Err(StoreError::Unavailable(trouble)),
            Health::Hangs => {
                tokio::time::sleep(BUDGET).await;
                timed_out
            }
            Health::LosesReplies => {
                let _ = what(&self.store);
                tokio::time::sleep(BUDGET).await;
                timed_out
            }
            Health::Slow => {
                let answer = what(&self.store);
                tokio::time::sleep(BUDGET / 2).await;
                answer
            }
        };
        drop(waiting);
        answer
    }
}

struct Waiting<'c>(&'c Central);

impl<'c> Waiting<'c> {
    fn begin(central: &'c Central) -> Waiting<'c> {
        let waiting = central.waiting.fetch_add(1, Ordering::Relaxed) + 1;
        central.most_waiting.fetch_max(waiting, Ordering::Relaxed);
        Waiting(central)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Store for Double {
    fn define(&self, definitions: &[Definition], _: Timestamp) -> Vec<LimitId> {
        let mut all = definitions.to_vec();
        *self.0.limits.lock() = all.iter().map(|one| one.limit.clone()).collect();
        all.push(refuser());
        let mut ids = self.0.store.define(&all, self.0.now());
        if let Some(refuser) = ids.pop() {
            *self.0.refuser.lock() = refuser;
        }
        ids
    }

    async fn charge_all(&self, call: &Call<'_>) -> Result<StoreOutcome, StoreError> {
        let call = Call { now: self.0.now(), ..*call };
        self.0.answer(|store| store.charge_all_now(&call)).await
    }

    async fn settle(&self, taken: Taken, units: u64, _: Timestamp) -> Result<(), StoreError> {
        self.0.answer(|store| store.settle_now(taken, units, self.0.now())).await
    }

    async fn release(&self, taken: Taken, _: Timestamp) -> Result<(), StoreError> {
        self.0.answer(|store| store.release_now(taken, self.0.now())).await
    }

    async fn peek(&self, charge: &Charge<'_>, _: Timestamp) -> Result<Standing, StoreError> {
        self.0.answer(|store| store.peek_now(charge, self.0.now())).await
    }

    async fn reset(&self, limit: LimitId, key: &[u8]) -> Result<(), StoreError> {
        self.0.answer(|store| store.reset_now(limit, key)).await
    }
}

impl Remote for Double {
    async fn connected(&self, _: Duration) {}

    fn name(&self, _: LimitId, key: &[u8]) -> u128 {
        self.0.store.name_of(key).to_u128()
    }

    async fn charge_refused(&self, call: &Call<'_>) -> Result<StoreOutcome, StoreError> {
        let mut charges = call.charges.to_vec();
        let limit = *self.0.refuser.lock();
        charges.push(Charge { limit, key: b"", cost: 1, period: None });
        let call = Call { charges: &charges, now: self.0.now(), ..*call };
        let mut said = self.0.answer(|store| store.charge_all_now(&call)).await?;
        said.limits.pop();
        Ok(said)
    }

    async fn charge_admitted(&self, admitted: &Admitted) -> Result<Before, StoreError> {
        let Admitted { limit, name, units, period, .. } = *admitted;
        let now = self.0.now();
        let before = Mutex::default();
        self.0
            .answer(|store| {
                store.rewrite_now(limit, KeyHash::from_u128(name), now, |limit, state| {
                    *before.lock() = state.clone();
                    charge_anyway(limit, state, units, period, now);
                    true
                })
            })
            .await?;
        Ok(Before { state: before.into_inner(), now })
    }

    async fn beat(&self, node: u128) -> Result<Members, StoreError> {
        let calls = self.0.calls();
        let well = self.0.answer(|_| Ok(())).await;
        self.0.calls.store(calls, Ordering::Relaxed);
        well?;
        let mut members = self.0.members.lock();
        members.insert(node);
        let rank = members.iter().position(|member| *member == node);
        let (live, rank) = (members.len() as u32, rank.unwrap_or_default() as u32);
        Ok(Members { live, rank, now: self.0.now() })
    }

    async fn leave(&self, node: u128) -> Result<(), StoreError> {
        self.0.dies(node);
        Ok(())
    }

    async fn lease(
        &self,
        limit: LimitId,
        name: u128,
        request: &Request,
        period: Option<Period>,
        _: Timestamp,
    ) -> Result<Answer, StoreError> {
        let now = self.0.now().as_micros();
        self.0.answer(|_| Ok(self.0.leased(limit, name).exchange(request, now, period))).await
    }

    fn budget(&self) -> Duration {
        BUDGET
    }

    async fn within<T: Send>(
        &self,
        time: Duration,
        work: impl Future<Output = T> + Send,
    ) -> Option<T> {
        tokio::time::timeout(time, work).await.ok()
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        tokio::spawn(task);
    }
}
