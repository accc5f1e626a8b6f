//! Problem details (RFC 9457): the body of every answer that is our own.

use bytes::Bytes;
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use tollgate_policy::Rejection;

use crate::Answer;

/// What kind of problem it is: its `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The status says all: `about:blank`.
    Plain,
    /// The client used up what it may use.
    QuotaExceeded,
    /// Overload that is nobody's own fault.
    ReducedCapacity,
}

impl Kind {
    /// The `type` member. The IETF draft on `RateLimit` fields registers the last two with IANA.
    #[must_use]
    pub fn uri(self) -> &'static str {
        match self {
            Kind::Plain => "about:blank",
            Kind::QuotaExceeded => "https://iana.org/assignments/http-problem-types#quota-exceeded",
            Kind::ReducedCapacity => {
                "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"
            }
        }
    }

    /// The `title` member of a problem of this kind with `status`.
    #[must_use]
    pub fn title(self, status: StatusCode) -> &'static str {
        match self {
            Kind::Plain => status.canonical_reason().unwrap_or("Error"),
            Kind::QuotaExceeded => {
                "Request cannot be satisfied as assigned quota has been exceeded"
            }
            Kind::ReducedCapacity => {
                "Request cannot be satisfied due to temporary server capacity constraints"
            }
        }
    }
}

/// An answer that is our own and no refusal by a limit: a request that cannot be understood, routed or passed on.
///
/// ```
/// use http::StatusCode;
/// use tollgate_http::Problem;
///
/// let answer = Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "The body is longer than 1048576 bytes.").answer();
/// assert_eq!(answer.headers["content-type"], "application/problem+json");
/// ```
#[derive(Clone, Debug)]
pub struct Problem<'a> {
    status: StatusCode,
    kind: Kind,
    detail: &'a str,
    retry_after: Option<u64>,
}

impl<'a> Problem<'a> {
    /// A problem whose status says what kind it is. `detail` tells a person what happened to this request; it must not
    /// repeat what the client sent as a secret.
    #[must_use]
    pub fn new(status: StatusCode, detail: &'a str) -> Problem<'a> {
        Problem { status, kind: Kind::Plain, detail, retry_after: None }
    }

    /// 503: more than can be served now, which is nobody's own fault. `retry_after` is in seconds; 0 is told as 1.
    #[must_use]
    pub fn overloaded(detail: &'a str, retry_after: u64) -> Problem<'a> {
        Problem {
            status: StatusCode::SERVICE_UNAVAILABLE,
            kind: Kind::ReducedCapacity,
            detail,
            retry_after: Some(retry_after.max(1)),
        }
    }

    /// The whole answer.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let mut headers = own_headers();
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        let mut body = String::with_capacity(256 + self.detail.len());
        open(&mut body, self.kind, self.status, self.kind.title(self.status));
        body.push_str(",\"detail\":");
        body.push_str(&json_string(self.detail));
        body.push('}');
        Answer { status: self.status, headers, body: Bytes::from(body) }
    }
}

/// The answer to a request that could not be decided.
pub(crate) fn rejection(rejection: &Rejection) -> Answer {
    match rejection {
        Rejection::NoRoute => {
            Problem::new(StatusCode::NOT_FOUND, "No route of the policy matches this request.").answer()
        }
        Rejection::BadPath => Problem::new(
            StatusCode::BAD_REQUEST,
            "The path is not one that can be matched safely: it must begin with a slash and hold neither an encoded \
             slash, backslash or NUL, nor a broken percent code.",
        )
        .answer(),
        Rejection::MissingIdentity { limit, identity } => {
            let detail = format!(
                "The limit {limit} counts requests by {identity}, and this request does not carry it."
            );
            Problem::new(StatusCode::BAD_REQUEST, &detail).answer()
        }
    }
}

/// The fields that every answer of our own has: what it is, and that no cache may keep it (RFC 6585, section 4).
pub(crate) fn own_headers() -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(6);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers
}

/// Begins a body: the members that all problems have. `title` is plain text that needs no escaping, or escaped already.
pub(crate) fn open(body: &mut String, kind: Kind, status: StatusCode, title: &str) {
    for part in
        ["{\"type\":\"", kind.uri(), "\",\"title\":\"", title, "\",\"status\":", status.as_str()]
    {
        body.push_str(part);
    }
}

/// `text` as a JSON string, with its quotes.
pub(crate) fn json_string(text: &str) -> String {
    // Every text is a JSON string.
    serde_json::to_string(text).unwrap_or_default()
}

/// `text` as the inside of a JSON string, without quotes.
pub(crate) fn json_escaped(text: &str) -> String {
    let quoted = json_string(text);
    quoted[1..quoted.len() - 1].to_owned()
}
