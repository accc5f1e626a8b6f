//! The doors: the gateway, the admin listener, metrics.
//!
//! [`serve`] is the whole of `tollgate serve`: it reads a policy, runs the gateway and the admin listener, and follows
//! changes of the policy until it is told to stop. [`Server`] is the gateway alone, for those who bring their own policy.
//!
//! ```text
//! socket -> connection (time, size) -> gateway (checks, decision, delay) -> upstream (pool, kept connections) -> back
//! ```

mod access_log;
pub mod admin;
mod alarm;
mod arrivals;
mod body;
mod connection;
mod descriptors;
mod error;
mod gateway;
mod gateway_store;
pub mod metrics;
mod options;
mod plain;
mod policy_file;
mod reload;
mod serve;
mod server;
mod shared;
mod snapshot;
mod spell;
mod sweep;
mod systemd;
mod tls;
mod upstream;
mod waiting;
mod worker;

pub use error::ServeError;
pub use gateway::Engine;
pub use gateway_store::GatewayStore;
pub use options::Options;
pub use serve::{Started, serve, serve_until, serve_with_signals};
pub use server::{Handle, Server};
pub use tls::TlsError;
