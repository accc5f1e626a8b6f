//! What the connections of one listener have in common.

use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;

/// A listener, as its connections see it.
#[derive(Debug)]
pub(crate) struct Entrance {
    name: Arc<str>,
    /// Whose connections begin with a PROXY protocol header.
    proxy_protocol: Arc<[IpNet]>,
}

/// How a client speaks to the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// In the clear.
    Http,
    /// By TLS.
    #[allow(dead_code, reason = "TLS is wired next")]
    Https,
}

impl Scheme {
    /// As in a URI.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }
}

impl Entrance {
    /// The listener called `name`, which takes PROXY protocol headers from `proxy_protocol`.
    pub(crate) fn new(name: Arc<str>, proxy_protocol: Arc<[IpNet]>) -> Entrance {
        Entrance { name, proxy_protocol }
    }

    /// Whether connections from `peer` begin with a PROXY protocol header.
    pub(crate) fn takes_headers_from(&self, peer: IpAddr) -> bool {
        let peer = peer.to_canonical();
        self.proxy_protocol.iter().any(|net| net.contains(&peer))
    }

    /// Its name in the policy.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// How clients speak to it.
    pub(crate) fn scheme(&self) -> Scheme {
        Scheme::Http
    }
}
