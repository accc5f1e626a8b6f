//! Tests of the connections against real servers.

#[path = "../../../tests/servers/mod.rs"]
pub(crate) mod harness;

mod calls;
mod cluster;
mod faults;
mod login;
mod sentinel;
mod single;
mod tls;
