//! One request's way to a server and back: which server, and what may be tried again.

use std::sync::Arc;

use http::Response;
use smallvec::SmallVec;
use tollgate_store::SystemClock;

use super::SendError;
use super::attempt::Missed;
use super::discard::discard;
use super::lease::Lease;
use super::outbound::Outbound;
use super::pool::{Picked, Pool};
use super::server::Server;
use crate::access_log::Note;
use crate::body::Relay;
use crate::waiting::Departure;

/// One exchange. Its future is moved about with every request, so what is rare is boxed.
pub(crate) struct Exchange<'a> {
    pub(super) pool: &'a Pool,
    pub(super) worker: usize,
    pub(super) clock: &'a Arc<SystemClock>,
    pub(super) departure: &'a Departure,
    /// Requests that wait for a connection at most.
    pub(super) most_waiting: usize,
}

/// What came of the tries so far.
#[derive(Default)]
struct Trip {
    tried: SmallVec<[Arc<Server>; 4]>,
    /// Why the last server did not take it.
    untaken: Option<SendError>,
    /// What came of the first that may have acted on it.
    lost: Option<SendError>,
    /// How often it was sent again because the policy says so.
    retries: u32,
}

impl Trip {
    /// What is said where no server is left, because of `error`: what may have had an effect goes before what cannot.
    fn error(self, error: SendError) -> SendError {
        self.lost.or(self.untaken).unwrap_or(error)
    }
}

impl Exchange<'_> {
    /// Sends what is in `outbound` to a server of the pool, and answers with the head of its response.
    ///
    /// The request goes to another server where one takes no connection, and over a fresh connection where a kept one
    /// turned out closed; but it is never sent twice, unless it has no body and its method is idempotent, or the server says that
    /// it did not look at it. The departure is noted when a connection takes it, and `note` says which servers were asked.
    ///
    /// # Errors
    /// [`SendError`] where no server answered.
    pub(crate) async fn send(
        &self,
        outbound: &mut Outbound,
        note: &mut Note,
    ) -> Result<Response<Relay>, SendError> {
        self.pool.budget().request();
        let mut trip = Trip::default();
        loop {
            let lease = match self.pool.pick(self.now(), &trip.tried) {
                Picked::Place(lease) => lease,
                picked => match Box::pin(self.place(&picked, &trip)).await {
                    Ok(lease) => lease,
                    Err(error) => return Err(trip.error(error)),
                },
            };
            if let Some(error) = trip.untaken.take() {
                let looked = matches!(error, SendError::Unprocessed(_));
                self.pool.metrics().retried(if looked { "unprocessed" } else { "connect" });
            }
            let server = Arc::clone(lease.server());
            note.with(|noted| noted.tries(server.text()));
            match self.try_at(lease, &server, outbound).await {
                Ok(response) => {
                    let again = self.after(&response, outbound, &mut trip, &server);
                    if !(again && outbound.renew()) {
                        return Ok(response);
                    }
                    trip.lost.get_or_insert(SendError::Status(response.status()));
                    tokio::spawn(discard(response.into_body()));
                }
                // Another server would need as much.
                Err(Missed::Untaken(error @ SendError::Exhausted(_))) => {
                    return Err(trip.error(error));
                }
                Err(Missed::Untaken(error)) => trip.untaken = Some(error),
                Err(Missed::Lost(error)) => {
                    let again = self.after_loss(&error, outbound, &mut trip, &server);
                    let lost = trip.lost.get_or_insert(error);
                    if !(again && outbound.renew()) {
                        return Err(lost.clone());
                    }
                }
            }
            trip.tried.push(server);
        }
    }

    /// A place at the next server where there was none at once: waits for one where all have as many connections as they may.
    async fn place(&self, picked: &Picked, trip: &Trip) -> Result<Lease, SendError> {
        if matches!(picked, Picked::Full) {
            return self.wait_for_place(trip).await;
        }
        if !trip.tried.is_empty() {
            return Err(SendError::NoServer);
        }
        self.pool.find_addresses(self.clock).await;
        match self.pool.pick(self.now(), &trip.tried) {
            Picked::Place(lease) => Ok(lease),
            Picked::Full => self.wait_for_place(trip).await,
            Picked::None => Err(SendError::Unresolved),
        }
    }

    async fn wait_for_place(&self, trip: &Trip) -> Result<Lease, SendError> {
        self.wait_for(|| match self.pool.pick(self.now(), &trip.tried) {
            Picked::Place(lease) => Some(lease),
            Picked::Full | Picked::None => None,
        })
        .await
    }

    /// Waits in line until `take` has something, for as long as a connection may take.
    pub(super) async fn wait_for<T>(
        &self,
        take: impl FnMut() -> Option<T>,
    ) -> Result<T, SendError> {
        let (queue, metrics) = (self.pool.queue(), self.pool.metrics());
        let taken = match queue.enter(self.most_waiting, &metrics.waiting) {
            Some(waiter) => {
                let longest = self.pool.timing().connect;
                tokio::time::timeout(longest, waiter.until(take)).await.ok()
            }
            None => None,
        };
        taken.ok_or_else(|| {
            metrics.full.inc();
            SendError::Full
        })
    }

    /// Whether the request goes again after `response`, because the policy says so.
    fn after(
        &self,
        response: &Response<Relay>,
        outbound: &Outbound,
        trip: &mut Trip,
        server: &Arc<Server>,
    ) -> bool {
        self.pool.settings().retries.status.contains(&response.status().as_u16())
            && outbound.may_go_twice()
            && self.goes_elsewhere("status", trip, server)
    }

    /// Whether the request goes again after `error`, because the policy says so.
    fn after_loss(
        &self,
        error: &SendError,
        outbound: &Outbound,
        trip: &mut Trip,
        server: &Arc<Server>,
    ) -> bool {
        let retries = &self.pool.settings().retries;
        let reason = match error {
            SendError::Slow if retries.timeout => "timeout",
            SendError::Broken(_) if retries.broken => "broken",
            _ => return false,
        };
        outbound.may_go_twice() && self.goes_elsewhere(reason, trip, server)
    }

    fn goes_elsewhere(&self, reason: &'static str, trip: &mut Trip, last: &Arc<Server>) -> bool {
        let most = self.pool.settings().retries.attempts;
        if trip.retries >= most
            || !self.pool.has_another(&trip.tried, last)
            || !self.may_retry(reason)
        {
            return false;
        }
        trip.retries += 1;
        true
    }

    /// Takes a retry out of the budget.
    pub(super) fn may_retry(&self, reason: &'static str) -> bool {
        if self.pool.budget().take(self.now()) {
            self.pool.metrics().retried(reason);
            return true;
        }
        self.pool.metrics().retries_refused.inc();
        false
    }
}
