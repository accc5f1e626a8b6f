//! The gateway over real sockets.

#[path = "../harness/mod.rs"]
mod harness;
#[path = "../../../tollgate-store/tests/servers/mod.rs"]
mod servers;

mod access_log;
mod bodies;
mod bytes_on_the_wire;
mod correlation;
mod crowds;
mod grpc;
mod http2;
mod identity;
mod idle_keys;
mod listeners;
mod login;
mod passing;
mod policies;
mod proxy_protocol;
mod queueing;
mod reloading;
mod semantics;
mod sharing;
mod stopping;
mod time_and_size;
mod tls;
mod upgrades;
mod upstreams;
mod who_asks;
