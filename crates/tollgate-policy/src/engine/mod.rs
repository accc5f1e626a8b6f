//! A policy bound to a store: the data path of a request.

mod bound;
mod decide;
mod settle;

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use tollgate_core::Timestamp;
use tollgate_store::Store;

use crate::{Decision, Policy};
pub use bound::Bound;

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
    bound: ArcSwap<Bound>,
    mode: AtomicU8,
    /// One reload at a time: what the store was told last is what is bound.
    reloading: Mutex<()>,
}

impl<S: Store> Engine<S> {
    /// Binds `policy` to `store`. `now` is when its limits are first loaded: buckets with `initial: empty` are empty then.
    #[must_use]
    pub fn new(policy: Policy, store: S, mode: Mode, now: Timestamp) -> Engine<S> {
        let bound = Bound::new(policy, &store, None, now);
        let engine = Engine {
            store,
            bound: ArcSwap::from_pointee(bound),
            mode: AtomicU8::default(),
            reloading: Mutex::new(()),
        };
        engine.set_mode(mode);
        engine
    }

    /// Takes a new policy, whole or not at all, for the requests that come from now on; what was counted is kept. Answers
    /// with the new version.
    pub fn reload(&self, policy: Policy, now: Timestamp) -> u64 {
        let _one_at_a_time = self.reloading.lock().unwrap_or_else(PoisonError::into_inner);
        let bound = Bound::new(policy, &self.store, Some(&self.bound.load()), now);
        let version = bound.version();
        self.bound.store(Arc::new(bound));
        version
    }

    /// The policy in force. Requests that hold it are decided by it ([`Engine::decide_under`]) and read it to the end,
    /// whatever is loaded meanwhile.
    #[must_use]
    pub fn policy(&self) -> arc_swap::Guard<Arc<Bound>> {
        self.bound.load()
    }

    /// The version of the policy in force: 1 at first, one more with each reload. A policy that does not compile never
    /// comes here, so it changes nothing.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.bound.load().version()
    }

    /// Whether decisions have effect.
    #[must_use]
    pub fn mode(&self) -> Mode {
        match self.mode.load(Ordering::Relaxed) {
            0 => Mode::Enforce,
            1 => Mode::Shadow,
            _ => Mode::Off,
        }
    }

    /// Changes whether decisions have effect, for the requests that come from now on.
    pub fn set_mode(&self, mode: Mode) {
        self.mode.store(mode as u8, Ordering::Relaxed);
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &S {
        &self.store
    }
}

#[cfg(test)]
mod tests;
