//! An admitted request: to the upstream and back.

use std::sync::Arc;

use http::header::{CONNECTION, HeaderValue};
use http::request::Parts;
use http::{Response, StatusCode, Version};
use tollgate_http::Problem;
use tollgate_http::trace_context::TRACEPARENT;

use super::caller::Caller;
use super::hints::Hints;
use super::random::random;
use super::survey::Survey;
use super::{Gateway, Live, Ticket, framing, hop_by_hop, outgoing, own, sizes, tunnel};
use crate::access_log::{Note, Noted};
use crate::body::{Inbound, Relay, ResponseBody, Upload};
use crate::connection::{Client, Turn};
use crate::upstream::{Outbound, SendError};

/// One request's time in the gateway.
pub(super) struct Visit<'a> {
    pub(super) gateway: &'a Arc<Gateway>,
    /// The policy under which it came; a reload meanwhile does not touch it.
    pub(super) live: Arc<Live>,
    pub(super) client: &'a Arc<Client>,
    /// Of the request's fields.
    pub(super) survey: Survey,
}

impl Visit<'_> {
    /// The request's turn on its connection begins; `body` is its body.
    pub(super) fn begin(&self, body: &Inbound) -> Turn {
        self.client.pace.begin(!body.has_come())
    }

    /// Passes the request on, and its answer back.
    pub(super) async fn pass(
        &self,
        parts: &mut Parts,
        body: Inbound,
        mut ticket: Ticket,
        note: &mut Note,
    ) -> Response<ResponseBody> {
        let Some(pool) = self.live.pool(ticket.route()) else {
            let detail = "No service stands behind this route.";
            return self.own(Problem::new(StatusCode::NOT_FOUND, detail).answer(), parts, body);
        };
        let caller = Caller::of(parts);
        if let Some(failure) = body.failure() {
            // It stays charged, as one whose body fails on its way.
            ticket.departure().leave();
            return self.failed(&SendError::Upload(failure), &caller, ticket);
        }
        let sizes = self.live.sizes(ticket.route());
        if sizes::exceeds(&body, sizes.request) {
            return self.own(sizes::too_large(), parts, body);
        }
        self.trace(&mut parts.headers);
        note.with(|noted| {
            noted.traceparent = parts.headers.get(&TRACEPARENT).cloned();
            noted.upstream = self.live.pool_name(pool);
            noted.departs();
        });
        let upgraded = parts.extensions.remove::<hyper::upgrade::OnUpgrade>();
        let bounds = (sizes.request, self.live.body_timeout());
        let upload = Upload::new(body, bounds, self.gateway.timer(), &self.client.pace);
        let client_address = self.live.client_address();
        let waits_for_hints = self.live.upstreams.hints(pool) && parts.version == Version::HTTP_11;
        let upgrade = outgoing::prepare(parts, self.survey, client_address, self.client);
        let mut request = outgoing::take(parts, upload);
        let hints = waits_for_hints.then(|| Hints::of(&mut request, self.gateway.metrics()));
        let mut outbound = Outbound::new(request);
        let worker = self.client.worker;
        let Some(exchange) = self.live.upstreams.exchange(pool, worker, ticket.departure()) else {
            return self.failed(&SendError::NoServer, &caller, ticket);
        };
        let answer = match hints {
            Some(hints) => {
                let answer = exchange.send(&mut outbound, note);
                Box::pin(hints.before(answer, &self.client.socket)).await
            }
            None => exchange.send(&mut outbound, note).await,
        };
        if answer.is_ok() {
            note.with(Noted::is_answered);
        }
        match answer {
            Ok(mut response) => {
                let survey = Survey::of(response.headers());
                if !framing::is_plain(response.headers(), survey) {
                    return self.failed(&SendError::Unasked, &caller, ticket);
                }
                ticket.status(response.status());
                if response.status() == StatusCode::SWITCHING_PROTOCOLS {
                    return match (upgrade, upgraded) {
                        (Some(protocol), Some(client)) => {
                            // It is over when the tunnel is.
                            let held = (ticket, std::mem::take(note));
                            tunnel::open(self, client, response, protocol, held)
                        }
                        _ => self.failed(&SendError::Unasked, &caller, ticket),
                    };
                }
                hop_by_hop::strip(response.headers_mut(), survey);
                self.relayed(response, sizes.response, ticket, &caller)
            }
            Err(error) => self.failed(&error, &caller, ticket),
        }
    }

    /// The upstream's answer, with how the limits stand.
    fn relayed(
        &self,
        mut response: Response<Relay>,
        most: Option<u64>,
        ticket: Ticket,
        caller: &Caller,
    ) -> Response<ResponseBody> {
        let random = random();
        self.live.responder.describe(ticket.decision(), random, response.headers_mut());
        // RFC 9110, 2.5: a version speaks of the sender of the message, and here that is us. With the upstream's 1.0 the
        // client's connection would be closed, too.
        *response.version_mut() = Version::HTTP_11;
        self.sized(response, most, ticket, caller)
    }

    fn failed(
        &self,
        error: &SendError,
        caller: &Caller,
        mut ticket: Ticket,
    ) -> Response<ResponseBody> {
        tracing::debug!(%error, "a request got no answer from its upstream");
        let mut answer = own::failed(error);
        if error.never_arrived() {
            ticket.status(answer.status);
        }
        self.gateway.metrics().answered(answer.status);
        self.live.responder.describe(ticket.decision(), random(), &mut answer.headers);
        let mut response = caller.response(answer).map(ResponseBody::own);
        if matches!(error, SendError::Upload(_)) {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}
