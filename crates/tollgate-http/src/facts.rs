//! What a policy must know of a live request.

use std::net::IpAddr;

use http::header;
use http::request::Parts;
use tollgate_policy::{ClientAddress, Facts, Headers};

use crate::client_address;

/// The facts of a request whose socket's peer is `peer`, borrowed from its head. The host is the target's authority, or
/// else the `Host` field (RFC 9112, 3.2.2). `settings` is the policy's own: `policy.client_address()`.
#[must_use]
pub fn facts_of<'a>(settings: &ClientAddress, peer: Option<IpAddr>, parts: &'a Parts) -> Facts<'a> {
    let headers = Headers::Map(&parts.headers);
    let client = client_address::resolve(settings, peer, headers);
    let named = || parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    Facts {
        method: parts.method.as_str(),
        host: parts.uri.authority().map(http::uri::Authority::as_str).or_else(named),
        path: parts.uri.path(),
        query: parts.uri.query(),
        headers,
        body: None,
        client: client.address,
        trusted: client.trusted,
        cost: None,
    }
}
