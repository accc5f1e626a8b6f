//! Real servers for tests: started on spare loopback ports in folders of their own, and ended with the test.
//!
//! Test trees of other crates include it by `#[path]`.
#![allow(dead_code, unused_imports, reason = "each test binary uses a part of it")]

mod certificates;
mod cluster;
mod commands;
mod process;
mod program;
mod proxy;
mod sentinels;
mod server;

use std::time::{Duration, SystemTime};

pub(crate) use certificates::Certificates;
pub(crate) use cluster::Cluster;
pub(crate) use process::Process;
pub(crate) use program::Program;
pub(crate) use proxy::{Fault, Proxy};
pub(crate) use sentinels::Sentinels;
pub(crate) use server::Server;

/// Nothing in a test takes longer unless it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until `condition` holds.
#[track_caller]
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = SystemTime::now();
    while !condition() {
        let waited = begun.elapsed().unwrap_or_default();
        assert!(waited < PATIENCE, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
