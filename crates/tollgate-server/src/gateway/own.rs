//! Answers of our own, and what becomes of a body that they left unread.

use std::sync::Arc;

use http::header::{CONNECTION, EXPECT, HeaderValue};
use http::request::Parts;
use http::{Response, StatusCode, Version};
use tollgate_http::{Answer, Problem};

use super::caller::Caller;
use super::framing;
use super::passing::Visit;
use crate::body::{Inbound, ResponseBody, UploadFailure, drain};
use crate::upstream::SendError;

impl Visit<'_> {
    /// `answer` to the request of `parts`, whose body nobody takes. A short body is read away, and the connection lives on;
    /// before a long one, one that the client has not begun to send, or one whose end is a matter of opinion, it is closed. The answer goes first either way.
    pub(super) fn own(
        &self,
        answer: Answer,
        parts: &Parts,
        body: Inbound,
    ) -> Response<ResponseBody> {
        self.gateway.metrics().answered(answer.status);
        let mut response = Caller::of(parts).response(answer).map(ResponseBody::own);
        // Over HTTP/2 the rest is not wanted: its stream is reset once the answer is out.
        if body.has_come() || parts.version == Version::HTTP_2 {
            return response;
        }
        let sure = framing::is_plainly_coded(&parts.headers);
        if body.is_short() && sure && !parts.headers.contains_key(EXPECT) {
            let pace = Arc::clone(&self.client.pace);
            tokio::spawn(drain(body.rest(), self.live.body_timeout(), pace));
        } else {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// The answer where the upstream gave none.
pub(super) fn failed(error: &SendError) -> Answer {
    let (status, detail) = match error {
        SendError::Exhausted(_) => {
            let detail = "This gateway has nothing left to reach the service behind it with.";
            return Problem::overloaded(detail, 1).answer();
        }
        SendError::Full => {
            let detail = "The service behind this gateway has as many connections as it may have.";
            return Problem::overloaded(detail, 1).answer();
        }
        SendError::NoServer | SendError::Connect(_) | SendError::Unprocessed(_) => {
            (StatusCode::BAD_GATEWAY, "The service behind this gateway takes no connection.")
        }
        SendError::Unresolved => {
            (StatusCode::BAD_GATEWAY, "The service behind this gateway has no known address.")
        }
        SendError::Unproven(_) => (
            StatusCode::BAD_GATEWAY,
            "The service behind this gateway does not prove that it is the right one.",
        ),
        SendError::Broken(_) | SendError::Status(_) | SendError::Unasked => (
            StatusCode::BAD_GATEWAY,
            "The service behind this gateway broke off before it answered.",
        ),
        SendError::Slow => {
            (StatusCode::GATEWAY_TIMEOUT, "The service behind this gateway did not answer in time.")
        }
        SendError::Upload(UploadFailure::TooLarge) => {
            (StatusCode::PAYLOAD_TOO_LARGE, "The body is larger than this gateway passes on.")
        }
        SendError::Upload(UploadFailure::Silent) => {
            (StatusCode::REQUEST_TIMEOUT, "The body did not come in time.")
        }
        SendError::Upload(UploadFailure::Broken) => {
            (StatusCode::BAD_REQUEST, "The body broke off.")
        }
    };
    Problem::new(status, detail).answer()
}
