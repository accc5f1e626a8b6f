//! A whole answer of our own.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HeaderMap, HeaderValue};
use http::{Method, Response, StatusCode};

/// A whole answer of our own: to a refused request, or to one that could not be served.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its header fields; the length of the body is not among them.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

impl Answer {
    /// The answer as a response to a request with `method`. To `HEAD` it has the fields that it would have to `GET`,
    /// `Content-Length` among them, and no body.
    #[must_use]
    pub fn into_response(mut self, method: &Method) -> Response<Bytes> {
        if method == Method::HEAD {
            self.headers.insert(CONTENT_LENGTH, HeaderValue::from(self.body.len()));
            self.body = Bytes::new();
        }
        let mut response = Response::new(self.body);
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}
