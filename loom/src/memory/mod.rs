//! As much of the memory store as a line needs, under the names that it uses.
#![allow(dead_code, reason = "a line needs little of it")]

pub(crate) mod backoff;
#[path = "../../../crates/tollgate-store/src/memory/hash/mod.rs"]
pub(crate) mod hash;
mod table;
