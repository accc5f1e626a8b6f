//! Decisions of nodes that share a store.

mod bound;
mod cancelled;
mod chance;
mod estimates;
mod exhausted;
mod failures;
mod leases;
mod races;
mod recovery;
mod several;
mod shares;
mod world;
