//! Whether the process wants traffic.

use std::sync::atomic::{AtomicU8, Ordering};

/// Whether the process wants traffic: what a load balancer's probe asks.
#[derive(Debug, Default)]
pub struct Readiness(AtomicU8);

/// A stage of the process's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Stage {
    /// It does not listen yet.
    Starting = 0,
    /// It listens.
    Ready = 1,
    /// It ends what it has and takes no more.
    Draining = 2,
}

impl Readiness {
    /// Enters a stage.
    pub fn enter(&self, stage: Stage) {
        self.0.store(stage as u8, Ordering::Release);
    }

    /// The present stage; [`Stage::Starting`] at first.
    #[must_use]
    pub fn stage(&self) -> Stage {
        match self.0.load(Ordering::Acquire) {
            0 => Stage::Starting,
            1 => Stage::Ready,
            _ => Stage::Draining,
        }
    }
}
