//! What is known of a request when it is decided.

use std::net::IpAddr;

/// The facts of one request. Everything is borrowed: deciding copies nothing.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// `GET`.
    pub method: &'a str,
    /// The authority, without scheme, as the client sent it.
    pub host: Option<&'a str>,
    /// The path as received, without the query.
    pub path: &'a str,
    /// What follows the `?`.
    pub query: Option<&'a str>,
    /// The header fields.
    pub headers: Headers<'a>,
    /// A bounded prefix of the body, where it was read.
    pub body: Option<&'a [u8]>,
    /// The client's address, found by `tollgate_http::client_address`; not yet cut to a prefix.
    pub client: Option<IpAddr>,
    /// Whether the socket's peer is a trusted proxy, so that its headers and cookies count.
    pub trusted: bool,
    /// A cost that overrides the policy's (a replay's `cost`).
    pub cost: Option<u64>,
}

/// Header fields, wherever they are kept.
#[derive(Clone, Copy, Debug)]
pub enum Headers<'a> {
    /// Of a live request.
    Map(&'a http::HeaderMap),
    /// Of a recorded one: names in lower case.
    Pairs(&'a [(&'a str, &'a str)]),
}
