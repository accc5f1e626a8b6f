//! Where the shared store is and how to speak to it.

use std::fmt;
use std::path::Path;
use std::time::Duration;

mod error;
mod url;

use crate::tls::TlsOptions;
pub use error::RedisOptionsError;

/// How to reach the shared store, and how much it may cost.
#[derive(Clone, Debug)]
pub struct RedisOptions {
    /// The server or servers.
    pub topology: Topology,
    /// Who we are there.
    pub credentials: Credentials,
    /// The database's number; a cluster has only 0.
    pub database: u32,
    /// Encryption, where there is any; the sentinels' connections have it too.
    pub tls: Option<TlsOptions>,
    /// What key names are hashed with. Nodes that share counts share it; whoever reads the server's memory must not know it.
    pub secret: Secret,
    /// A prefix that keeps counts apart on a server that several policies share.
    pub namespace: String,
    /// How long a decision may wait for the store.
    pub budget: Duration,
    /// Connections to each server, at least 1. Calls share them, so few are enough.
    pub connections: usize,
    /// Most calls that wait for an answer at a time; more than these are not sent.
    pub in_flight: usize,
    /// Whether the caller's clock counts instead of the server's: for a replay.
    pub virtual_time: bool,
}

impl RedisOptions {
    /// The options that a URL says, and the defaults for the others: database 0, 20 ms, 2 connections, 4,096 calls in flight,
    /// no secret and no namespace.
    ///
    /// ```text
    /// redis://[user[:password]@]host[:port][/database]           one server; also valkey://
    /// unix://[user[:password]@]/path[?database=N]                one server, through a socket file
    /// redis+sentinel://[..@]host[:port],host[:port]/name[/database]   the primary that these sentinels call `name`
    /// redis+cluster://[..@]host[:port],host[:port]               a cluster that has these nodes, among others
    /// ```
    ///
    /// `rediss`, `valkeys`, `rediss+sentinel` and `rediss+cluster` are the same through TLS: the server's certificate must be
    /// trusted by this machine, or by the file of `?tls_ca=`. `?tls_cert=` and `?tls_key=` are files with our own certificate.
    /// `?tls_insecure=true` takes any certificate, which protects from nobody who can stand between.
    ///
    /// User, password, path and name are percent-encoded. `?sentinel_user=` and `?sentinel_password=` are for sentinels that
    /// ask for them.
    ///
    /// # Errors
    /// [`RedisOptionsError`] says what part is wrong and what would be right. It never repeats a password.
    pub fn from_url(url: &str) -> Result<RedisOptions, RedisOptionsError> {
        url::parse(url)
    }

    /// The defaults, for `topology`.
    #[must_use]
    pub fn new(topology: Topology) -> RedisOptions {
        RedisOptions {
            topology,
            credentials: Credentials::default(),
            database: 0,
            tls: None,
            secret: Secret::default(),
            namespace: String::new(),
            budget: Duration::from_millis(20),
            connections: 2,
            in_flight: 4096,
            virtual_time: false,
        }
    }

    /// Checks what no type could.
    pub(crate) fn check(&self) -> Result<(), RedisOptionsError> {
        self.check_servers()?;
        let sentinels = match &self.topology {
            Topology::Sentinel { credentials, .. } => Some(credentials),
            Topology::Single(_) | Topology::Cluster { .. } => None,
        };
        for credentials in [Some(&self.credentials), sentinels].into_iter().flatten() {
            if let Credentials { user: Some(user), password: None } = credentials {
                return Err(RedisOptionsError::NoPassword { user: user.clone() });
            }
        }
        Ok(())
    }

    /// Checks what a URL alone can tell: a password may come from elsewhere.
    fn check_servers(&self) -> Result<(), RedisOptionsError> {
        let (at_least_one, addresses) = match &self.topology {
            Topology::Single(_) => (true, ""),
            Topology::Sentinel { sentinels, .. } => (!sentinels.is_empty(), "sentinels"),
            Topology::Cluster { seeds } => (!seeds.is_empty(), "nodes of the cluster"),
        };
        if !at_least_one {
            return Err(RedisOptionsError::NoAddress { of: addresses });
        }
        if matches!(self.topology, Topology::Cluster { .. }) && self.database != 0 {
            return Err(RedisOptionsError::DatabaseOfCluster { database: self.database });
        }
        let single_file = matches!(self.topology, Topology::Single(Endpoint::Unix(_)));
        if self.tls.is_some() && single_file {
            return Err(RedisOptionsError::Tls {
                reason: "a socket file is not encrypted; drop the TLS options".to_owned(),
            });
        }
        if self.connections == 0 || self.in_flight == 0 {
            return Err(RedisOptionsError::Zero);
        }
        Ok(())
    }
}

/// Which servers count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// This one.
    Single(Endpoint),
    /// The one that most recently became the primary, according to sentinels.
    Sentinel {
        /// Some or all of the sentinels.
        sentinels: Vec<Endpoint>,
        /// What they call the primary.
        primary: String,
        /// Who we are to the sentinels.
        credentials: Credentials,
    },
    /// The nodes of a cluster, each for its slots.
    Cluster {
        /// Some of its nodes; the others are learnt from them.
        seeds: Vec<Endpoint>,
    },
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Endpoint {
    /// A host's name or address, and a port.
    Tcp {
        /// The name or address, without brackets.
        host: Box<str>,
        /// The port.
        port: u16,
    },
    /// A socket file.
    Unix(Box<Path>),
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Endpoint::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Endpoint::Tcp { host, port } => write!(f, "{host}:{port}"),
            Endpoint::Unix(path) => path.display().fmt(f),
        }
    }
}

/// A user of the server's access list. Without a user it is `default`; without a password nobody logs in.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    /// The user's name.
    pub user: Option<String>,
    /// The user's password.
    pub password: Option<String>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let password = self.password.as_ref().map(|_| "..");
        f.debug_struct("Credentials")
            .field("user", &self.user)
            .field("password", &password)
            .finish()
    }
}

/// Bytes that no output shows.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(pub Vec<u8>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "Secret(none)" } else { "Secret(..)" })
    }
}

#[cfg(test)]
mod tests;
