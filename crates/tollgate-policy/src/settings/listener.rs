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
    /// TLS; `None` in the clear.
    pub tls: Option<ListenerTls>,
    /// Whether HTTP/2 is spoken besides HTTP/1.1: by ALPN over TLS, by its preface in the clear.
    pub http2: bool,
}

/// How TLS is spoken at a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenerTls {
    /// At least one. The client's server name chooses among them; the first is for any other.
    pub certificates: Vec<CertificateFiles>,
    /// Whose client certificates are taken; `None`: clients are not asked for one.
    pub clients: Option<ClientAuthorities>,
}

/// Where a certificate is. Relative paths were joined to the policy file's directory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CertificateFiles {
    /// The chain in PEM, the server's own certificate first.
    pub certificate: PathBuf,
    /// Its private key in PEM.
    pub key: PathBuf,
}

/// Whose client certificates are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientAuthorities {
    /// Certificates in PEM, one of which must have signed the client's.
    pub authorities: PathBuf,
    /// A client without a certificate is refused.
    pub required: bool,
}

impl Listener {
    /// The name of the one listener of a policy that says `listen` alone.
    pub const DEFAULT: &'static str = "default";

    /// A listener in the clear that speaks HTTP/1.1 and HTTP/2.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>, at: ListenAt) -> Listener {
        Listener { name: name.into(), at, proxy_protocol: Arc::default(), tls: None, http2: true }
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
