//! What the store counts about itself.

use std::sync::atomic::{AtomicU64, Ordering};

use super::servers::ServersObserved;

/// What a store counted since it started.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RedisObserved {
    /// Its connections and calls.
    pub servers: ServersObserved,
    /// Verdicts of scripts that the engine would not have given on the same state: always 0, unless there is a bug. The
    /// script's word holds.
    pub differing: u64,
    /// Charges that were to be given back after another group of a cluster had refused, and were not, since it was away.
    pub unreturned: u64,
}

/// The counters.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    differing: AtomicU64,
    unreturned: AtomicU64,
}

impl Counts {
    pub(crate) fn differing(&self) {
        self.differing.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn unreturned(&self) {
        self.unreturned.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn observed(&self, servers: ServersObserved) -> RedisObserved {
        RedisObserved {
            servers,
            differing: self.differing.load(Ordering::Relaxed),
            unreturned: self.unreturned.load(Ordering::Relaxed),
        }
    }
}
