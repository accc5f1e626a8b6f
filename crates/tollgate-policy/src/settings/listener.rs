//! Where the gateway listens, and what is spoken there.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use ipnet::IpNet;

/// A listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// Its name; [`Listener::DEFAULT`] where the policy says `listen` alone.
    pub name: Arc<str>,
    /// Where it listens.
    pub at: ListenAt,
    /// Networks whose connections begin with a PROXY protocol header; others speak as if there were none.
    pub proxy_protocol: Arc<[IpNet]>,
}

impl Listener {
    /// The name of the one listener of a policy that says `listen` alone.
    pub const DEFAULT: &'static str = "default";

    /// A listener in the clear.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>, at: ListenAt) -> Listener {
        Listener { name: name.into(), at, proxy_protocol: Arc::default() }
    }

    /// Its address, where it has one.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        match self.at {
            ListenAt::Tcp(address) => Some(address),
            ListenAt::Unix(_) | ListenAt::Systemd(_) => None,
        }
    }
}

/// What a listener listens on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ListenAt {
    /// An address and a port; port 0 is any free one.
    Tcp(SocketAddr),
    /// A Unix socket at this path.
    Unix(PathBuf),
    /// A socket that the process was started with, by its name.
    Systemd(String),
}

impl fmt::Display for ListenAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListenAt::Tcp(address) => address.fmt(f),
            ListenAt::Unix(path) => write!(f, "unix:{}", path.display()),
            ListenAt::Systemd(name) => write!(f, "systemd:{name}"),
        }
    }
}
