//! What becomes of decisions while the shared store dies, hangs, moves or fills up: nobody waits longer than his budget,
//! nothing is charged twice, and the state that follows is right.
#![cfg(feature = "redis")]

#[path = "faults/cluster.rs"]
mod cluster;
#[path = "faults/load.rs"]
mod load;
#[path = "faults/node.rs"]
mod node;
#[path = "faults/processes.rs"]
mod processes;
#[path = "faults/sentinel.rs"]
mod sentinel;
#[path = "servers/mod.rs"]
mod servers;
#[path = "faults/shared.rs"]
mod shared;
#[path = "faults/single.rs"]
mod single;
