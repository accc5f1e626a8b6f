//! What the connections of one listener have in common.

use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;
use tollgate_policy::settings::Listener;

use crate::tls::{Tls, TlsError};

/// A listener, as its connections see it.
#[derive(Debug)]
pub(crate) struct Entrance {
    name: Arc<str>,
    /// Whose connections begin with a PROXY protocol header.
    proxy_protocol: Arc<[IpNet]>,
    tls: Option<Tls>,
    http2: bool,
}

/// How a client speaks to the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// In the clear.
    Http,
    /// By TLS.
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
    /// That of `listener`.
    ///
    /// # Errors
    /// [`TlsError`] where its certificates are of no use.
    pub(crate) fn new(listener: &Listener) -> Result<Entrance, TlsError> {
        let (name, http2) = (Arc::clone(&listener.name), listener.http2);
        let proxy_protocol = Arc::clone(&listener.proxy_protocol);
        Ok(Entrance { name, proxy_protocol, tls: Tls::load(listener)?, http2 })
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

    /// Its TLS; none in the clear.
    pub(crate) fn tls(&self) -> Option<&Tls> {
        self.tls.as_ref()
    }

    /// Whether HTTP/2 is spoken.
    pub(super) fn speaks_http2(&self) -> bool {
        self.http2
    }

    /// How clients speak to it.
    pub(crate) fn scheme(&self) -> Scheme {
        if self.tls.is_some() { Scheme::Https } else { Scheme::Http }
    }
}
