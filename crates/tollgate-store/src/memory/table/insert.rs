//! New keys.

use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::line::{self, Entry, Line, OVERFLOWED};
use super::{CHAIN, Elsewhere, Layout, Table};
use crate::memory::hash::KeyHash;
use crate::memory::locked::Stage;

/// How an insertion ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inserted {
    /// The key has an entry now.
    New,
    /// It had one already.
    Old,
    /// Its shard must be rebuilt first: it is too full.
    TooFull,
    /// A reload moved the shard.
    Elsewhere(Elsewhere),
}

/// Lines locked in a row from a home on, with their headers before.
struct Chain<'t> {
    lines: SmallVec<[(&'t Line, u64); CHAIN]>,
}

impl Table {
    /// Gives the key an entry with `words`, unless it has one.
    pub(crate) fn insert(&self, key: KeyHash, words: [u64; 2]) -> Inserted {
        let shard = self.shard_of(key);
        let mut spins = 0;
        loop {
            let layout = self.layout(shard);
            if layout.stage() != Stage::Here {
                return Inserted::Elsewhere(Elsewhere { stage: layout.stage(), shard });
            }
            // The overflow bucket must find its place where others do not.
            if key != KeyHash::OVERFLOW && self.is_too_full(shard, layout) {
                return Inserted::TooFull;
            }
            if let Some(inserted) = self.insert_once(key, words, shard, layout) {
                return inserted;
            }
            line::pause(&mut spins);
        }
    }

    /// Above a load of 0.8 chains grow long.
    fn is_too_full(&self, shard: usize, layout: Layout) -> bool {
        self.live(shard) * 5 >= layout.homes() * self.width.entries() * 4
    }

    /// `None` where another writer was met: nothing is held then, and nothing changed.
    fn insert_once(
        &self,
        key: KeyHash,
        words: [u64; 2],
        shard: usize,
        layout: Layout,
    ) -> Option<Inserted> {
        let index = key.index_bits();
        let home = layout.home(index);
        let mut chain = Chain { lines: SmallVec::new() };
        let mut place = None;
        for step in 0..CHAIN {
            if !chain.try_lock(self.space.line(shard, home + step))
                || (step == 0 && self.layout(shard) != layout)
            {
                chain.unlock();
                return None;
            }
            let (line, header) = chain.lines[step];
            if line::find(line, self.width, key.fingerprint).is_some() {
                chain.unlock();
                return Some(Inserted::Old);
            }
            if place.is_none() {
                place = line::vacant(line, self.width).map(|entry| (step, entry));
            }
            // Entries further on may still be this key, even past a vacant place.
            if header & OVERFLOWED == 0 && place.is_some() {
                break;
            }
        }
        let Some((step, entry)) = place else {
            chain.unlock();
            return Some(Inserted::TooFull);
        };
        let new = Entry { index, fingerprint: key.fingerprint, words };
        line::set_entry(chain.lines[step].0, self.width, entry, &new);
        if key != KeyHash::OVERFLOW {
            self.shards[shard].live.fetch_add(1, Ordering::Relaxed);
        }
        chain.unlock_passed(step);
        Some(Inserted::New)
    }
}

impl<'t> Chain<'t> {
    fn try_lock(&mut self, line: &'t Line) -> bool {
        let header = line[0].load(Ordering::Relaxed);
        let locked = header & line::LOCKED == 0 && line::try_lock(line, header);
        if locked {
            self.lines.push((line, header));
        }
        locked
    }

    /// Nothing was changed.
    fn unlock(self) {
        self.lines.into_iter().for_each(|(line, header)| line::unlock_unchanged(line, header));
    }

    /// An entry went to the line at `step`: those before it are marked, those after it unchanged.
    fn unlock_passed(self, step: usize) {
        for (at, (line, header)) in self.lines.into_iter().enumerate() {
            match at.cmp(&step) {
                std::cmp::Ordering::Less => line::unlock_changed(line, header | OVERFLOWED),
                std::cmp::Ordering::Equal => line::unlock_changed(line, header),
                std::cmp::Ordering::Greater => line::unlock_unchanged(line, header),
            }
        }
    }
}
