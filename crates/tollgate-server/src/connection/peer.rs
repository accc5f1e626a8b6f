//! The other end of a connection, as its requests need it.

use std::net::IpAddr;

use http::HeaderValue;

/// The other end of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    /// Its address, an IPv4-mapped one as IPv4; none over a Unix socket.
    pub(crate) address: Option<IpAddr>,
    /// The same as `X-Forwarded-For` tells it, written once a connection. Of none that is said, lest the entry before it be
    /// taken for the peer's.
    pub(crate) line: HeaderValue,
}

impl Peer {
    pub(crate) fn new(address: Option<IpAddr>) -> Peer {
        let address = address.map(|address| address.to_canonical());
        let line = address.and_then(|address| HeaderValue::try_from(address.to_string()).ok());
        Peer { address, line: line.unwrap_or(HeaderValue::from_static("unknown")) }
    }
}
