//! The shared store on Redis and Valkey: every decision asks the server.
//!
//! A decision is one script's call for all charges whose keys share a slot. The script reads the states, decides and writes;
//! it answers with its verdicts, its moment and the states as they were, and core tells from them what remains and when to
//! come again. So the arithmetic is spelt twice, here in Lua and in core, and the two are proved equal by traces.

mod after;
mod ask;
mod carry;
mod counter;
mod decide;
mod kept;
mod key;
mod lease;
mod lent;
mod observed;
mod options;
mod plan;
mod remote;
mod returns;
mod script;
mod scripts;
mod servers;
mod wire;

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tollgate_core::{Limit, Standing, Timestamp};

use crate::registry::Registry;
use crate::{Call, Charge, Definition, LimitId, Store, StoreError, StoreOutcome, Taken, Trouble};
use counter::Counter;
use key::Names;
use observed::Counts;
pub use observed::RedisObserved;
pub use options::{Credentials, Endpoint, RedisOptions, RedisOptionsError, Secret, Topology};
use plan::{Amount, Ask, Plan, check_period};
use scripts::Library;
pub(crate) use servers::Deadline;
use servers::Servers;
pub use servers::ServersObserved;
#[cfg(test)]
pub(crate) use servers::tests::harness;
pub use wire::Unsupported;

/// Counts on a server that all nodes share. A clone is the same store.
#[derive(Clone, Debug)]
pub struct RedisStore(Arc<Inner>);

/// What clones share.
#[derive(Debug)]
struct Inner {
    servers: Servers,
    names: Names,
    library: Library,
    registry: ArcSwap<Registry<Counter>>,
    /// One `define` at a time.
    defining: Mutex<()>,
    /// The caller's clock counts (a replay).
    virtual_time: bool,
    tickets: Tickets,
    observed: Counts,
}

impl RedisStore {
    /// Begins to connect in the background and returns at once; see [`RedisStore::ready`].
    ///
    /// # Errors
    /// Where the options contradict themselves, or no thread can be started.
    pub fn start(options: &RedisOptions) -> Result<RedisStore, RedisOptionsError> {
        Ok(RedisStore(Arc::new(Inner {
            servers: Servers::start(options)?,
            names: Names::new(options),
            library: Library::new(options.virtual_time),
            registry: ArcSwap::default(),
            defining: Mutex::new(()),
            virtual_time: options.virtual_time,
            tickets: Tickets::default(),
            observed: Counts::default(),
        })))
    }

    /// Waits until the store can be asked, at most for `within`.
    ///
    /// # Errors
    /// Why it cannot.
    pub async fn ready(&self, within: Duration) -> Result<(), Trouble> {
        self.0.servers.ready(Deadline::within(within)).await
    }

    /// Whether `limit` can be counted exactly here: Lua computes in doubles.
    ///
    /// # Errors
    /// [`Unsupported`] says which number is too large, and what to do instead.
    pub fn check(limit: &Limit) -> Result<(), Unsupported> {
        wire::check(limit)
    }

    /// What was counted so far.
    #[must_use]
    pub fn observed(&self) -> RedisObserved {
        self.0.observed.observed(self.0.servers.observed())
    }

    /// The distinct keys of a call.
    async fn plan<'r>(
        &self,
        registry: &'r Registry<Counter>,
        call: &Call<'_>,
        deadline: Deadline,
    ) -> Result<Plan<'r>, StoreError> {
        let mut plan = Plan::default();
        for (place, charge) in call.charges.iter().enumerate() {
            let counter = registry.get(charge.limit)?;
            check_period(counter, charge.period)?;
            if let Some(period) = charge.period {
                counter.period.saw(period);
            }
            let amount = Amount::Units(charge.cost);
            let key = counter.digest(charge.key);
            let ask = self.ask_of(counter, key, amount, charge.period, deadline).await?;
            plan.add(Ask { place, ..ask });
        }
        if plan.asks.len() > MOST_LIMITS {
            return Err(StoreError::TooMany { limits: plan.asks.len(), most: MOST_LIMITS });
        }
        Ok(plan)
    }

    /// An ask of one key.
    async fn ask_of<'r>(
        &self,
        counter: &'r Counter,
        key: u128,
        amount: Amount,
        period: Option<tollgate_core::Period>,
        deadline: Deadline,
    ) -> Result<Ask<'r>, StoreError> {
        let live = self.live(counter, deadline).await?;
        let name = counter.scope.name(key);
        let slot = self.0.servers.slot(&name);
        let parameters = &live.parameters;
        Ok(Ask { counter, live, parameters, key, name, slot, amount, period, place: 0 })
    }

    /// What names the next decision's entries and slots.
    fn ticket(&self) -> u64 {
        self.0.tickets.next()
    }

    /// Milliseconds that a key lasts, given how long its state does.
    fn at_least_a_replay(&self, lasting: u64) -> u64 {
        if self.0.virtual_time { lasting.max(wire::REPLAY) } else { lasting }
    }
}

/// Most distinct limits and keys of one call: Lua cannot put a longer reply together.
const MOST_LIMITS: usize = 64;

/// Numbers that no other node draws and nobody guesses.
#[derive(Debug, Default)]
struct Tickets {
    drawn: AtomicU64,
    key: RandomState,
}

impl Tickets {
    fn next(&self) -> u64 {
        self.key.hash_one(self.drawn.fetch_add(1, Ordering::Relaxed))
    }
}

impl Store for RedisStore {
    fn define(&self, definitions: &[Definition], _: Timestamp) -> Vec<LimitId> {
        let _one_at_a_time = self.0.defining.lock();
        let before = self.0.registry.load_full();
        let (next, ids) = before.follow(definitions, |id, definition, old| match old {
            Some(old) if old.is(definition) => Arc::clone(old),
            old => {
                let old = old.map(Arc::as_ref);
                let (names, virtual_time) = (&self.0.names, self.0.virtual_time);
                Arc::new(Counter::new(id, definition, names, old, virtual_time))
            }
        });
        self.0.registry.store(Arc::new(next));
        if !self.0.virtual_time {
            self.keep();
        }
        ids
    }

    async fn charge_all(&self, call: &Call<'_>) -> Result<StoreOutcome, StoreError> {
        self.decide(call, true).await
    }

    async fn settle(&self, taken: Taken, units: u64, now: Timestamp) -> Result<(), StoreError> {
        self.settle_by(taken, units, now, self.0.servers.deadline()).await
    }

    async fn release(&self, taken: Taken, now: Timestamp) -> Result<(), StoreError> {
        self.release_by(taken, now, self.0.servers.deadline()).await
    }

    async fn peek(&self, charge: &Charge<'_>, now: Timestamp) -> Result<Standing, StoreError> {
        self.peek_by(charge, now, self.0.servers.deadline()).await
    }

    async fn reset(&self, limit: LimitId, key: &[u8]) -> Result<(), StoreError> {
        // A replay leases nothing, and without leases a reset has no moment.
        self.reset_by(limit, key, Timestamp::EPOCH, self.0.servers.deadline()).await
    }
}
