//! Pools of servers: where they are, how they are spoken to, and how they are looked after.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use tollgate_core::Micros;

/// A pool of servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// Its name.
    pub name: Arc<str>,
    /// At least one.
    pub servers: Vec<UpstreamServer>,
    /// How connections are encrypted; `None` is in the clear.
    pub tls: Option<UpstreamTls>,
    /// HTTP/2 is spoken: in the clear by prior knowledge, through TLS where the server chooses it.
    pub http2: bool,
    /// Interim answers (1xx) of its servers go on to clients of HTTP/1.1.
    pub early_hints: bool,
    /// Most connections to each address; `None` is unlimited.
    pub max_connections: Option<usize>,
    /// A kept connection that was not used for this long is closed.
    pub idle_timeout: Micros,
    /// In place of the gateway's own.
    pub connect_timeout: Option<Micros>,
    /// In place of the gateway's own.
    pub first_byte_timeout: Option<Micros>,
    /// How often names are looked up again.
    pub resolve_every: Micros,
    /// How servers are asked whether they are well; `None`: they are not.
    pub health_check: Option<HealthCheck>,
    /// When servers that fail requests are left out for a while; `None`: never.
    pub ejection: Option<Ejection>,
    /// Which requests are sent again, and how many.
    pub retries: Retries,
}

impl Upstream {
    /// The pool `name` of `servers`, with everything else as it is unless a policy says otherwise.
    #[must_use]
    pub fn new(name: &str, servers: Vec<UpstreamServer>) -> Upstream {
        Upstream {
            name: name.into(),
            servers,
            tls: None,
            http2: false,
            early_hints: false,
            max_connections: None,
            idle_timeout: Micros::from_secs(50),
            connect_timeout: None,
            first_byte_timeout: None,
            resolve_every: Micros::from_secs(30),
            health_check: None,
            ejection: Some(Ejection::default()),
            retries: Retries::default(),
        }
    }
}

/// A server of a pool. A name may have several addresses: each of them is asked as a server of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UpstreamServer {
    /// Where it is.
    pub address: UpstreamAddress,
    /// Its part of the requests, relative to the others'; at least 1.
    pub weight: u32,
}

/// Where a server is. `Display` writes it as a policy does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum UpstreamAddress {
    /// An IP address and port.
    Socket(SocketAddr),
    /// A DNS name and port.
    Name {
        /// The name.
        host: String,
        /// The port.
        port: u16,
    },
    /// A Unix socket.
    Unix(PathBuf),
}

impl fmt::Display for UpstreamAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UpstreamAddress::Socket(address) => address.fmt(f),
            UpstreamAddress::Name { host, port } => write!(f, "{host}:{port}"),
            UpstreamAddress::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// How a server proves who it is, and how the gateway does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct UpstreamTls {
    /// PEM file of the authorities that are trusted; `None`: those of the machine.
    pub authorities: Option<PathBuf>,
    /// The name that the certificate must be for; `None`: the server's own.
    pub server_name: Option<String>,
    /// The gateway's own certificate and its key, both PEM files.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// Whoever answers is believed.
    pub insecure: bool,
}

/// How servers are asked whether they are well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthCheck {
    /// What is asked.
    pub probe: Probe,
    /// From one check's begin to the next one's; up to a tenth less at random.
    pub every: Micros,
    /// How long a check may take.
    pub timeout: Micros,
    /// So many failures in a row make a server unhealthy.
    pub failures: u32,
    /// So many successes in a row make it healthy again.
    pub successes: u32,
}

/// What a health check asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// `GET` of a path.
    Http {
        /// The path and query.
        path: String,
        /// The host that is named; `None`: the server's own address.
        host: Option<String>,
        /// The statuses of a healthy server.
        status: Vec<u16>,
    },
    /// `grpc.health.v1.Health/Check`.
    Grpc {
        /// The service that is asked about; empty: the whole server.
        service: String,
    },
}

/// When servers that fail requests are left out, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ejection {
    /// So many failures in a row: connections refused or broken, time-outs, and `status`.
    pub failures: u32,
    /// Statuses that are failures.
    pub status: Vec<u16>,
    /// How long it is left out the first time; each further time in a row twice as long.
    pub first: Micros,
    /// How long at most.
    pub longest: Micros,
    /// How many per cent of the pool's servers may be left out at a time.
    pub share: u8,
}

impl Default for Ejection {
    fn default() -> Ejection {
        Ejection {
            failures: 5,
            status: vec![500, 502, 503, 504],
            first: Micros::from_secs(5),
            longest: Micros::from_secs(300),
            share: 50,
        }
    }
}

/// Which requests are sent again, to another server where there is one. Where no server took a connection nothing was sent
/// yet: that is always tried again, as is an idempotent request without a body on a kept connection that turned out closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retries {
    /// Answers with these statuses are not passed on while the request may be sent again.
    pub status: Vec<u16>,
    /// Also where the answer did not begin in time.
    pub timeout: bool,
    /// Also where the connection broke before the answer.
    pub broken: bool,
    /// How often a request is sent again at most.
    pub attempts: u32,
    /// Retries at most, in per cent of requests..
    pub share: u8,
    /// .. and so many a second besides.
    pub floor: u32,
}

impl Retries {
    /// Whether anything but what is always tried again may be.
    #[must_use]
    pub fn any(&self) -> bool {
        self.timeout || self.broken || !self.status.is_empty()
    }
}

impl Default for Retries {
    fn default() -> Retries {
        Retries {
            status: Vec::new(),
            timeout: false,
            broken: false,
            attempts: 1,
            share: 20,
            floor: 10,
        }
    }
}
