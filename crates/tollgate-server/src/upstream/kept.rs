//! HTTP/1.1 connections that wait for their next request.

use parking_lot::Mutex;

use super::lease::Own;

/// The kept connections of one thread to one server, the one used last on top.
#[derive(Debug, Default)]
pub(super) struct Stack(Mutex<Vec<Kept>>);

#[derive(Debug)]
struct Kept {
    own: Own,
    since: u64,
}

impl Stack {
    /// The connection that was used last, of those that are ready.
    pub(super) fn pop(&self) -> Option<Own> {
        let mut kept = self.0.lock();
        for place in (0..kept.len()).rev() {
            if kept[place].own.sender.is_closed() {
                kept.remove(place);
            } else if kept[place].own.sender.is_ready() {
                return Some(kept.remove(place).own);
            }
            // Else it may still be taking in the rest of an upload whose answer came early.
        }
        None
    }

    /// The one that was used last, ready or not.
    pub(super) fn pop_any(&self) -> Option<Own> {
        let mut kept = self.0.lock();
        kept.retain(|kept| !kept.own.sender.is_closed());
        kept.pop().map(|kept| kept.own)
    }

    /// Keeps `own`, unless there are `most` already.
    pub(super) fn push(&self, own: Own, now: u64, most: usize) {
        let mut kept = self.0.lock();
        if kept.len() < most {
            kept.push(Kept { own, since: now });
        }
    }

    /// Drops those that are closed, or were not used since `since`.
    pub(super) fn sweep(&self, since: u64) {
        self.0.lock().retain(|kept| !kept.own.sender.is_closed() && kept.since >= since);
    }
}
