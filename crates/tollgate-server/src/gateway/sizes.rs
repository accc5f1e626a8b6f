//! How large bodies may be, by route. A length that is stated is refused before anything moves.

use http::{Response, StatusCode};
use hyper::body::Body;
use tollgate_http::{Answer, Problem};

use super::caller::Caller;
use super::passing::Visit;
use super::random::random;
use super::{Live, Ticket};
use crate::body::{Inbound, Relay, ResponseBody};

/// What a route passes on at most, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Of a request's body.
    pub(super) request: Option<u64>,
    /// Of an answer's.
    pub(super) response: Option<u64>,
}

impl Live {
    /// What the route at `place` passes on.
    pub(super) fn sizes(&self, place: Option<usize>) -> Sizes {
        let route = place.and_then(|place| self.bound.settings().routes.get(place));
        Sizes {
            request: route.and_then(|route| route.max_body_bytes),
            response: route.and_then(|route| route.max_response_bytes),
        }
    }
}

/// Whether `body` says that it is larger than `most`.
pub(super) fn exceeds(body: &Inbound, most: Option<u64>) -> bool {
    most.is_some_and(|most| body.size_hint().lower() > most)
}

/// The answer to a request that does. It has met its limits before: they are the route's, as the size is.
pub(super) fn too_large() -> Answer {
    let detail = "The body is larger than this gateway passes on.";
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail).answer()
}

impl Visit<'_> {
    /// The upstream's answer if it is of at most `most` bytes as far as it says, else one of our own.
    pub(super) fn sized(
        &self,
        response: Response<Relay>,
        most: Option<u64>,
        ticket: Ticket,
        caller: &Caller,
    ) -> Response<ResponseBody> {
        let Some(most) = most else {
            return response.map(|relay| ResponseBody::upstream(relay, ticket.until_sent()));
        };
        if response.body().size_hint().lower() <= most {
            let metrics = self.gateway.metrics();
            return response
                .map(|relay| ResponseBody::bounded(relay, most, metrics, ticket.until_sent()));
        }
        self.gateway.metrics().responses_too_large.inc();
        let detail = "The answer of the service behind this gateway is larger than it passes on.";
        let mut answer = Problem::new(StatusCode::BAD_GATEWAY, detail).answer();
        self.gateway.metrics().answered(answer.status);
        self.live.responder.describe(ticket.decision(), random(), &mut answer.headers);
        caller.response(answer).map(ResponseBody::own)
    }
}
