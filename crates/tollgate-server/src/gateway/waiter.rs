//! A delayed request, until its turn comes or its client leaves.

use std::sync::Arc;

use prometheus_client::metrics::gauge::Gauge;
use smallvec::SmallVec;
use tollgate_core::{Algorithm, LeakyBucket, Micros};
use tollgate_policy::{Decision, Held};
use tollgate_store::{Clock, Taken};

use super::ticket::complete;
use super::{ClientGone, Gateway, Live, Ticket};
use crate::connection::Client;
use crate::waiting::{Claim, Line, Seat};

/// A delayed request in the waiting room. Dropping it takes the request back: its place is free, and those behind move up.
struct Waiter<'a> {
    gateway: &'a Gateway,
    seat: Option<Seat>,
    decision: Option<Decision>,
}

/// Why a delayed request does not pass.
pub(super) enum Unserved {
    /// The room is full.
    Full,
    /// Its client left.
    Gone,
}

impl Gateway {
    /// Waits until the turn of a request that was admitted with a delay of `delay` has come.
    pub(super) async fn wait(
        &self,
        live: &Live,
        client: &Client,
        decision: Decision,
        delay: Micros,
    ) -> Result<Ticket, Unserved> {
        let mut waiter = Waiter { gateway: self, seat: None, decision: Some(decision) };
        if !waiter.sit_down(live, delay) {
            return Err(Unserved::Full);
        }
        let _waiting = Counted::one(&self.metrics().waiting);
        waiter.turn(client).await.map_err(|ClientGone| Unserved::Gone)?;
        waiter.served().ok_or(Unserved::Full)
    }
}

/// One more in a gauge, until it is dropped.
struct Counted<'a>(&'a Gauge);

impl Counted<'_> {
    fn one(gauge: &Gauge) -> Counted<'_> {
        gauge.inc();
        Counted(gauge)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Waiter<'_> {
    fn sit_down(&mut self, live: &Live, delay: Micros) -> bool {
        let Some(decision) = &self.decision else { return false };
        let due = decision.now.as_micros().saturating_add(delay.get());
        let claims = claims(live, decision);
        self.seat = self.gateway.room.enter(due, claims, live.settings().max_waiting);
        self.seat.is_some()
    }

    async fn turn(&self, client: &Client) -> Result<(), ClientGone> {
        let Some(seat) = &self.seat else { return Ok(()) };
        tokio::select! {
            biased;
            () = client.socket.closed() => Err(ClientGone),
            () = seat.wait(&*self.gateway.clock) => Ok(()),
        }
    }

    /// Its turn has come: from here on it runs.
    fn served(mut self) -> Option<Ticket> {
        let decision = self.decision.take()?;
        self.seat = None;
        Some(Ticket::new(&self.gateway.engine, &self.gateway.clock, decision))
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let (seat, Some(mut decision)) = (self.seat.take(), self.decision.take()) else { return };
        let now = self.gateway.clock.now();
        // Those behind move up before the store knows: whoever is decided in between is told too long a wait, never too
        // short a one.
        let left = seat.map(|seat| {
            self.gateway.metrics().abandoned.inc();
            seat.leave(now.as_micros())
        });
        for held in &mut decision.taken {
            // It may have moved up itself.
            if let Some(claim) = left.iter().flatten().find(|claim| claim.line == line(&held.taken))
            {
                let wait = claim.due.saturating_sub(held.taken.charged.at.as_micros());
                held.wait = Micros::new(wait);
            }
        }
        let engine = Arc::clone(&self.gateway.engine);
        complete(async move { engine.withdraw(decision, now).await });
    }
}

fn line(taken: &Taken) -> Line {
    Line { limit: taken.limit, key: taken.key }
}

/// The stretches of time that a delayed request holds: one in each leaky bucket that makes it wait.
fn claims(live: &Live, decision: &Decision) -> SmallVec<[Claim; 2]> {
    let claim = |held: &Held| {
        let report = decision.limits.get(held.taken.place)?;
        let limit = live.bound.settings().limits.get(report.limit)?;
        let class = limit.classes.get(report.class.unwrap_or(0))?;
        match &class.algorithm {
            Some(Algorithm::LeakyBucket(bucket)) if !bucket.nodelay => Some(Claim {
                line: line(&held.taken),
                due: held.taken.charged.at.as_micros().saturating_add(held.wait.get()),
                span: span(bucket, held.taken.charged.units)?,
            }),
            _ => None,
        }
    };
    decision.taken.iter().filter_map(claim).collect()
}

/// The time of `units`, rounded down.
fn span(bucket: &LeakyBucket, units: u64) -> Option<u64> {
    let span = u128::from(units) * u128::from(bucket.rate.per.get());
    Some(u64::try_from(span.checked_div(u128::from(bucket.rate.count))?).unwrap_or(u64::MAX))
}
