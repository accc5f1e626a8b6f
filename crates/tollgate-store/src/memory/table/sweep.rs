//! Forgetting what is as fresh as new, line by line.

use std::sync::atomic::Ordering;

use super::line;
use super::{TAIL, Table};
use crate::memory::locked::Stage;

/// What decides which states are as fresh as new.
pub(crate) trait Judge {
    /// When these words will be as fresh as new, in microseconds since the epoch; `None`: they are.
    fn fresh_at(&self, words: [u64; 2]) -> Option<u64>;

    /// Whether this key must stay in any case.
    fn keeps(&self, fingerprint: u64) -> bool;

    /// Whether forgetting the entry gives its key nothing.
    fn lets_go(&self, entry: &line::Entry) -> bool {
        self.fresh_at(entry.words).is_none() && !self.keeps(entry.fingerprint)
    }
}

impl Table {
    /// Forgets what is fresh in a shard. Answers how many keys went, and when the first of the others will be fresh.
    pub(crate) fn forget_fresh(&self, shard: usize, judge: &impl Judge) -> (usize, u64) {
        let layout = self.layout(shard);
        let (mut freed, mut lowest) = (0, u64::MAX);
        if layout.stage() != Stage::Here {
            return (freed, lowest);
        }
        for line in 0..layout.homes() + TAIL {
            let (cleared, earliest) = self.forget_in_line(shard, line, judge);
            freed += cleared;
            lowest = lowest.min(earliest);
        }
        self.shrink_if_empty(shard);
        (freed, lowest)
    }

    fn forget_in_line(&self, shard: usize, index: usize, judge: &impl Judge) -> (usize, u64) {
        let line = self.space.line(shard, index);
        let (mut freed, mut lowest, mut found) = (0, u64::MAX, false);
        // Read without a lock: whatever is found is looked at again under it.
        for at in 0..self.width.entries() {
            let Some(entry) = line::entry(line, self.width, at) else { continue };
            match judge.fresh_at(entry.words) {
                Some(at) => lowest = lowest.min(at),
                // One that must stay is worth another look soon.
                None if judge.keeps(entry.fingerprint) => lowest = 0,
                None => found = true,
            }
        }
        if !found {
            return (freed, lowest);
        }
        let header = line::lock(line);
        let mut cleared = false;
        for at in 0..self.width.entries() {
            let entry = line::entry(line, self.width, at);
            if let Some(entry) = entry.filter(|entry| judge.lets_go(entry)) {
                line::clear(line, self.width, at);
                cleared = true;
                freed += usize::from(entry.counts());
            }
        }
        self.shards[shard].live.fetch_sub(freed, Ordering::Relaxed);
        match cleared {
            true => line::unlock_changed(line, header),
            false => line::unlock_unchanged(line, header),
        }
        (freed, lowest)
    }
}
