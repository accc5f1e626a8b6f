//! Whether a request passes: facts, decision, and the wait that a delay asks for.

use std::cell::Cell;

use http::request::Parts;
use tollgate_core::Micros;
use tollgate_http::{Answer, Problem, facts_of};
use tollgate_policy::{Charges, Decision, Facts, Ruling, Verdict};
use tollgate_store::Stopwatch;

use super::passing::Visit;
use super::random::random;
use super::waiter::Unserved;
use super::{ClientGone, Ticket, checks};
use crate::access_log::Note;
use crate::body::Inbound;

thread_local! {
    /// Room for what one request is charged. One that waits for a shared store takes it along, and the next makes its own.
    static CHARGES: Cell<Option<Box<Charges>>> = const { Cell::new(None) };
}

/// Whether a request passes.
pub(super) enum Admission {
    /// It does; the ticket says what it owes.
    Passes(Ticket),
    /// It does not, and this is its answer.
    Answered(Answer),
}

impl Visit<'_> {
    /// What is known of the request of `parts`; of its `body`, where that was read.
    pub(super) fn facts<'f>(&'f self, parts: &'f Parts, body: Option<&'f [u8]>) -> Facts<'f> {
        let peer = self.client.peer.address;
        let mut facts = facts_of(self.live.client_address(), peer, parts);
        facts.listener = Some(self.client.listener());
        facts.certificate = self.client.certificate.as_ref();
        facts.body = body;
        facts
    }
}

impl Visit<'_> {
    /// Decides the request of `parts`, reading its `body` ahead where that says who asks, and waits where it is delayed.
    ///
    /// # Errors
    /// [`ClientGone`] where the client left while it waited; what was taken is given back.
    pub(super) async fn admit(
        &self,
        parts: &Parts,
        body: &mut Inbound,
        note: &mut Note,
    ) -> Result<Admission, ClientGone> {
        if let Some(fault) = checks::fault(parts, self.survey, self.live.settings()) {
            return Ok(Admission::Answered(fault));
        }
        if self.needs_body(parts, body) {
            Box::pin(self.read_ahead(body)).await;
        }
        let facts = self.facts(parts, body.whole());
        note.with(|noted| noted.client = facts.client);
        let watch = Stopwatch::start();
        let mut charges = CHARGES.take().unwrap_or_default();
        let (gateway, bound) = (&self.gateway, &self.live.bound);
        let ruling = gateway.engine.decide_in(bound, &facts, gateway.now(), None, &mut charges);
        let decision = match ruling.await {
            Ok(Ruling::Decided(decision)) => Box::new(decision),
            Ok(Ruling::Rejected(rejection)) => {
                gateway.metrics().rejected(&rejection);
                return Ok(Admission::Answered(self.live.responder.reject(&rejection)));
            }
            Err(error) => {
                gateway.metrics().store_failed();
                tracing::error!(%error, "the store gave no answer");
                let detail = "The limits of this request could not be asked.";
                return Ok(Admission::Answered(Problem::overloaded(detail, 1).answer()));
            }
        };
        self.live.recorder.decided(&decision, watch.nanos());
        note.with(|noted| noted.decided(&decision, bound.settings(), &charges));
        CHARGES.set(Some(charges));
        match decision.verdict {
            Verdict::Admit => Ok(Admission::Passes(gateway.ticket(decision, gateway.moments()))),
            Verdict::Refuse(_) => {
                let answer = self.live.responder.refuse(&decision, random());
                Ok(Admission::Answered(answer))
            }
            Verdict::Delay(delay) => Box::pin(self.delay(decision, delay)).await,
        }
    }

    /// Waits until the turn of a request has come that `decision` admits after `delay`.
    async fn delay(&self, decision: Box<Decision>, delay: Micros) -> Result<Admission, ClientGone> {
        match self.gateway.wait(&self.live, self.client, decision, delay).await {
            Ok(ticket) => Ok(Admission::Passes(ticket)),
            Err(Unserved::Full) => Ok(Admission::Answered(self.room_is_full(delay))),
            Err(Unserved::Gone) => Err(ClientGone),
        }
    }

    /// The limits would have let the request wait, but too many do. That is nobody's own fault, and nothing was charged.
    fn room_is_full(&self, delay: Micros) -> Answer {
        self.gateway.metrics().queue_full();
        let detail = "Too many requests wait for their turn already.";
        Problem::overloaded(detail, delay.ceil_secs()).answer()
    }
}
