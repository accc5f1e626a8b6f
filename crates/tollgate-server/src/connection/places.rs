//! The places for connections: at most so many at once, and a way to wait until the last has gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

use super::Member;

/// The places of a gateway, over all its threads.
#[derive(Debug, Default)]
pub(crate) struct Places {
    taken: AtomicUsize,
    emptied: Notify,
}

/// One taken place, shared by all that keeps its connection open.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    _hold: Arc<Hold>,
    /// It counts among the connections of its address.
    _member: Option<Arc<Member>>,
}

impl Place {
    /// The place of `member`.
    pub(crate) fn of(mut self, member: Option<Member>) -> Place {
        self._member = member.map(Arc::new);
        self
    }
}

#[derive(Debug)]
struct Hold(Arc<Places>);

impl Places {
    /// A place, unless `most` are taken.
    pub(crate) fn take(self: &Arc<Places>, most: usize) -> Option<Place> {
        if self.taken.fetch_add(1, Ordering::AcqRel) < most {
            Some(Place { _hold: Arc::new(Hold(Arc::clone(self))), _member: None })
        } else {
            self.leave();
            None
        }
    }

    /// How many are taken.
    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Acquire)
    }

    /// Ends when no place is taken.
    pub(crate) async fn empty(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.taken() == 0 {
                return;
            }
            emptied.await;
        }
    }

    fn leave(&self) {
        if self.taken.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.emptied.notify_waiters();
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_there_are() {
        let places = Arc::new(Places::default());
        let first = places.take(2);
        let second = places.take(2);
        assert!(first.is_some() && second.is_some());
        assert!(places.take(2).is_none());
        let shared = second.clone();
        drop(second);
        assert!(places.take(2).is_none(), "a tunnel still holds it");
        drop(shared);
        assert!(places.take(2).is_some());
    }
}
