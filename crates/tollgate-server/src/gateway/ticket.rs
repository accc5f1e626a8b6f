//! What an admitted request still owes its limits. However the request ends, dropping the ticket settles it: one that never
//! left for its upstream is taken back whole.

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use http::StatusCode;
use tollgate_core::{Micros, Timestamp};
use tollgate_policy::{Decision, Ends, Held};
use tollgate_store::StoreError;

use super::Gateway;
use super::moments::Moments;
use super::waiter::line;
use crate::waiting::{Departure, Left};

/// An admitted request's ticket.
pub(crate) struct Ticket {
    gateway: Arc<Gateway>,
    /// A decision is large, and a ticket goes from hand to hand.
    decision: Box<Decision>,
    departure: Departure,
    moments: Moments,
}

impl Gateway {
    /// The ticket of a request that `decision` admits, whose moments are by `moments`.
    pub(super) fn ticket(self: &Arc<Gateway>, decision: Box<Decision>, moments: Moments) -> Ticket {
        let gateway = Arc::clone(self);
        Ticket { gateway, decision, departure: Departure::default(), moments }
    }
}

impl Ticket {
    /// It waits before it departs.
    pub(super) fn seat(&mut self, departure: Departure) {
        self.departure = departure;
    }

    /// What the request's upstream is told to note when it takes the request.
    pub(super) fn departure(&self) -> &Departure {
        &self.departure
    }

    pub(super) fn decision(&self) -> &Decision {
        &self.decision
    }

    pub(super) fn route(&self) -> Option<usize> {
        self.decision.route
    }

    /// The request's answer has this status: what depends on it is settled now, slots when the answer has been sent.
    pub(super) fn status(&mut self, status: StatusCode) {
        self.departure.leave();
        if self.decision.taken.is_empty() {
            return;
        }
        let slot = |held: &Held| held.ends == Ends::Release;
        let (slots, rest) = std::mem::take(&mut self.decision.taken).into_iter().partition(slot);
        self.decision.taken = slots;
        self.settle(rest, Some(status));
    }

    /// The ticket where anything is left to settle once the answer has been sent: most requests leave nothing.
    pub(super) fn until_sent(self) -> Option<Box<Ticket>> {
        (!self.decision.taken.is_empty()).then(|| Box::new(self))
    }

    /// Nothing came of the request: everything that it took goes back.
    fn withdraw(&self, mut taken: Vec<Held>, left: &[Left], now: Timestamp) {
        if !left.is_empty() {
            self.gateway.metrics.abandoned.inc();
        }
        for held in &mut taken {
            // It may have moved up itself.
            if let Some(claim) = left.iter().find(|claim| claim.line == line(&held.taken)) {
                let wait = claim.due.saturating_sub(self.moments.charged(held));
                held.wait = Micros::new(wait);
            }
        }
        let part = Decision { taken, limits: Vec::new(), ..*self.decision };
        let engine = Arc::clone(&self.gateway.engine);
        self.complete(async move { engine.withdraw(part, now).await });
    }

    fn settle(&self, taken: Vec<Held>, status: Option<StatusCode>) {
        let part = Decision { taken, limits: Vec::new(), ..*self.decision };
        if part.needs_settling() {
            let (engine, now) = (Arc::clone(&self.gateway.engine), self.gateway.now());
            let status = status.map(|status| status.as_u16());
            self.complete(async move { engine.settle(part, status, now).await });
        }
    }
}

impl Ticket {
    /// Runs `settling` to its end: at once where the store answers at once, else beside whatever comes next.
    fn complete(&self, settling: impl Future<Output = Result<(), StoreError>> + Send + 'static) {
        let mut settling = Box::pin(settling);
        if let Poll::Ready(result) = settling.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        {
            return settled(result);
        }
        // The gateway ends only once this has.
        let errand = self.gateway.errands.take(usize::MAX);
        let rest = async move {
            settled(settling.await);
            drop(errand);
        };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(rest)),
            Err(error) => tracing::warn!(%error, "a request could not be settled with its limits"),
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let rest = std::mem::take(&mut self.decision.taken);
        if rest.is_empty() {
            return;
        }
        let now = self.gateway.now();
        // Those behind move up before the store knows: whoever is decided in between is told too long a wait, never too
        // short a one.
        match self.departure.cancel(now.as_micros()) {
            Some(left) => self.withdraw(rest, &left, now),
            None => self.settle(rest, None),
        }
    }
}

impl std::fmt::Debug for Ticket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ticket").field("route", &self.decision.route).finish_non_exhaustive()
    }
}

fn settled(result: Result<(), StoreError>) {
    if let Err(error) = result {
        tracing::warn!(%error, "a request could not be settled with its limits");
    }
}
