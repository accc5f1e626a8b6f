//! Where a replay counts: in memory, or through the scripts of a shared store, which must come to the same.

use std::io;
use std::sync::Arc;

use tollgate_core::{Micros, Timestamp};
use tollgate_policy::{Bound, Charges, Decision, Engine, Facts, Mode, Policy, Ruling};
#[cfg(feature = "redis")]
use tollgate_store::RedisStore;
use tollgate_store::{MemoryOptions, MemoryStore, StoreError};

/// Where a replay counts.
#[derive(Debug, Default)]
pub enum Counts {
    /// In memory, without a bound.
    #[default]
    Memory,
    /// In a shared store, which goes by the trace's clock (`virtual_time`).
    #[cfg(feature = "redis")]
    Redis(RedisStore),
}

/// What a replay goes by, besides its policy.
#[derive(Debug, Default)]
pub struct Conditions {
    /// Whether decisions have effect; in shadow mode what enforce decides is reported.
    pub mode: Mode,
    /// Where it counts.
    pub counts: Counts,
}

/// The production engine, on what a replay counts in.
#[derive(Debug)]
pub(super) enum Counting {
    Memory(Engine<MemoryStore>),
    #[cfg(feature = "redis")]
    Redis(Box<Remote>),
}

/// An engine whose store answers later, and where its answers are waited for.
#[cfg(feature = "redis")]
#[derive(Debug)]
pub(super) struct Remote {
    engine: Engine<RedisStore>,
    runtime: tokio::runtime::Runtime,
}

impl Counting {
    /// An engine for `policy`, loaded at `start`, that counts in memory.
    pub(super) fn in_memory(policy: Policy, mode: Mode, start: Timestamp) -> Counting {
        let store = MemoryStore::new(MemoryOptions::unbounded());
        Counting::Memory(Engine::new(policy, store, mode, start))
    }

    /// The same, for `conditions`.
    ///
    /// # Errors
    /// Where the system has nothing to wait for a shared store with.
    pub(super) fn new(
        policy: Policy,
        conditions: Conditions,
        start: Timestamp,
    ) -> io::Result<Counting> {
        let Conditions { mode, counts } = conditions;
        Ok(match counts {
            Counts::Memory => Counting::in_memory(policy, mode, start),
            #[cfg(feature = "redis")]
            Counts::Redis(store) => {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                let engine = Engine::new(policy, store, mode, start);
                Counting::Redis(Box::new(Remote { engine, runtime }))
            }
        })
    }

    pub(super) fn policy(&self) -> Arc<Bound> {
        match self {
            Counting::Memory(engine) => Arc::clone(&engine.policy()),
            #[cfg(feature = "redis")]
            Counting::Redis(remote) => Arc::clone(&remote.engine.policy()),
        }
    }

    /// [`Engine::decide_under`], once the store has answered.
    #[inline]
    pub(super) fn decide(
        &self,
        bound: &Bound,
        facts: &Facts<'_>,
        now: Timestamp,
        hold: Option<Micros>,
        charges: &mut Charges,
    ) -> Result<Ruling, StoreError> {
        match self {
            Counting::Memory(engine) => engine.decide_now_under(bound, facts, now, hold, charges),
            #[cfg(feature = "redis")]
            Counting::Redis(remote) => {
                let Remote { engine, runtime } = &**remote;
                runtime.block_on(engine.decide_in(bound, facts, now, hold, charges))
            }
        }
    }

    /// [`Engine::settle`], once the store has answered.
    pub(super) fn settle(
        &self,
        decision: Decision,
        status: Option<u16>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        match self {
            Counting::Memory(engine) => engine.settle_now(decision, status, now),
            #[cfg(feature = "redis")]
            Counting::Redis(remote) => {
                let Remote { engine, runtime } = &**remote;
                runtime.block_on(engine.settle(decision, status, now))
            }
        }
    }
}
