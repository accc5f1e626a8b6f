//! Whether an admitted request has left for its upstream. Until then nothing has come of it, and it can be taken back.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::{Left, Seat};

/// A request's departure.
#[derive(Debug, Default)]
pub(crate) struct Departure {
    seat: Mutex<Option<Seat>>,
    left: AtomicBool,
}

impl Departure {
    /// Of a request that had to wait in `seat`.
    pub(crate) fn from(seat: Seat) -> Departure {
        Departure { seat: Mutex::new(Some(seat)), left: AtomicBool::new(false) }
    }

    /// The request goes to its upstream: its seat is free, and it cannot be taken back any more.
    pub(crate) fn leave(&self) {
        if !self.left.swap(true, Ordering::Relaxed) {
            *self.seat.lock() = None;
        }
    }

    /// The request will not leave at all, as of `now`: those behind its seat move up. `None` where it has left; else what it
    /// held in its lines, nothing where it never waited.
    pub(crate) fn cancel(&self, now: u64) -> Option<Vec<Left>> {
        if self.left.swap(true, Ordering::Relaxed) {
            return None;
        }
        let seat = self.seat.lock().take();
        Some(seat.map(|seat| seat.leave(now)).unwrap_or_default())
    }
}
