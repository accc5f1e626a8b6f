//! A delayed request, until its turn comes or its client leaves.

use std::sync::Arc;

use prometheus_client::metrics::gauge::Gauge;
use smallvec::SmallVec;
use tollgate_core::{Algorithm, LeakyBucket, Micros};
use tollgate_policy::{Decision, Held};
use tollgate_store::Taken;

use super::moments::Moments;
use super::{Gateway, Live, Ticket};
use crate::connection::Client;
use crate::waiting::{Claim, Departure, Line};

/// Why a delayed request does not pass. Dropping its ticket takes it back.
pub(super) enum Unserved {
    /// The room is full.
    Full,
    /// Its client left.
    Gone,
}

impl Gateway {
    /// Waits until the turn of a request that was admitted with a delay of `delay` has come.
    pub(super) async fn wait(
        self: &Arc<Gateway>,
        live: &Live,
        client: &Client,
        decision: Box<Decision>,
        delay: Micros,
    ) -> Result<Ticket, Unserved> {
        let moments = self.moments();
        let due = moments.decided(&decision).saturating_add(delay.get());
        let claims = claims(live, &decision, moments);
        let seat = self.room.enter(due, claims, live.settings().max_waiting);
        let mut ticket = self.ticket(decision, moments);
        let Some(seat) = seat else { return Err(Unserved::Full) };
        let turn = seat.turn();
        ticket.seat(Departure::from(seat));
        let _waiting = Counted::one(&self.metrics().waiting);
        tokio::select! {
            biased;
            () = client.socket.closed() => {
                drop(ticket);
                Err(Unserved::Gone)
            }
            () = turn.wait(&*self.clock) => Ok(ticket),
        }
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

/// The line that a charge stands in.
pub(super) fn line(taken: &Taken) -> Line {
    Line { limit: taken.limit, key: taken.key }
}

/// The stretches of time that a delayed request holds: one in each leaky bucket that makes it wait.
fn claims(live: &Live, decision: &Decision, moments: Moments) -> SmallVec<[Claim; 2]> {
    let claim = |held: &Held| {
        let report = decision.limits.get(held.taken.place)?;
        let limit = live.bound.settings().limits.get(report.limit)?;
        let class = limit.classes.get(report.class.unwrap_or(0))?;
        match &class.algorithm {
            Some(Algorithm::LeakyBucket(bucket)) if !bucket.nodelay => Some(Claim {
                line: line(&held.taken),
                due: moments.charged(held).saturating_add(held.wait.get()),
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
