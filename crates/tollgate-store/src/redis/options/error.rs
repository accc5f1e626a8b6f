//! What can be wrong with the address of a shared store.

use std::fmt;
use std::path::PathBuf;

/// What is wrong with the options of a shared store, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedisOptionsError {
    /// The URL has a scheme that is none of ours.
    Scheme {
        /// The scheme.
        found: String,
    },
    /// A part of the URL cannot be read.
    Part {
        /// Which part.
        part: &'static str,
        /// The text, where it is no secret.
        found: String,
        /// What would be right.
        expected: &'static str,
    },
    /// A parameter behind the `?` is unknown.
    Parameter {
        /// Its name.
        name: String,
    },
    /// There is no address.
    NoAddress {
        /// Of what.
        of: &'static str,
    },
    /// A cluster has only database 0.
    DatabaseOfCluster {
        /// The number that was asked for.
        database: u32,
    },
    /// A user has no password, so nobody would log in.
    NoPassword {
        /// The user.
        user: String,
    },
    /// No connection, or no call in flight, is allowed.
    Zero,
    /// A file cannot be used.
    File {
        /// Its path.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// TLS cannot be used.
    Tls {
        /// Why.
        reason: String,
    },
    /// The thread that keeps the connections could not start.
    Thread {
        /// What the system said.
        reason: String,
    },
}

impl fmt::Display for RedisOptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RedisOptionsError::Scheme { found } => write!(
                f,
                "the store's URL begins with `{found}`; write redis://host:6379, unix:///path/to/socket, \
                 redis+sentinel://host:26379,host:26379/name or redis+cluster://host:6379,host:6379"
            ),
            RedisOptionsError::Part { part, found, expected } if found.is_empty() => {
                write!(f, "the {part} of the store's URL is missing; it is {expected}")
            }
            RedisOptionsError::Part { part, found, expected } => {
                write!(f, "the {part} `{found}` of the store's URL is wrong; it is {expected}")
            }
            RedisOptionsError::Parameter { name } => write!(
                f,
                "the store's URL has an unknown parameter `{name}`; there are database (unix only), sentinel_user and \
                 sentinel_password (sentinel only), tls_ca, tls_cert, tls_key and tls_insecure (rediss only)"
            ),
            RedisOptionsError::NoAddress { of } => {
                write!(f, "the store's options name no {of}; give at least one address")
            }
            RedisOptionsError::DatabaseOfCluster { database } => write!(
                f,
                "a cluster has no database {database}, only 0; drop the number, and keep policies apart by `namespace`"
            ),
            RedisOptionsError::NoPassword { user } => write!(
                f,
                "the store's user `{user}` has no password, so nobody would log in; write redis://{user}:password@host, \
                 or redis://:password@host for a server with one password for all"
            ),
            RedisOptionsError::Zero => f.write_str(
                "the store's options allow no connection or no call in flight; at least 1 is right",
            ),
            RedisOptionsError::File { path, reason } => {
                write!(f, "the store's file {} cannot be used: {reason}", path.display())
            }
            RedisOptionsError::Tls { reason } => {
                write!(f, "the store cannot be reached through TLS: {reason}")
            }
            RedisOptionsError::Thread { reason } => {
                write!(f, "the thread that keeps the store's connections cannot start: {reason}")
            }
        }
    }
}

impl std::error::Error for RedisOptionsError {}
