//! Whether the process wants traffic.

use std::sync::atomic::{AtomicU8, Ordering};

/// Whether the process wants traffic: what a load balancer's probe asks.
#[derive(Default)]
pub struct Readiness {
    stage: AtomicU8,
    /// What a person should know though it is ready.
    note: Option<Box<Note>>,
}

type Note = dyn Fn() -> Option<String> + Send + Sync;

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
    /// Of a process that may be ready and not at its best: `note` is asked what is the matter. It is for people; a process
    /// that goes on without its shared store wants traffic, for without it all of them lack it alike.
    #[must_use]
    pub fn with_note(note: impl Fn() -> Option<String> + Send + Sync + 'static) -> Readiness {
        Readiness { stage: AtomicU8::default(), note: Some(Box::new(note)) }
    }

    /// What is the matter, one line; `None` where all is well.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        self.note.as_ref().and_then(|note| note())
    }

    /// Enters a stage.
    pub fn enter(&self, stage: Stage) {
        self.stage.store(stage as u8, Ordering::Release);
    }

    /// The present stage; [`Stage::Starting`] at first.
    #[must_use]
    pub fn stage(&self) -> Stage {
        match self.stage.load(Ordering::Acquire) {
            0 => Stage::Starting,
            1 => Stage::Ready,
            _ => Stage::Draining,
        }
    }
}

impl std::fmt::Debug for Readiness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Readiness").field("stage", &self.stage()).finish_non_exhaustive()
    }
}
