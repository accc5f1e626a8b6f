//! How a socket that nobody reads says that there is something to read.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Wake;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// Who waits, in the order of the moments until which they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// By the gateway's own clock, in microseconds.
    pub(super) deadline: u64,
    /// No two have the same.
    pub(super) number: u64,
}

/// Who of a thread's guests has something to read.
#[derive(Debug, Default)]
pub(super) struct Bells {
    rung: Mutex<VecDeque<Key>>,
    called: Notify,
}

/// The bell of one guest; it rings once.
#[derive(Debug)]
pub(super) struct Bell {
    key: Key,
    bells: Arc<Bells>,
}

impl Bells {
    /// Has whoever attends look again.
    pub(super) fn call(&self) {
        self.called.notify_one();
    }

    /// Ends when somebody has rung, or has called.
    pub(super) async fn called(&self) {
        self.called.notified().await;
    }

    /// Who has rung first.
    pub(super) fn answer(&self) -> Option<Key> {
        self.rung.lock().pop_front()
    }
}

impl Bell {
    pub(super) fn new(key: Key, bells: Arc<Bells>) -> Bell {
        Bell { key, bells }
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Bell>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Bell>) {
        self.bells.rung.lock().push_back(self.key);
        self.bells.call();
    }
}
