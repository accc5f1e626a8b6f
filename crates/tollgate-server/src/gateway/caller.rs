//! What of a request decides how an answer of our own is written.

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Response};
use tollgate_http::{Answer, is_grpc};

/// Who asked, as far as an answer has to know.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    method: Method,
    grpc: bool,
}

impl Caller {
    /// Who sent the request of `parts`.
    pub(super) fn of(parts: &Parts) -> Caller {
        Caller { method: parts.method.clone(), grpc: is_grpc(&parts.method, &parts.headers) }
    }

    /// `answer` as they understand it.
    pub(super) fn response(&self, answer: Answer) -> Response<Bytes> {
        let answer = if self.grpc { answer.for_grpc() } else { answer };
        answer.into_response(&self.method)
    }
}
