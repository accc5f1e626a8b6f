//! The way to the shared store: through the breaker, and every answer is counted.

use std::future::Future;

use tollgate_core::Timestamp;

use super::Node;
use super::breaker::{Permit, Turn};
use super::observed::read;
use super::remote::Remote;
use crate::{Stopwatch, StoreError, Trouble};

impl<R: Remote> Node<R> {
    /// Lets a call go to the shared store, or not; a refusal costs nothing.
    pub(super) fn enter(&self, now: Timestamp) -> Result<Permit<'_>, StoreError> {
        self.breaker.enter(now).ok_or_else(|| {
            self.counters.error(Trouble::BreakerOpen);
            StoreError::Unavailable(Trouble::BreakerOpen)
        })
    }

    /// Waits for the shared store's answer to a call of a decision; that comes in time, or is an error.
    pub(super) async fn ask<T>(
        &self,
        permit: Permit<'_>,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let watch = Stopwatch::start();
        let answer = self.ask_aside(permit, call).await;
        if answer.is_ok() {
            self.counters.answered(watch.nanos() / 1000);
        }
        answer
    }

    /// The same beside the decisions, whose latency it is not.
    pub(super) async fn ask_aside<T>(
        &self,
        permit: Permit<'_>,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let answer = call.await;
        let now = self.now();
        let turn = match &answer {
            Err(StoreError::Unavailable(trouble)) => {
                self.counters.error(*trouble);
                match trouble {
                    // It says nothing of the store: those that are on their way will.
                    Trouble::Crowded => Turn::None,
                    _ => permit.failed(now),
                }
            }
            Ok(_) | Err(_) => permit.succeeded(now),
        };
        self.tell(turn, answer.as_ref().err());
        answer.map_err(|error| self.limits.load().translate(error))
    }

    /// Tells the log when the store goes away and when it is back.
    fn tell(&self, turn: Turn, error: Option<&StoreError>) {
        match (turn, error) {
            (Turn::Opened, Some(error)) => tracing::warn!(
                %error,
                "the shared store is left alone; each limit's on_store_failure holds"
            ),
            (Turn::Closed, _) => tracing::info!(
                keys_to_reconcile = self.unreconciled.len(),
                units_lost = read(&self.counters.unreconciled),
                "the shared store is back and counts again"
            ),
            _ => {}
        }
    }
}
