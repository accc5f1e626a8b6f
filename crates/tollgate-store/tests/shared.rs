//! Nodes on real servers: what every store must do, and what holds between nodes and while the server is away.
#![cfg(feature = "redis")]

#[path = "behaviour/mod.rs"]
mod behaviour;
#[path = "shared/cluster.rs"]
mod cluster;
#[path = "shared/faults.rs"]
mod faults;
#[path = "shared/network.rs"]
mod network;
#[path = "shared/nodes.rs"]
mod nodes;
#[path = "servers/mod.rs"]
mod servers;
#[path = "shared/suite.rs"]
mod suite;
#[path = "shared/together.rs"]
mod together;
