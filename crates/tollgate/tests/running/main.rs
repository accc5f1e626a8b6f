//! The built `tollgate` command while it runs: what it says, what it survives, and how it ends.

mod demo;
mod descriptors;
mod log;
#[path = "../web/process.rs"]
mod process;
mod stopping;
mod supervised;
mod take_over;
