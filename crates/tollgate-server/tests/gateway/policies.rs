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

/// Everything passes to one of `servers`; `more` is said of them as a pool, such as `, http2: true`.
pub(crate) fn pool(servers: &[&dyn Display], more: &str) -> String {
    pool_with(servers, more, "")
}

/// As [`pool`], with further sections.
pub(crate) fn pool_with(servers: &[&dyn Display], more: &str, sections: &str) -> String {
    let servers: Vec<String> = servers.iter().map(|server| format!("\"{server}\"")).collect();
    let servers = servers.join(", ");
    format!(
        "{sections}\nupstreams: {{ app: {{ servers: [{servers}]{more} }} }}\n\
         routes:\n- {{ match: {{ path: /** }}, limits: [], upstream: app }}\n"
    )
}

/// The name of a metric of one server of the pool.
pub(crate) fn of_server(name: &str, server: impl Display, more: &str) -> String {
    format!("tollgate_upstream_{name}{{pool=\"app\",server=\"{server}\"{more}}}")
}

/// The name of a metric of the pool.
pub(crate) fn of_pool(name: &str, more: &str) -> String {
    format!("tollgate_upstream_{name}{{pool=\"app\"{more}}}")
}
