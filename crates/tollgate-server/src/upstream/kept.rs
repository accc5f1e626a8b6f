//! HTTP/1.1 connections that wait for their next request.

use hyper::client::conn::http1::SendRequest;
use parking_lot::Mutex;

use crate::body::Upload;

/// The kept connections of one thread to one server, the one used last on top.
#[derive(Debug, Default)]
pub(super) struct Stack(Mutex<Vec<Kept>>);

#[derive(Debug)]
struct Kept {
    sender: SendRequest<Upload>,
    since: u64,
}

impl Stack {
    /// The connection that was used last, of those that are ready.
    pub(super) fn pop(&self) -> Option<SendRequest<Upload>> {
        let mut kept = self.0.lock();
        for place in (0..kept.len()).rev() {
            if kept[place].sender.is_closed() {
                kept.remove(place);
            } else if kept[place].sender.is_ready() {
                return Some(kept.remove(place).sender);
            }
            // Else it may still be taking in the rest of an upload whose answer came early.
        }
        None
    }

    /// The one that was used last, ready or not.
    pub(super) fn pop_any(&self) -> Option<SendRequest<Upload>> {
        let mut kept = self.0.lock();
        kept.retain(|kept| !kept.sender.is_closed());
        kept.pop().map(|kept| kept.sender)
    }

    /// Keeps `sender`, unless there are `most` already.
    pub(super) fn push(&self, sender: SendRequest<Upload>, now: u64, most: usize) {
        let mut kept = self.0.lock();
        if kept.len() < most {
            kept.push(Kept { sender, since: now });
        }
    }

    /// Drops those that are closed, or were not used since `since`.
    pub(super) fn sweep(&self, since: u64) {
        self.0.lock().retain(|kept| !kept.sender.is_closed() && kept.since >= since);
    }
}
