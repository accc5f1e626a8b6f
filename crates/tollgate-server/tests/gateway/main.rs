//! The gateway over real sockets.

#[path = "../harness/mod.rs"]
mod harness;

mod passing;
