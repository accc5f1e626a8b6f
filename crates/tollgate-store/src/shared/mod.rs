//! What a node runs where several count together: every decision is asked of the node first, then of the shared store.
//!
//! A node holds a local [`MemoryStore`] and a way to the shared store. The local one counts by what is the node's own: the
//! whole limit (`sync: node`), its share of it, a copy of the sum (`estimate`), and for all others the part of the limit that
//! it goes on with while the shared store is away. So whatever is decided by the node is decided at one moment, all or
//! nothing. All of it goes by the shared store's clock, so that the windows of all nodes begin together.

mod after;
mod answer;
mod breaker;
mod concurrently;
mod course;
mod decide;
mod define;
#[cfg(test)]
mod double;
mod estimate;
mod exhausted;
mod fallback;
mod gate;
pub(crate) mod lease;
mod limits;
mod membership;
mod observed;
mod reconcile;
mod remote;
mod reserved;
mod share;
mod store;
mod tend;
#[cfg(test)]
mod tests;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tollgate_core::Timestamp;

use crate::{Clock, LimitId, MemoryOptions, MemoryStore, Usage};
use breaker::Breaker;
pub use breaker::BreakerState;
use estimate::Unreported;
use exhausted::Exhausted;
pub use lease::LeasesObserved;
use lease::Purse;
use limits::{Limits, Nodes};
use observed::Counters;
pub use observed::{LATENCY_BOUNDS, NodeObserved};
use reconcile::Unreconciled;
pub(crate) use remote::{Admitted, Before, Members, Remote};
pub use store::SharedStore;

/// One node of those that count together.
struct Node<R> {
    remote: R,
    local: MemoryStore,
    clock: Arc<dyn Clock>,
    /// Its name among the nodes.
    name: u128,
    limits: ArcSwap<Limits>,
    /// One `define` at a time.
    defining: Mutex<()>,
    /// By how many microseconds the shared store's clock is ahead of this node's.
    ahead: AtomicI64,
    /// The callers' clock counts (a replay).
    virtual_time: bool,
    /// It has left the others, and says no more that it is alive.
    left: AtomicBool,
    breaker: Breaker,
    purse: Purse,
    exhausted: Exhausted,
    unreconciled: Unreconciled,
    unreported: Unreported,
    counters: Counters,
}

impl<R: Remote> Node<R> {
    /// A node called `name`, of `nodes` as long as the shared store has not said how many there are.
    fn new(remote: R, clock: Arc<dyn Clock>, name: u128, nodes: NonZeroU32) -> Node<R> {
        // Until it has been counted it has the last place.
        let nodes = Nodes { live: nodes, rank: nodes.get() - 1 };
        Node {
            remote,
            local: MemoryStore::new(MemoryOptions::default()),
            clock,
            name,
            limits: ArcSwap::from_pointee(Limits::none(nodes, LimitId(0))),
            defining: Mutex::new(()),
            ahead: AtomicI64::new(0),
            virtual_time: false,
            left: AtomicBool::new(false),
            breaker: Breaker::new(),
            purse: Purse::new(),
            exhausted: Exhausted::new(),
            unreconciled: Unreconciled::default(),
            unreported: Unreported::new(),
            counters: Counters::default(),
        }
    }

    /// A reading of the node's clock, by the shared store's.
    #[inline]
    fn shared_time(&self, now: Timestamp) -> Timestamp {
        let ahead = self.ahead.load(Ordering::Relaxed);
        Timestamp::from_micros(now.as_micros().saturating_add_signed(ahead))
    }

    fn now(&self) -> Timestamp {
        self.shared_time(self.clock.now())
    }

    fn live_nodes(&self) -> u32 {
        self.limits.load().nodes.live.get()
    }

    fn observed(&self) -> NodeObserved {
        let (latency, latency_sum) = self.counters.latency();
        NodeObserved {
            degraded: self.breaker.is_open(),
            breaker: self.breaker.state(self.now()),
            live_nodes: self.live_nodes(),
            outcomes: self.counters.outcomes(),
            errors: self.counters.errors(),
            latency,
            latency_sum,
            leases: self.purse.observed(),
            overshoot: observed::read(&self.counters.overshoot),
            unreconciled_keys: self.unreconciled.outstanding(),
            reconciled: observed::read(&self.counters.reconciled),
            unreconciled: observed::read(&self.counters.unreconciled),
        }
    }

    fn usage(&self) -> Vec<Usage> {
        let mut usage = self.local.usage();
        usage.retain(|one| limits::is_defined(&one.limit));
        usage
    }
}
