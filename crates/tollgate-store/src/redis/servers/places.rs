//! The bounded number of calls in flight.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::observed::Counts;

/// How many calls may be in flight at a time, on all connections together.
#[derive(Debug)]
pub(super) struct Places {
    free: Arc<Semaphore>,
    counts: Arc<Counts>,
}

/// One call's place; free again when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    _permit: OwnedSemaphorePermit,
    counts: Arc<Counts>,
}

impl Places {
    pub(super) fn new(places: usize, counts: Arc<Counts>) -> Places {
        Places { free: Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS))), counts }
    }

    /// A place, if one is free.
    pub(super) fn take(&self) -> Option<Place> {
        let permit = Arc::clone(&self.free).try_acquire_owned().ok()?;
        self.counts.in_flight.add();
        Some(Place { _permit: permit, counts: Arc::clone(&self.counts) })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.counts.in_flight.subtract();
    }
}
