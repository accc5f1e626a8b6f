//! Requests whose limits count by what their body says: it is read before they are decided.

use http::request::Parts;
use hyper::body::Body;
use tollgate_policy::Mode;

use super::passing::Visit;
use crate::body::{Inbound, UploadFailure};
use crate::metrics::ReadAhead;

impl Visit<'_> {
    /// Whether the request of `parts` cannot be decided without its `body`. No other is ever held back.
    pub(super) fn needs_body(&self, parts: &Parts, body: &Inbound) -> bool {
        self.live.bound.reads_bodies()
            && !body.is_end_stream()
            && self.gateway.engine.mode() != Mode::Off
            && self.live.bound.needs_body(&self.facts(parts, None))
    }

    /// Reads `body` ahead.
    pub(super) async fn read_ahead(&self, body: &mut Inbound) {
        let most = self.live.settings().max_identity_body;
        body.read_ahead(most, self.live.body_timeout()).await;
        if body.has_come() {
            self.client.pace.read_to_the_end();
        }
        if body.has_trailers() {
            self.client.pace.saw_trailers();
        }
        self.gateway.metrics().read_ahead(match body.failure() {
            None if body.whole().is_some() => ReadAhead::Whole,
            None => ReadAhead::TooLarge,
            Some(UploadFailure::Silent) => ReadAhead::Silent,
            Some(UploadFailure::TooLarge | UploadFailure::Broken) => ReadAhead::Broken,
        });
    }
}
