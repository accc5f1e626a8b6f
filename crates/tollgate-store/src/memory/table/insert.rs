//! New keys.

use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::line::{self, Entry, Line, OVERFLOWED, Width};
use super::rebuild::FULL;
use super::{CHAIN, Elsewhere, Layout, TAIL, Table};
use crate::memory::backoff::Backoff;
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

/// How many lines an insertion looks at for a vacant place: a run of full lines is longer than any one entry's chain.
const RUN: usize = 96;

/// Lines locked in a row from a home on, with their headers before.
struct Chain<'t> {
    lines: SmallVec<[(&'t Line, u64); 8]>,
}

/// An entry that is written at a place of the line so many steps from the chain's first.
struct Move {
    step: usize,
    at: usize,
    entry: Entry,
}

type Moves = SmallVec<[Move; 4]>;

impl Table {
    /// Gives the key an entry with `words`, unless it has one.
    pub(crate) fn insert(&self, key: KeyHash, words: [u64; 2]) -> Inserted {
        let shard = self.shard_of(key);
        let new = Entry { index: key.index_bits(), fingerprint: key.fingerprint, words };
        let mut backoff = Backoff::default();
        loop {
            let layout = self.layout(shard);
            if layout.stage() != Stage::Here {
                return Inserted::Elsewhere(Elsewhere { stage: layout.stage(), shard });
            }
            // The overflow bucket must find its place where others do not.
            if key != KeyHash::OVERFLOW && self.is_too_full(shard, layout) {
                return Inserted::TooFull;
            }
            if let Some(inserted) = self.insert_once(new, shard, layout) {
                return inserted;
            }
            backoff.pause();
        }
    }

    fn is_too_full(&self, shard: usize, layout: Layout) -> bool {
        self.live(shard) * FULL.1 >= layout.homes() * self.width.entries() * FULL.0
    }

    /// `None` where another writer was met: nothing is held then, and nothing changed.
    fn insert_once(&self, new: Entry, shard: usize, layout: Layout) -> Option<Inserted> {
        let home = layout.home(new.index);
        let mut chain = Chain { lines: SmallVec::new() };
        let mut place = None;
        for step in 0..RUN.min(layout.homes() + TAIL - home) {
            if !chain.try_lock(self.space.line(shard, home + step))
                || (step == 0 && self.layout(shard) != layout)
            {
                chain.unlock();
                return None;
            }
            let (line, header) = chain.lines[step];
            if line::find(line, self.width, new.fingerprint).is_some() {
                chain.unlock();
                return Some(Inserted::Old);
            }
            if place.is_none() && line::vacant(line, self.width).is_some() {
                place = Some(step);
            }
            // Entries further on may still be this key, even past a vacant place.
            if place.is_some() && (header & OVERFLOWED == 0 || step + 1 >= CHAIN) {
                break;
            }
        }
        let moves = place.and_then(|place| chain.moves(self.width, layout, new, place));
        let (Some(place), Some(moves)) = (place, moves) else {
            chain.unlock();
            return Some(Inserted::TooFull);
        };
        for Move { step, at, entry } in &moves {
            line::set_entry(chain.lines[*step].0, self.width, *at, entry);
        }
        if new.counts() {
            self.shards[shard].live.fetch_add(1, Ordering::Relaxed);
        }
        chain.unlock_passed(place);
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

    /// What is to be written so that `new` has a place, up to the vacant one at the line `place`: in each full line the
    /// entry whose home is furthest makes way for one whose home is nearer, and goes on in its stead. Entries thus stay in
    /// the order of their homes, and none is much further from its own than others. `None` where one would be too far.
    fn moves(&self, width: Width, layout: Layout, new: Entry, place: usize) -> Option<Moves> {
        let home = layout.home(new.index);
        let mut moves = Moves::new();
        let mut carried = new;
        for (step, (line, _)) in self.lines[..=place].iter().enumerate() {
            let entries =
                (0..width.entries()).filter_map(|at| Some((at, line::entry(line, width, at)?)));
            let furthest = entries.max_by_key(|(_, entry)| entry.index);
            let goes_on = furthest.filter(|(_, last)| step < place && last.index > carried.index);
            let at = match goes_on {
                Some((at, _)) => at,
                None if step == place => line::vacant(line, width)?,
                None => continue,
            };
            if home + step >= layout.home(carried.index) + CHAIN {
                return None;
            }
            moves.push(Move { step, at, entry: carried });
            if let Some((_, last)) = goes_on {
                carried = last;
            }
        }
        Some(moves)
    }

    /// Nothing was changed.
    fn unlock(self) {
        self.lines.into_iter().for_each(|(line, header)| line::unlock_unchanged(line, header));
    }

    /// A vacant place at the line `place` was filled: those before it are marked, those after it unchanged.
    fn unlock_passed(self, place: usize) {
        for (at, (line, header)) in self.lines.into_iter().enumerate() {
            match at.cmp(&place) {
                std::cmp::Ordering::Less => line::unlock_changed(line, header | OVERFLOWED),
                std::cmp::Ordering::Equal => line::unlock_changed(line, header),
                std::cmp::Ordering::Greater => line::unlock_unchanged(line, header),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::table::testing::{Keeps, hash};

    #[test]
    fn a_shard_grows_only_when_it_is_full_and_loses_none() {
        for width in [Width::One, Width::Two] {
            let table = Table::new(width, 1, Stage::Here).expect("memory");
            let mut loads = Vec::new();
            for number in 0..20_000_u64 {
                let key = hash(number);
                while table.insert(key, [number, 0]) == Inserted::TooFull {
                    let places = table.layout(0).homes() * width.entries();
                    loads.push((number, table.live(0) as f64 / places as f64));
                    assert_eq!(table.grow(key, &Keeps), Some(0));
                }
            }
            // Of the small ones by chance one may have a chain that is too long.
            loads.retain(|(number, _)| *number >= 2_000);
            let early = loads.iter().filter(|(_, load)| *load < 0.76).count();
            assert!(early * 5 <= loads.len(), "{width:?}: most growths come when full: {loads:?}");
            assert!(loads.iter().all(|(_, load)| *load > 0.7), "{width:?}: {loads:?}");
            assert_eq!(table.live(0), 20_000);
            for number in 0..20_000_u64 {
                let look = table.look(hash(number)).expect("it is here");
                assert!(look.is_present());
                assert_eq!(look.words[0], number);
            }
        }
    }
}
