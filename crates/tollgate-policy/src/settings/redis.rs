//! A policy's store as the connections to Redis or Valkey understand it.

use std::fmt;
use std::time::Duration;

use tollgate_store::{
    Credentials, Identity, RedisOptions, RedisOptionsError, TlsOptions, Topology, Trust,
};

use super::{SharedStoreSettings, StoreLogin, StoreTls, StoreTopology};

/// Why a policy's store cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreSettingsError {
    /// What the policy refers to and this machine lacks, each in words.
    Absent(Vec<String>),
    /// A URL, or what is said beside it, is wrong.
    Options(RedisOptionsError),
    /// One of several URLs says something else than the others.
    NoServer,
    /// A password is no UTF-8 text.
    NoText,
}

impl SharedStoreSettings {
    /// What a store must be told.
    ///
    /// # Errors
    /// [`StoreSettingsError`]; never with a password in it.
    pub fn redis_options(&self) -> Result<RedisOptions, StoreSettingsError> {
        if !self.absent.is_empty() {
            return Err(StoreSettingsError::Absent(self.absent.clone()));
        }
        let mut options = self.servers()?;
        fill(&mut options.credentials, &self.login)?;
        if let Topology::Sentinel { credentials, .. } = &mut options.topology {
            fill(credentials, &self.sentinel_login)?;
        }
        if let Some(database) = self.database {
            options.database = database;
        }
        if let Some(tls) = &mut options.tls {
            apply(&self.tls, tls);
        }
        if let Some(secret) = &self.secret {
            options.secret = tollgate_store::Secret(secret.0.clone());
        }
        options.namespace = self.namespace.clone();
        options.budget = Duration::from_micros(self.budget.get());
        Ok(options)
    }

    /// What the URLs say together.
    fn servers(&self) -> Result<RedisOptions, StoreSettingsError> {
        let mut urls = self.urls.iter();
        let Some(first) = urls.next() else { return Err(StoreSettingsError::NoServer) };
        let mut options = self.server(first.expose())?;
        for url in urls {
            let other = self.server(url.expose())?;
            if other.tls != options.tls {
                return Err(StoreSettingsError::NoServer);
            }
            match (&mut options.topology, other.topology) {
                (Topology::Cluster { seeds: all }, Topology::Cluster { seeds: more })
                | (
                    Topology::Sentinel { sentinels: all, .. },
                    Topology::Sentinel { sentinels: more, .. },
                ) => all.extend(more),
                _ => return Err(StoreSettingsError::NoServer),
            }
        }
        Ok(options)
    }

    /// What one URL of [`SharedStoreSettings::urls`] says, as one of a cluster's nodes or of the sentinels where the settings say so.
    pub(crate) fn server(&self, url: &str) -> Result<RedisOptions, StoreSettingsError> {
        let master = match &self.topology {
            StoreTopology::Single => return parsed(url),
            StoreTopology::Cluster => None,
            StoreTopology::Sentinel { master } => Some(master),
        };
        let written = url.split_once("://").and_then(|(scheme, rest)| {
            (!scheme.contains('+') && !scheme.starts_with("unix")).then_some((scheme, rest))
        });
        let Some((scheme, rest)) = written else { return parsed(url) };
        let mut options = match master {
            // The name is put in afterwards, so that it need not be encoded.
            Some(_) => {
                let hosts = rest.split(['/', '?']).next().unwrap_or_default();
                parsed(&format!("{scheme}+sentinel://{hosts}/primary"))?
            }
            None => parsed(&format!("{scheme}+cluster://{rest}"))?,
        };
        if let (Topology::Sentinel { primary, .. }, Some(master)) = (&mut options.topology, master)
        {
            primary.clone_from(master);
        }
        Ok(options)
    }
}

fn parsed(url: &str) -> Result<RedisOptions, StoreSettingsError> {
    RedisOptions::from_url(url).map_err(StoreSettingsError::Options)
}

/// What is said beside the URL goes before what the URL says.
fn fill(credentials: &mut Credentials, login: &StoreLogin) -> Result<(), StoreSettingsError> {
    if let Some(user) = &login.user {
        credentials.user = Some(user.clone());
    }
    if let Some(password) = &login.password {
        let text = std::str::from_utf8(&password.0).map_err(|_| StoreSettingsError::NoText)?;
        credentials.password = Some(text.to_owned());
    }
    Ok(())
}

fn apply(said: &StoreTls, tls: &mut TlsOptions) {
    match &said.ca {
        _ if said.insecure => tls.trust = Trust::Anyone,
        Some(ca) => tls.trust = Trust::Authorities(ca.clone()),
        None => {}
    }
    if let (Some(certificate), Some(key)) = (&said.certificate, &said.key) {
        tls.identity = Some(Identity { certificate: certificate.clone(), key: key.clone() });
    }
}

impl fmt::Display for StoreSettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreSettingsError::Absent(what) => write!(f, "{}", what.join("; ")),
            StoreSettingsError::Options(error) => error.fmt(f),
            StoreSettingsError::NoServer => f.write_str(
                "`urls` name nodes of one cluster, or sentinels, each as redis://host:port (all rediss:// with TLS)",
            ),
            StoreSettingsError::NoText => f.write_str("a password of the store is no UTF-8 text"),
        }
    }
}

impl std::error::Error for StoreSettingsError {}
