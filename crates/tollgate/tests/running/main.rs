//! The built `tollgate` command while it runs: what it says, what it survives, and how it ends.

mod demo;
mod descriptors;
#[path = "../soak/footprint.rs"]
mod footprint;
mod large_bodies;
mod log;
#[path = "../web/process.rs"]
mod process;
mod resting;
mod stopping;
mod supervised;
mod take_over;
