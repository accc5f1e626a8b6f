//! Copying a shard while others go on with it.

use super::line::{self, Entry};
use super::{Elsewhere, TAIL, Table};
use crate::memory::locked::Stage;

/// How often a copy that a rebuild has spoilt begins anew, before rebuilds have to wait for it.
const PATIENCE: usize = 64;

impl Table {
    /// The entries of a shard, in the order of their keys, each as it was at some moment of the copying. Nobody waits for
    /// that; a key that is there all the time is in it.
    pub(crate) fn copy(&self, shard: usize) -> Result<Vec<Entry>, Elsewhere> {
        for _ in 0..PATIENCE {
            if let Some(entries) = self.copy_once(shard)? {
                return Ok(entries);
            }
        }
        let _no_rebuilds = self.shards[shard].rebuilding.lock();
        Ok(self.copy_once(shard)?.unwrap_or_default())
    }

    /// `None` where the shard was rebuilt meanwhile, and entries may have come to lines that were read already.
    fn copy_once(&self, shard: usize) -> Result<Option<Vec<Entry>>, Elsewhere> {
        let layout = self.layout(shard);
        if layout.stage() != Stage::Here {
            return Err(Elsewhere { stage: layout.stage(), shard });
        }
        let mut entries = Vec::with_capacity(self.live(shard) + 2);
        for line in 0..layout.homes() + TAIL {
            line::copy(self.space.line(shard, line), self.width, &mut entries);
        }
        if self.layout(shard) != layout {
            return Ok(None);
        }
        // An insertion may have moved an entry on to a later line, and it was read twice: the later reading is the newer.
        entries.sort_by_key(Entry::key);
        entries.dedup_by(|later, earlier| {
            let same = later.key() == earlier.key();
            if same {
                *earlier = *later;
            }
            same
        });
        Ok(Some(entries))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;
    use crate::memory::table::testing::{Keeps, hash};
    use crate::memory::table::{Inserted, Width};

    fn insert(table: &Table, number: u64) {
        while table.insert(hash(number), [number, number]) == Inserted::TooFull {
            table.grow(hash(number), &Keeps);
        }
    }

    #[test]
    fn keys_that_were_there_are_in_every_copy_while_others_come() {
        for width in [Width::One, Width::Two] {
            let table = Table::new(width, 1, Stage::Here).expect("memory");
            (0..500).for_each(|number| insert(&table, number));
            let done = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| {
                    (500..30_000).for_each(|number| insert(&table, number));
                    done.store(true, Ordering::Relaxed);
                });
                loop {
                    let last = done.load(Ordering::Relaxed);
                    let entries = table.copy(0).expect("it is here");
                    assert!(entries.is_sorted_by(|a, b| a.key() < b.key()), "each key once");
                    for number in 0..500 {
                        let key = hash(number).stored();
                        let at = entries.binary_search_by_key(&key, Entry::key).expect("it is in");
                        assert_eq!(entries[at].words[0], number);
                    }
                    if last {
                        assert_eq!(entries.len(), 30_000);
                        break;
                    }
                }
            });
        }
    }
}
