//! Where delayed requests wait. Places are bounded; when one leaves before its turn, those behind it move up.

mod departure;
mod lines;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tollgate_store::Clock;

pub(crate) use departure::Departure;
use lines::Lines;
pub(crate) use lines::{Claim, Left, Line};

/// All requests that wait, over all threads.
#[derive(Debug, Default)]
pub(crate) struct WaitingRoom {
    lines: Mutex<Lines>,
}

/// One request's place in the room. Dropping it is leaving at its turn, when those behind stay where they are; before its
/// turn it has to [`leave`](Seat::leave).
#[derive(Debug)]
pub(crate) struct Seat {
    room: Arc<WaitingRoom>,
    number: u64,
    turn: Arc<Turn>,
}

/// When a seat's turn comes; moved forward when others leave.
#[derive(Debug)]
pub(crate) struct Turn {
    due: AtomicU64,
    moved: Notify,
}

impl Turn {
    fn new(due: u64) -> Arc<Turn> {
        Arc::new(Turn { due: AtomicU64::new(due), moved: Notify::new() })
    }

    /// Ends when it has come.
    pub(crate) async fn wait(&self, clock: &dyn Clock) {
        loop {
            let due = self.due.load(Ordering::Relaxed);
            let left = due.saturating_sub(clock.now().as_micros());
            if left == 0 {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(Duration::from_micros(left)) => {}
                () = self.moved.notified() => {}
            }
        }
    }

    fn move_to(&self, due: u64) {
        self.due.store(due, Ordering::Relaxed);
        self.moved.notify_one();
    }
}

impl WaitingRoom {
    /// A seat for a request whose turn comes at `due` (microseconds by the clock of decisions) and that holds `claims`;
    /// `None` where `most` wait already.
    pub(crate) fn enter(
        self: &Arc<WaitingRoom>,
        due: u64,
        claims: impl IntoIterator<Item = Claim>,
        most: usize,
    ) -> Option<Seat> {
        let turn = Turn::new(due);
        let number = self.lines.lock().enter(Arc::clone(&turn), claims, most)?;
        Some(Seat { room: Arc::clone(self), number, turn })
    }

    /// How many wait.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.lines.lock().len()
    }
}

impl Seat {
    /// When its turn comes.
    pub(crate) fn turn(&self) -> Arc<Turn> {
        Arc::clone(&self.turn)
    }

    /// Leaves at `now` before its turn: those behind move up by what is given back. The answer has each line, and since when
    /// the charge in it counts.
    pub(crate) fn leave(self, now: u64) -> Vec<Left> {
        self.room.lines.lock().leave(self.number, now)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.room.lines.lock().depart(self.number);
    }
}
