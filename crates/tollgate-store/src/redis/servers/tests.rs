//! Tests of the connections against real servers.

#[path = "../../../tests/servers/mod.rs"]
mod harness;

mod single;
