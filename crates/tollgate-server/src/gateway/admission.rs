//! Whether a request passes: facts, decision, and the wait that a delay asks for.

use std::cell::Cell;
use std::sync::Arc;

use http::request::Parts;
use tollgate_core::Micros;
use tollgate_http::{Answer, Problem, facts_of};
use tollgate_policy::{Charges, Decision, Facts, Ruling, Verdict};
use tollgate_store::{Clock, Stopwatch};

use super::passing::Visit;
use super::waiter::Unserved;
use super::{ClientGone, Gateway, Ticket};
use crate::access_log::Note;

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

impl Gateway {
    /// Decides the request of `parts`, of whose `body` is known what was read ahead, and waits where it is delayed.
    ///
    /// # Errors
    /// [`ClientGone`] where the client left while it waited; what was taken is given back.
    pub(super) async fn admit(
        self: &Arc<Gateway>,
        visit: &Visit<'_>,
        parts: &Parts,
        body: Option<&[u8]>,
        note: &mut Note,
    ) -> Result<Admission, ClientGone> {
        let facts = visit.facts(parts, body);
        note.with(|noted| noted.client = facts.client);
        let watch = Stopwatch::start();
        let mut charges = CHARGES.take().unwrap_or_default();
        let (bound, now) = (&visit.live.bound, self.clock.now());
        let ruling = self.engine.decide_in(bound, &facts, now, None, &mut charges).await;
        let decision = match ruling {
            Ok(Ruling::Decided(decision)) => Box::new(decision),
            Ok(Ruling::Rejected(rejection)) => {
                self.metrics().rejected(&rejection);
                return Ok(Admission::Answered(visit.live.responder.reject(&rejection)));
            }
            Err(error) => {
                self.metrics().store_failed();
                tracing::error!(%error, "the store gave no answer");
                let detail = "The limits of this request could not be asked.";
                return Ok(Admission::Answered(Problem::overloaded(detail, 1).answer()));
            }
        };
        visit.live.recorder.decided(&decision, watch.nanos());
        note.with(|noted| noted.decided(&decision, visit.live.bound.settings(), &charges));
        CHARGES.set(Some(charges));
        self.follow(visit, decision).await
    }

    async fn follow(
        self: &Arc<Gateway>,
        visit: &Visit<'_>,
        decision: Box<Decision>,
    ) -> Result<Admission, ClientGone> {
        let delay = match decision.verdict {
            Verdict::Admit => {
                return Ok(Admission::Passes(self.ticket(decision, self.moments())));
            }
            Verdict::Refuse(_) => {
                let answer = visit.live.responder.refuse(&decision, self.random());
                return Ok(Admission::Answered(answer));
            }
            Verdict::Delay(delay) => delay,
        };
        match self.wait(&visit.live, visit.client, decision, delay).await {
            Ok(ticket) => Ok(Admission::Passes(ticket)),
            Err(Unserved::Full) => Ok(Admission::Answered(self.room_is_full(delay))),
            Err(Unserved::Gone) => Err(ClientGone),
        }
    }

    /// The limits would have let the request wait, but too many do. That is nobody's own fault, and nothing was charged.
    fn room_is_full(&self, delay: Micros) -> Answer {
        self.metrics().queue_full();
        let detail = "Too many requests wait for their turn already.";
        Problem::overloaded(detail, delay.ceil_secs()).answer()
    }
}
