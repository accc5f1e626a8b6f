//! Whether an admitted request has left for its upstream. Until then nothing has come of it, and it can be taken back.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::{Left, Seat};

/// A request's departure. One task drives the request; it is never two who say that it leaves.
#[derive(Debug, Default)]
pub(crate) struct Departure {
    /// Where it had to wait.
    seat: Option<Mutex<Option<Seat>>>,
    left: AtomicBool,
}

impl Departure {
    /// Of a request that had to wait in `seat`.
    pub(crate) fn from(seat: Seat) -> Departure {
        Departure { seat: Some(Mutex::new(Some(seat))), left: AtomicBool::new(false) }
    }

    /// The request goes to its upstream: its seat is free, and it cannot be taken back any more.
    pub(crate) fn leave(&self) {
        self.left.store(true, Ordering::Relaxed);
        self.free();
    }

    /// The request will not leave at all, as of `now`: those behind its seat move up. `None` where it has left; else what it
    /// held in its lines, nothing where it never waited.
    pub(crate) fn cancel(&self, now: u64) -> Option<Vec<Left>> {
        if self.left.load(Ordering::Relaxed) {
            return None;
        }
        self.left.store(true, Ordering::Relaxed);
        Some(self.free().map(|seat| seat.leave(now)).unwrap_or_default())
    }

    fn free(&self) -> Option<Seat> {
        self.seat.as_ref()?.lock().take()
    }
}
