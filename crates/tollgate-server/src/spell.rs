//! A spell of one kind of trouble: told when it begins, counted while it lasts, and summed up when it is over. A log that
//! repeats itself thousands of times a second hides everything else in it.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts a trouble from its first time until it has not been seen for a while.
#[derive(Debug, Default)]
pub(crate) struct Spell {
    times: AtomicU64,
    /// As many as there were at the last look.
    looked_at: AtomicU64,
}

impl Spell {
    /// Once more; `true` where a spell begins with it.
    pub(crate) fn note(&self) -> bool {
        self.times.fetch_add(1, Ordering::Relaxed) == 0
    }

    /// Ends a spell that was not noted since the last look, and says how many times it was.
    ///
    /// One thread looks, at its leisure.
    pub(crate) fn over(&self) -> Option<u64> {
        let times = self.times.load(Ordering::Relaxed);
        if self.looked_at.swap(times, Ordering::Relaxed) != times || times == 0 {
            return None;
        }
        self.looked_at.store(0, Ordering::Relaxed);
        Some(self.times.swap(0, Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_once_and_ends_once() {
        let spell = Spell::default();
        assert_eq!(spell.over(), None);
        assert!(spell.note());
        assert!(!spell.note());
        assert_eq!(spell.over(), None, "it may go on");
        assert!(!spell.note());
        assert_eq!(spell.over(), None);
        assert_eq!(spell.over(), Some(3));
        assert_eq!(spell.over(), None);
        assert!(spell.note(), "the next one");
    }
}
