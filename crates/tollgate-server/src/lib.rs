//! The doors: the gateway, the admin listener, metrics.

pub mod admin;
pub mod metrics;
