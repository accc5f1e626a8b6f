//! The gateway over real sockets.

#[path = "../harness/mod.rs"]
mod harness;

mod bodies;
mod bytes_on_the_wire;
mod identity;
mod idle_keys;
mod passing;
mod policies;
mod queueing;
mod reloading;
mod semantics;
mod stopping;
mod time_and_size;
mod upgrades;
mod upstreams;
