//! Where counts live.

use std::fmt;
use std::path::PathBuf;

use tollgate_core::Micros;

use super::Secret;

/// Where counts live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreSettings {
    /// In this process.
    Memory {
        /// The file that keeps them over a restart; `None`: they end with the process.
        snapshot: Option<SnapshotSettings>,
    },
    /// In Redis or Valkey, for all nodes that name the same servers, secret and namespace.
    Shared(Box<SharedStoreSettings>),
}

/// Counts of a memory store in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotSettings {
    /// The file.
    pub path: PathBuf,
    /// How often it is written.
    pub every: Micros,
}

impl Default for StoreSettings {
    /// In this process, and nowhere else.
    fn default() -> StoreSettings {
        StoreSettings::Memory { snapshot: None }
    }
}

impl StoreSettings {
    /// The file that keeps the counts of a memory store over a restart.
    #[must_use]
    pub fn snapshot(&self) -> Option<&SnapshotSettings> {
        match self {
            StoreSettings::Memory { snapshot } => snapshot.as_ref(),
            StoreSettings::Shared(_) => None,
        }
    }

    /// Whether other nodes count with this one.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        matches!(self, StoreSettings::Shared(_))
    }
}

/// A store that nodes share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedStoreSettings {
    /// One server, or several of a cluster, or the sentinels; at least one.
    pub urls: Vec<StoreUrl>,
    /// What stands behind them.
    pub topology: StoreTopology,
    /// Names of keys are hashed with it, so that a leaked dump names nobody. `None`: the default, which everybody knows.
    pub secret: Option<Secret>,
    /// Sets apart policies that use the same servers.
    pub namespace: String,
    /// How long a decision waits for the store's word.
    pub budget: Micros,
    /// Whom the store lets in.
    pub login: StoreLogin,
    /// Whom the sentinels let in.
    pub sentinel_login: StoreLogin,
    /// The database's number, where it is not in the URL. A cluster has 0 only.
    pub database: Option<u32>,
    /// How a `rediss:` server proves who it is.
    pub tls: StoreTls,
    /// What the file refers to and this machine lacks, each in words. No store is opened without it.
    pub absent: Vec<String>,
}

/// What stands behind the URLs of a shared store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreTopology {
    /// One server.
    Single,
    /// Sentinels, which say where the primary of this name is.
    Sentinel {
        /// The primary's name.
        master: String,
    },
    /// A cluster, of which the URLs name some nodes.
    Cluster,
}

/// A user and a password.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreLogin {
    /// The ACL user; `default` unless said otherwise.
    pub user: Option<String>,
    /// The password; never shown.
    pub password: Option<Secret>,
}

/// How a server proves who it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreTls {
    /// A PEM file of authorities to trust in place of the system's.
    pub ca: Option<PathBuf>,
    /// A PEM file with our own certificate, for a server that asks for one; with `key`.
    pub certificate: Option<PathBuf>,
    /// A PEM file with its private key.
    pub key: Option<PathBuf>,
    /// Whoever answers is believed.
    pub insecure: bool,
}

/// The URL of a server. It may hold a password, which `Debug` and `Display` do not show.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreUrl(String);

impl StoreUrl {
    /// The URL as written.
    #[must_use]
    pub fn new(url: String) -> StoreUrl {
        StoreUrl(url)
    }

    /// The URL as written, with its password.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, rest) = match self.0.split_once("://") {
            Some((scheme, rest)) => (Some(scheme), rest),
            None => (None, self.0.as_str()),
        };
        if let Some(scheme) = scheme {
            write!(f, "{scheme}://")?;
        }
        match rest.rsplit_once('@') {
            Some((_, server)) => write!(f, "..@{server}"),
            None => f.write_str(rest),
        }
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_shows_no_password() {
        for (url, shown) in [
            ("redis://h:6379/1", "redis://h:6379/1"),
            ("redis://:pass@h:6379", "redis://..@h:6379"),
            ("rediss://user:p@ss@h", "rediss://..@h"),
            ("user:pass@h", "..@h"),
        ] {
            let url = StoreUrl::new(url.to_owned());
            assert_eq!(url.to_string(), shown);
            assert_eq!(format!("{url:?}"), format!("StoreUrl({shown})"));
        }
    }
}
