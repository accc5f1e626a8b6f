//! Policies of the tests.

use std::fmt::Display;
use std::net::SocketAddr;

/// Everything passes to `upstream`.
pub(crate) fn open(upstream: SocketAddr) -> String {
    open_with(upstream, "")
}

/// Everything passes to `upstream`; `more` are further sections.
pub(crate) fn open_with(upstream: impl Display, more: &str) -> String {
    format!(
        "{more}\nupstreams: {{ app: {{ servers: [\"{upstream}\"] }} }}\n\
         routes:\n- {{ match: {{ path: /** }}, limits: [], upstream: app }}\n"
    )
}

/// Everything is limited by `limit`, the parameters of one limit, and passes to `upstream`.
pub(crate) fn limited(upstream: impl Display, limit: &str) -> String {
    limited_with(upstream, limit, "")
}

/// As [`limited`], with further sections.
pub(crate) fn limited_with(upstream: impl Display, limit: &str, more: &str) -> String {
    format!(
        "{more}\nupstreams: {{ app: {{ servers: [\"{upstream}\"] }} }}\nlimits:\n  it: {limit}\n\
         routes:\n- {{ match: {{ path: /** }}, limits: [it], upstream: app }}\n"
    )
}
