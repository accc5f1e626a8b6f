//! What tests over real sockets share: a gateway, services behind it, and a client that says exactly what it is told to.
#![allow(dead_code, unused_imports, reason = "each test binary uses a part of it")]

mod client;
mod gate;
pub(crate) mod http2;
mod nginx;
mod program;
mod raw;
pub(crate) mod tls;
mod upstream;

use std::time::{Duration, SystemTime};

pub(crate) use client::{Connection, Reply, get, request};
pub(crate) use gate::{Gate, Setup};
pub(crate) use nginx::Nginx;
pub(crate) use program::{Program, program};
pub(crate) use raw::Raw;
pub(crate) use upstream::{Seen, Speech, Upstream};

/// Nothing in a test takes longer unless it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Waits until `condition` holds.
#[track_caller]
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = SystemTime::now();
    while !condition() {
        let waited = begun.elapsed().unwrap_or_default();
        assert!(waited < PATIENCE, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A watch for spans that a test compares with a limit's own.
pub(crate) struct Watch(SystemTime);

impl Watch {
    pub(crate) fn start() -> Watch {
        Watch(SystemTime::now())
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.0.elapsed().unwrap_or_default()
    }
}
