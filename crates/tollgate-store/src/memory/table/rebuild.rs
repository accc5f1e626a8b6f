//! Placing a shard's entries anew: to grow, to shrink, and to hand them to a successor.

use std::sync::atomic::Ordering;

use super::line::{self, Entry, OVERFLOWED};
use super::{CHAIN, FIRST_HOMES, Judge, Layout, TAIL, Table};
use crate::memory::hash::KeyHash;
use crate::memory::locked::Stage;

/// The load, as a fraction, at which a shard grows. Above it runs of full lines grow long.
pub(super) const FULL: (usize, usize) = (27, 32);

/// The load that it is rebuilt to: an eighth below.
const REBUILT: (usize, usize) = (3, 4);

/// Homes that a shard gains at least when it grows, so that small shards are not rebuilt for every few keys.
const STEP: usize = 16;

/// A shard all of whose lines are locked, with their headers before.
struct LockedShard<'t> {
    table: &'t Table,
    shard: usize,
    headers: Vec<u64>,
}

impl Table {
    /// Gives a shard more room, so that `key` finds a place in it, and forgets what is as fresh as new. Answers how many
    /// keys went; `None` where there is no memory to grow into.
    pub(crate) fn grow(&self, key: KeyHash, judge: &impl Judge) -> Option<usize> {
        let shard = self.shard_of(key);
        let Some(_guard) = self.shards[shard].rebuilding.try_lock() else {
            // Somebody is at it: what he does is enough.
            std::thread::yield_now();
            return Some(0);
        };
        let newcomer =
            Entry { index: key.index_bits(), fingerprint: key.fingerprint, words: [0; 2] };
        self.rebuild(shard, |entry| !judge.lets_go(entry), Some(newcomer))
    }

    /// Gives room back where a shard is nearly empty.
    pub(super) fn shrink_if_empty(&self, shard: usize) {
        let layout = self.layout(shard);
        let places = layout.homes() * self.width.entries();
        if layout.homes() > FIRST_HOMES
            && self.live(shard) * 10 < places * 3
            && let Some(_guard) = self.shards[shard].rebuilding.try_lock()
        {
            self.rebuild(shard, |_| true, None);
        }
    }

    fn rebuild(
        &self,
        shard: usize,
        stays: impl Fn(&Entry) -> bool,
        newcomer: Option<Entry>,
    ) -> Option<usize> {
        let layout = self.layout(shard);
        if layout.stage() != Stage::Here {
            return Some(0);
        }
        let mut locked = LockedShard::lock(self, shard, layout.homes() + TAIL);
        let mut entries = locked.entries();
        let before = counted(&entries);
        entries.retain(stays);
        let few_went = counted(&entries) * 8 > before * 7;
        let least =
            if newcomer.is_some() && few_went { layout.homes() + STEP } else { FIRST_HOMES };
        let homes = match newcomer {
            Some(newcomer) => {
                let at = entries.partition_point(|entry| entry.index <= newcomer.index);
                entries.insert(at, newcomer);
                let homes = homes_for(&entries, self.width.entries(), least);
                entries.remove(at);
                homes
            }
            None => homes_for(&entries, self.width.entries(), least),
        };
        let Some(homes) = homes.filter(|homes| self.space.reserve(homes + TAIL)) else {
            locked.unlock(false);
            return None;
        };
        locked.extend(homes + TAIL);
        let after = counted(&entries);
        self.shards[shard].live.store(after, Ordering::Relaxed);
        locked.place(&entries, Layout::new(homes, layout.rebuilds() + 1, Stage::Here));
        locked.unlock(true);
        Some(before - after)
    }

    /// Empties a shard for a successor; from now on it says that its counts have moved.
    pub(crate) fn move_out(&self, shard: usize) -> Vec<Entry> {
        let _guard = self.shards[shard].rebuilding.lock();
        let layout = self.layout(shard);
        let mut locked = LockedShard::lock(self, shard, layout.homes() + TAIL);
        let entries = locked.entries();
        self.shards[shard].live.store(0, Ordering::Relaxed);
        let moved = Layout::new(layout.homes(), layout.rebuilds() + 1, Stage::Moved);
        locked.place(&[], moved);
        locked.unlock(true);
        entries
    }

    /// Fills a shard that awaits its counts with what `entries` answers, and says how many keys found no place for want
    /// of memory; does nothing where it no longer awaits them.
    pub(crate) fn move_in(&self, shard: usize, entries: impl FnOnce() -> Vec<Entry>) -> usize {
        let _guard = self.shards[shard].rebuilding.lock();
        let layout = self.layout(shard);
        if layout.stage() != Stage::Awaiting {
            return 0;
        }
        let mut entries = entries();
        entries.sort_unstable_by_key(|entry| entry.index);
        let before = counted(&entries);
        let homes = homes_for(&entries, self.width.entries(), FIRST_HOMES);
        let homes = homes.filter(|homes| self.space.reserve(homes + TAIL)).unwrap_or_else(|| {
            keep_fitting(&mut entries, layout.homes(), self.width.entries());
            layout.homes()
        });
        let mut locked = LockedShard::lock(self, shard, homes + TAIL);
        let after = counted(&entries);
        self.shards[shard].live.store(after, Ordering::Relaxed);
        locked.place(&entries, Layout::new(homes, layout.rebuilds() + 1, Stage::Here));
        locked.unlock(true);
        before - after
    }
}

