//! `sync: leased` with real servers and real processes: never more than the limit, nearly all of it, and nothing lost but what
//! the dead held.
#![cfg(feature = "redis")]

#[path = "leases/apart.rs"]
mod apart;
#[path = "leases/node.rs"]
mod node;
#[path = "leases/processes.rs"]
mod processes;
#[path = "servers/mod.rs"]
mod servers;
#[path = "leases/several.rs"]
mod several;
