//! The protocol of the memory table's lines under every order in which two threads can meet: `cargo xtask loom`.
//!
//! The line's own source is compiled here once more, on loom's atomics.
#![cfg(test)]

mod memory;
