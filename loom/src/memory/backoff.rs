//! Waiting for another writer is letting him go on.

/// Without count: loom looks at every order anyway.
#[derive(Debug, Default)]
pub(crate) struct Backoff {}

impl Backoff {
    /// The other's turn.
    pub(crate) fn pause(&mut self) {
        loom::thread::yield_now();
    }
}
