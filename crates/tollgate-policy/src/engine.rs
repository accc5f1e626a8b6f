//! A policy bound to a store: the data path of a request.

use std::sync::Arc;

use arc_swap::ArcSwap;
use tollgate_core::{Micros, Timestamp};
use tollgate_store::{Store, StoreError};

use crate::{Decision, Facts, Policy};

/// Whether decisions have effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// They do.
    #[default]
    Enforce,
    /// They are made, charged and reported, and everything passes at once.
    Shadow,
    /// None is made.
    Off,
}

/// What comes of a request's facts.
#[derive(Debug)]
pub enum Ruling {
    /// A decision.
    Decided(Decision),
    /// The request cannot be decided: the door answers it (in a replay: an admit with no limits for `NoRoute`).
    Rejected(Rejection),
}

/// Why a request was not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// No route matches, and the policy's default refuses: 404 at the gateway.
    NoRoute,
    /// 400: the path holds `%2F`, `%5C` or NUL, or is no path.
    BadPath,
    /// 400: a limit with `missing: reject` found no identity.
    MissingIdentity {
        /// The limit's name.
        limit: Arc<str>,
        /// The identity's name.
        identity: Arc<str>,
    },
}

/// A policy, a store, and the way from facts to a decision. Cheap to share behind an `Arc`.
#[derive(Debug)]
pub struct Engine<S> {
    store: S,
    policy: ArcSwap<Policy>,
}

impl<S: Store> Engine<S> {
    /// Binds `policy` to `store`.
    #[must_use]
    pub fn new(policy: Policy, store: S, mode: Mode, now: Timestamp) -> Engine<S> {
        let _ = (mode, now);
        Engine { store, policy: ArcSwap::from_pointee(policy) }
    }

    /// Takes a new policy; what was counted is kept.
    pub fn reload(&self, policy: Policy, now: Timestamp) {
        let _ = now;
        self.policy.store(Arc::new(policy));
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &S {
        &self.store
    }

    /// Decides one request. `hold`: how long slots are held after it leaves, where known (a replay).
    ///
    /// # Errors
    /// [`StoreError`] where the store gives no answer.
    pub async fn decide(
        &self,
        facts: &Facts<'_>,
        now: Timestamp,
        hold: Option<Micros>,
    ) -> Result<Ruling, StoreError> {
        let _ = (facts, now, hold);
        unimplemented!("the policy's first commit")
    }

    /// Ends a request: gives back the charges whose `charge_when` does not count `status`, and frees its slots. `None`: no
    /// status ever came (client gone, time-out), so charges stay.
    ///
    /// # Errors
    /// [`StoreError`] where the store gives no answer.
    pub async fn settle(
        &self,
        decision: Decision,
        status: Option<u16>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let _ = (decision, status, now);
        unimplemented!("the policy's first commit")
    }

    /// Takes a request back that was admitted and never ran: everything it took is given back, whatever the limits' rules,
    /// and its slots are freed. The gateway calls it when a client leaves while it waits. A delayed charge counts from the
    /// moment at which it would have left, because nothing of it can have been refilled before: its door moves
    /// `Taken::charged.at` there.
    ///
    /// # Errors
    /// [`StoreError`] where the store gives no answer.
    pub async fn withdraw(&self, decision: Decision, now: Timestamp) -> Result<(), StoreError> {
        let _ = (decision, now);
        unimplemented!("the policy's first commit")
    }
}
