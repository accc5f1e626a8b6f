//! The shared store on Redis and Valkey: every decision asks the server.
#![allow(dead_code, unused_imports, reason = "the store above the connections uses them")]

mod key;
mod options;
mod script;
mod servers;

pub use options::{Credentials, Endpoint, RedisOptions, RedisOptionsError, Secret, Topology};
pub use servers::ServersObserved;
