//! One request of a key on its way to the store, and those who wait for its answer.

use std::sync::OnceLock;

use tokio::sync::Semaphore;

use crate::StoreError;

/// A request on its way.
#[derive(Debug)]
pub(crate) struct Turn {
    /// Closed when it is over.
    open: Semaphore,
    error: OnceLock<StoreError>,
}

impl Turn {
    pub(crate) fn new() -> Turn {
        Turn { open: Semaphore::new(0), error: OnceLock::new() }
    }

    /// Waits until it is over.
    ///
    /// # Errors
    /// Why there was no answer.
    pub(crate) async fn over(&self) -> Result<(), StoreError> {
        // There never is a permit, so this ends when the semaphore is closed.
        let _ = self.open.acquire().await;
        self.error.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    pub(crate) fn is_over(&self) -> bool {
        self.open.is_closed()
    }

    /// Ends it.
    pub(crate) fn end(&self, error: Option<StoreError>) {
        if let Some(error) = error {
            let _ = self.error.set(error);
        }
        self.open.close();
    }
}

/// Who waits for the store, by what they ask.
#[derive(Debug, Default)]
pub(crate) struct Waiting(smallvec::SmallVec<[(u64, u64); 1]>);

impl Waiting {
    pub(crate) fn join(&mut self, cost: u64) {
        match self.0.iter_mut().find(|(other, _)| *other == cost) {
            Some((_, count)) => *count += 1,
            None => self.0.push((cost, 1)),
        }
    }

    pub(crate) fn leave(&mut self, cost: u64) {
        if let Some((_, count)) = self.0.iter_mut().find(|(other, _)| *other == cost) {
            *count -= 1;
        }
        self.0.retain(|(_, count)| *count > 0);
    }

    /// How many wait for `cost`.
    pub(crate) fn count(&self, cost: u64) -> u64 {
        self.0.iter().find(|(other, _)| *other == cost).map_or(0, |(_, count)| *count)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