impl<'t> LockedShard<'t> {
    /// Locks the first `lines` lines. It may wait: nobody waits for others while he holds a line.
    fn lock(table: &'t Table, shard: usize, lines: usize) -> LockedShard<'t> {
        let mut locked = LockedShard { table, shard, headers: Vec::with_capacity(lines) };
        locked.extend(lines);
        locked
    }

    fn extend(&mut self, lines: usize) {
        for line in self.headers.len()..lines {
            self.headers.push(line::lock(self.table.space.line(self.shard, line)));
        }
    }

    /// All entries, ordered by their homes.
    fn entries(&self) -> Vec<Entry> {
        let width = self.table.width;
        let mut entries = Vec::with_capacity(self.table.live(self.shard) + 2);
        for index in 0..self.headers.len() {
            let line = self.table.space.line(self.shard, index);
            entries.extend((0..width.entries()).filter_map(|at| line::entry(line, width, at)));
        }
        sort_nearly_sorted(&mut entries);
        entries
    }

    /// Empties all lines, then places `entries`, ordered by their homes, under `layout`, which they are known to fit.
    fn place(&mut self, entries: &[Entry], layout: Layout) {
        let width = self.table.width;
        for (index, header) in self.headers.iter_mut().enumerate() {
            let line = self.table.space.line(self.shard, index);
            (0..width.entries()).for_each(|at| line::clear(line, width, at));
            *header &= !OVERFLOWED;
        }
        for entry in entries {
            let mut at = layout.home(entry.index);
            loop {
                let line = self.table.space.line(self.shard, at);
                if let Some(vacant) = line::vacant(line, width) {
                    line::set_entry(line, width, vacant, entry);
                    break;
                }
                self.headers[at] |= OVERFLOWED;
                at += 1;
            }
        }
        self.table.layouts[self.shard].store(layout.0, Ordering::Release);
    }

    fn unlock(self, changed: bool) {
        for (index, header) in self.headers.iter().enumerate() {
            let line = self.table.space.line(self.shard, index);
            match changed {
                true => line::unlock_changed(line, *header),
                false => line::unlock_unchanged(line, *header),
            }
        }
    }
}

/// Entries that take room.
fn counted(entries: &[Entry]) -> usize {
    entries.iter().filter(|entry| entry.counts()).count()
}

/// Orders entries by their homes, which are near already: each moves past a few.
fn sort_nearly_sorted(entries: &mut [Entry]) {
    for end in 1..entries.len() {
        let entry = entries[end];
        let mut at = end;
        while at > 0 && entries[at - 1].index > entry.index {
            entries[at] = entries[at - 1];
            at -= 1;
        }
        entries[at] = entry;
    }
}

/// How many homes, `least` or more, hold `entries` at a load of [`REBUILT`] or less, with no chain longer than allowed.
/// `None` where even eight times as many do not (that needs two dozen keys with the same 21 bits).
fn homes_for(entries: &[Entry], a_line: usize, least: usize) -> Option<usize> {
    let first = (entries.len() * REBUILT.1).div_ceil(REBUILT.0 * a_line).max(least);
    let mut homes = first;
    while homes <= first * 8 {
        let mut placing = Placing::new(homes, a_line);
        if entries.iter().all(|entry| placing.fits(entry)) {
            return Some(homes);
        }
        homes += homes / 8 + 1;
    }
    None
}

/// Keeps those of `entries` that find a place within their chains among `homes` homes.
fn keep_fitting(entries: &mut Vec<Entry>, homes: usize, a_line: usize) {
    let mut placing = Placing::new(homes, a_line);
    entries.retain(|entry| placing.fits(entry));
}

/// A rehearsal of placing entries.
struct Placing {
    layout: Layout,
    /// Places taken, by line.
    used: Vec<u8>,
    a_line: u8,
}

impl Placing {
    fn new(homes: usize, a_line: usize) -> Placing {
        let layout = Layout::new(homes, 0, Stage::Here);
        Placing { layout, used: vec![0; homes + TAIL], a_line: a_line as u8 }
    }

    fn fits(&mut self, entry: &Entry) -> bool {
        let home = self.layout.home(entry.index);
        let chain = &mut self.used[home..home + CHAIN];
        let place = chain.iter_mut().find(|used| **used < self.a_line);
        place.map(|used| *used += 1).is_some()
    }
}
