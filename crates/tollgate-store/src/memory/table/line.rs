//! One cache line of the table: a header, the index bits of its entries, and the entries.
//!
//! | word | what |
//! |---|---|
//! | 0 | header: bit 0 locked, bit 1 overflowed, the rest a version that grows with every change |
//! | 1 | 21 index bits of each entry, so that a rebuild can place it anew |
//! | 2.. | three times (fingerprint, state), or twice (fingerprint, state, state) |
//!
//! A reader takes the header, the entries, and the header again; the same header twice, unlocked, means that what was
//! read was there together. A writer locks by changing the header that it read, which proves that nothing changed since.

use super::atomic::{AtomicU64, Ordering, fence};
use crate::memory::backoff::Backoff;
use crate::memory::hash::KeyHash;

/// The words of a line.
pub(super) type Line = [AtomicU64; 8];

/// Somebody writes.
pub(super) const LOCKED: u64 = 1;
/// An entry that belongs here had to go to a line after this one.
pub(super) const OVERFLOWED: u64 = 2;
/// One version.
pub(super) const VERSION: u64 = 4;

const INDEX_BITS: u32 = KeyHash::INDEX_BITS;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;

/// How many words a state has: one or two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// Three entries a line.
    One,
    /// Two entries a line.
    Two,
}

impl Width {
    /// Entries a line.
    pub(super) const fn entries(self) -> usize {
        match self {
            Width::One => 3,
            Width::Two => 2,
        }
    }

    /// The word in which an entry begins.
    const fn start(self, entry: usize) -> usize {
        match self {
            Width::One => 2 + 2 * entry,
            Width::Two => 2 + 3 * entry,
        }
    }
}

/// An entry as it is moved about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its index bits.
    pub(crate) index: u32,
    /// Its fingerprint.
    pub(crate) fingerprint: u64,
    /// Its state.
    pub(crate) words: [u64; 2],
}

impl Entry {
    /// Its key within its shard.
    pub(crate) const fn key(&self) -> u128 {
        (self.index as u128) << 64 | self.fingerprint as u128
    }

    /// Whether it takes room: all do but the overflow bucket.
    pub(crate) fn counts(&self) -> bool {
        self.fingerprint != KeyHash::OVERFLOW.fingerprint
    }
}

/// The header of an unlocked line.
#[inline]
pub(super) fn unlocked(line: &Line) -> u64 {
    let mut backoff = Backoff::default();
    loop {
        let header = line[0].load(Ordering::Acquire);
        if header & LOCKED == 0 {
            return header;
        }
        backoff.pause();
    }
}

/// Whether the line is still as it was under `header`.
#[inline]
pub(super) fn still(line: &Line, header: u64) -> bool {
    fence(Ordering::Acquire);
    line[0].load(Ordering::Relaxed) == header
}

/// Locks the line if it is still as under `header`.
#[inline]
pub(super) fn try_lock(line: &Line, header: u64) -> bool {
    let locked =
        line[0].compare_exchange(header, header | LOCKED, Ordering::Acquire, Ordering::Relaxed);
    // Whoever sees one of the stores that follow sees the lock, too.
    fence(Ordering::Release);
    locked.is_ok()
}

/// Locks the line, waiting for others; says its header before.
pub(super) fn lock(line: &Line) -> u64 {
    loop {
        let header = unlocked(line);
        if try_lock(line, header) {
            return header;
        }
    }
}

/// Unlocks a line that was changed under `header`.
#[inline]
pub(super) fn unlock_changed(line: &Line, header: u64) {
    line[0].store(header.wrapping_add(VERSION), Ordering::Release);
}

/// Unlocks a line that was not changed.
#[inline]
pub(super) fn unlock_unchanged(line: &Line, header: u64) {
    line[0].store(header, Ordering::Release);
}

/// The entry of `fingerprint`. Which one it could be is computed, and then looked at: a branch for each would be guessed
/// wrong mostly, and only after the line has come from memory.
#[inline]
pub(super) fn find(line: &Line, width: Width, fingerprint: u64) -> Option<usize> {
    let is = |word: usize| line[word].load(Ordering::Relaxed) == fingerprint;
    // Entries of one line differ, so at most one of them is it.
    let entry = match width {
        Width::One => usize::from(is(4)) + 2 * usize::from(is(6)),
        Width::Two => usize::from(is(5)),
    };
    is(width.start(entry) & 7).then_some(entry)
}

/// The state of an entry.
#[inline]
pub(super) fn words(line: &Line, width: Width, entry: usize) -> [u64; 2] {
    match width {
        Width::One => [line[(3 + 2 * entry) & 7].load(Ordering::Relaxed), 0],
        Width::Two => {
            let word = |at: usize| line[(at + 3 * entry) & 7].load(Ordering::Relaxed);
            [word(3), word(4)]
        }
    }
}

/// Writes the state of an entry; the line is locked.
#[inline]
pub(super) fn set_words(line: &Line, width: Width, entry: usize, words: [u64; 2]) {
    let start = width.start(entry);
    line[(start + 1) & 7].store(words[0], Ordering::Relaxed);
    if width == Width::Two {
        line[(start + 2) & 7].store(words[1], Ordering::Relaxed);
    }
}

/// An entry whole; `None` where the place is empty.
pub(super) fn entry(line: &Line, width: Width, entry: usize) -> Option<Entry> {
    let fingerprint = line[width.start(entry)].load(Ordering::Relaxed);
    let bits = line[1].load(Ordering::Relaxed) >> (INDEX_BITS as usize * entry);
    let index = (bits & INDEX_MASK) as u32;
    (fingerprint != 0).then(|| Entry { index, fingerprint, words: words(line, width, entry) })
}

/// Adds the entries of a line to `copies`, as they are there together.
pub(super) fn copy(line: &Line, width: Width, copies: &mut Vec<Entry>) {
    let before = copies.len();
    loop {
        let header = unlocked(line);
        copies.extend((0..width.entries()).filter_map(|at| entry(line, width, at)));
        if still(line, header) {
            return;
        }
        copies.truncate(before);
    }
}

/// Writes an entry whole; the line is locked.
pub(super) fn set_entry(line: &Line, width: Width, entry: usize, new: &Entry) {
    let shift = INDEX_BITS as usize * entry;
    let bits = line[1].load(Ordering::Relaxed) & !(INDEX_MASK << shift);
    line[1].store(bits | (u64::from(new.index) << shift), Ordering::Relaxed);
    set_words(line, width, entry, new.words);
    line[width.start(entry)].store(new.fingerprint, Ordering::Relaxed);
}

/// Empties a place; the line is locked.
pub(super) fn clear(line: &Line, width: Width, entry: usize) {
    line[width.start(entry)].store(0, Ordering::Relaxed);
}

/// An empty place.
pub(super) fn vacant(line: &Line, width: Width) -> Option<usize> {
    (0..width.entries()).find(|entry| line[width.start(*entry)].load(Ordering::Relaxed) == 0)
}
