//! A table of cache lines, each with its own version lock, for states of one or two words.
//!
//! - Reading writes nothing: a line is read under its version ([`Look`]), and a decision that changes nothing checks at
//!   its end that all versions still are what they were.
//! - A change locks its lines by moving on from the versions that were read, which proves that the decision still holds.
//!   It never waits while it holds a lock: where one line has changed, it lets go of all and starts again.
//! - A key's home is a line of its shard; where that is full, the entry goes to one of the next few, and the lines passed
//!   are marked; entries stay in the order of their homes. Shards are rebuilt one at a time, under the locks of all their lines.

mod atomic;
mod copy;
mod insert;
mod line;
mod prefetch;
mod rebuild;
mod space;
mod sweep;
#[cfg(test)]
mod testing;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::hash::KeyHash;
use super::locked::Stage;
pub(crate) use insert::Inserted;
pub(crate) use line::{Entry, Width};
use line::{LOCKED, Line, OVERFLOWED};
use space::Space;
pub(crate) use sweep::Judge;

/// An entry is at most this many lines from its home, home included.
const CHAIN: usize = 16;

/// Lines after the last home, so that the chain of the last home has its lines.
const TAIL: usize = CHAIN - 1;

/// Homes that each shard begins with: as many as the first segment of its lines holds anyway.
const FIRST_HOMES: usize = space::FIRST - TAIL;

/// Keys and the words of their states.
#[derive(Debug)]
pub(crate) struct Table {
    width: Width,
    /// The [`Layout`] of each shard: hardly ever written, and close together, so that all of them stay near the processor.
    layouts: Box<[AtomicU64]>,
    shards: Box<[Shard]>,
    space: Space,
}

/// What else is known of a shard beside its lines. On its own cache line.
#[derive(Debug)]
#[repr(align(64))]
struct Shard {
    /// Entries, the overflow bucket apart.
    live: AtomicUsize,
    /// One rebuild at a time.
    rebuilding: Mutex<()>,
}

/// How a shard's lines are to be read: the number of homes, a count of rebuilds, and the stage, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout(u64);

impl Layout {
    const fn new(homes: usize, rebuilds: u64, stage: Stage) -> Layout {
        let stage = match stage {
            Stage::Here => 0,
            Stage::Awaiting => 1,
            Stage::Moved => 2,
        };
        Layout(homes as u64 | (rebuilds & 0x3fff_ffff) << 32 | stage << 62)
    }

    const fn homes(self) -> usize {
        (self.0 & 0xffff_ffff) as usize
    }

    const fn rebuilds(self) -> u64 {
        (self.0 >> 32) & 0x3fff_ffff
    }

    const fn stage(self) -> Stage {
        match self.0 >> 62 {
            0 => Stage::Here,
            1 => Stage::Awaiting,
            _ => Stage::Moved,
        }
    }

    /// The home line of an entry.
    #[inline]
    const fn home(self, index: u32) -> usize {
        ((index as u64 * (self.0 & 0xffff_ffff)) >> KeyHash::INDEX_BITS) as usize
    }
}

/// The line that a key begins at, under the layout that said so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Home<'t> {
    line: &'t Line,
    layout: Layout,
    shard: u32,
    /// The line's number in its shard.
    index: u32,
}

/// What was read of a key, and enough to tell later whether it still is so.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Look<'t> {
    /// The line of the entry, where there is one.
    at: Option<&'t Line>,
    shard: u32,
    /// The number of the entry's line in its shard; where there is none, the home's.
    line: u32,
    /// The line's header; where there is no entry, the sum of the headers of all lines that could have it. Headers only
    /// grow, so that an equal sum means equal headers.
    header: u64,
    /// How many lines were read.
    lines: u8,
    entry: u8,
    /// The state's words.
    pub(crate) words: [u64; 2],
}

impl Look<'_> {
    /// Whether the key has an entry.
    #[inline]
    pub(crate) fn is_present(&self) -> bool {
        self.at.is_some()
    }

    /// Where the entry's line is: for sorting, and to tell entries of one line.
    pub(crate) fn line(&self) -> (u32, u32) {
        (self.shard, self.line)
    }

    /// Whether two keys of one line were read under the same version.
    pub(crate) fn same_version(&self, other: &Look<'_>) -> bool {
        self.header == other.header
    }

    /// Locks the line of a present key, if it still is as it was read.
    #[inline]
    pub(crate) fn try_lock(&self) -> bool {
        self.at.is_some_and(|line| line::try_lock(line, self.header))
    }

    /// Unlocks a line that was changed or not.
    #[inline]
    pub(crate) fn unlock(&self, changed: bool) {
        match self.at {
            Some(line) if changed => line::unlock_changed(line, self.header),
            Some(line) => line::unlock_unchanged(line, self.header),
            None => {}
        }
    }
}

/// A shard that cannot be read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Elsewhere {
    /// Where its counts are instead.
    pub(crate) stage: Stage,
    /// Which shard.
    pub(crate) shard: usize,
}

impl Table {
    /// An empty table of `shards` shards (a power of two); `None` where there is no memory for it.
    pub(crate) fn new(width: Width, shards: usize, stage: Stage) -> Option<Table> {
        let space = Space::new(shards);
        space.reserve(FIRST_HOMES + TAIL).then(|| Table {
            width,
            layouts: (0..shards)
                .map(|_| AtomicU64::new(Layout::new(FIRST_HOMES, 0, stage).0))
                .collect(),
            shards: (0..shards)
                .map(|_| Shard { live: AtomicUsize::new(0), rebuilding: Mutex::new(()) })
                .collect(),
            space,
        })
    }

    /// How many shards there are.
    pub(crate) fn shards(&self) -> usize {
        self.shards.len()
    }

    /// Keys of a shard, the overflow bucket apart.
    pub(crate) fn live(&self, shard: usize) -> usize {
        self.shards[shard].live.load(Ordering::Relaxed)
    }

    #[inline]
    fn shard_of(&self, key: KeyHash) -> usize {
        key.shard(self.shards.len())
    }

    #[inline]
    fn layout(&self, shard: usize) -> Layout {
        Layout(self.layouts[shard].load(Ordering::Acquire))
    }

    #[inline(always)]
    fn home(&self, key: KeyHash) -> Home<'_> {
        let shard = self.shard_of(key);
        let layout = self.layout(shard);
        let index = layout.home(key.index_bits());
        let line = self.space.line(shard, index);
        Home { line, layout, shard: shard as u32, index: index as u32 }
    }

    /// Where the key begins; has that line on its way from memory while other things are done.
    #[inline(always)]
    pub(crate) fn touch(&self, key: KeyHash) -> Home<'_> {
        let home = self.home(key);
        prefetch::prefetch(home.line);
        home
    }

    /// Reads a key.
    #[inline(always)]
    pub(crate) fn look(&self, key: KeyHash) -> Result<Look<'_>, Elsewhere> {
        loop {
            let home = self.home(key);
            if let Some(look) = self.look_from(key, &home) {
                return Ok(look);
            }
            let stage = home.layout.stage();
            if stage != Stage::Here {
                return Err(Elsewhere { stage, shard: home.shard as usize });
            }
        }
    }

    /// Reads a key that is at `home`; `None` where it is elsewhere, or something changed meanwhile.
    #[inline(always)]
    pub(crate) fn look_at_home<'t>(&'t self, key: KeyHash, home: &Home<'t>) -> Option<Look<'t>> {
        if home.layout.stage() != Stage::Here {
            return None;
        }
        let header = line::unlocked(home.line);
        let entry = line::find(home.line, self.width, key.fingerprint)?;
        self.present(home.shard, home.index, home.line, header, entry)
    }

    /// Reads a key that begins at `home`; `None` where its counts are elsewhere, or something changed meanwhile.
    #[inline(always)]
    pub(crate) fn look_from<'t>(&'t self, key: KeyHash, home: &Home<'t>) -> Option<Look<'t>> {
        if home.layout.stage() != Stage::Here {
            return None;
        }
        let header = line::unlocked(home.line);
        // Most keys are at home.
        match line::find(home.line, self.width, key.fingerprint) {
            Some(entry) => self.present(home.shard, home.index, home.line, header, entry),
            None => self.look_on(key, home),
        }
    }

    /// What was read of an entry; `None` where its line changed meanwhile.
    #[inline(always)]
    fn present<'t>(
        &self,
        shard: u32,
        index: u32,
        line: &'t Line,
        header: u64,
        entry: usize,
    ) -> Option<Look<'t>> {
        let words = line::words(line, self.width, entry);
        line::still(line, header).then_some(Look {
            at: Some(line),
            shard,
            line: index,
            header,
            lines: 1,
            entry: entry as u8,
            words,
        })
    }

    /// Reads the lines from the home on, for a key that was not found there.
    #[inline(never)]
    fn look_on<'t>(&'t self, key: KeyHash, home: &Home<'t>) -> Option<Look<'t>> {
        let shard = home.shard as usize;
        let mut sum = 0_u64;
        for step in 0..CHAIN {
            let line = self.space.line(shard, home.index as usize + step);
            let header = line::unlocked(line);
            if let Some(entry) = line::find(line, self.width, key.fingerprint) {
                return self.present(home.shard, home.index + step as u32, line, header, entry);
            }
            if !line::still(line, header) {
                return None;
            }
            sum = sum.wrapping_add(header);
            if header & OVERFLOWED == 0 || step == CHAIN - 1 {
                // A rebuild between the layout and the lines would have had us read the wrong ones.
                return (self.layout(shard) == home.layout).then_some(Look {
                    shard: home.shard,
                    line: home.index,
                    header: sum,
                    lines: step as u8 + 1,
                    ..Look::default()
                });
            }
        }
        None
    }

    /// Whether what was read still is so. `held` tells of lines that the caller has locked.
    pub(crate) fn still(&self, look: &Look<'_>, held: impl Fn((u32, u32)) -> bool) -> bool {
        std::sync::atomic::fence(Ordering::Acquire);
        let headers = (look.line..look.line + u32::from(look.lines)).map(|line| {
            let header =
                self.space.line(look.shard as usize, line as usize)[0].load(Ordering::Relaxed);
            if held((look.shard, line)) { header & !LOCKED } else { header }
        });
        headers.fold(0_u64, u64::wrapping_add) == look.header
    }

    /// Writes the state of a key whose line is locked.
    #[inline]
    pub(crate) fn write(&self, look: &Look<'_>, words: [u64; 2]) {
        if let Some(line) = look.at {
            line::set_words(line, self.width, look.entry as usize, words);
        }
    }

    /// Replaces a present key's state, if nothing in its line has changed since it was read.
    #[inline(always)]
    pub(crate) fn replace(&self, look: &Look<'_>, words: [u64; 2]) -> bool {
        let locked = look.try_lock();
        if locked {
            self.write(look, words);
            look.unlock(true);
        }
        locked
    }

    /// Forgets a present key, if nothing in its line has changed since it was read.
    pub(crate) fn remove(&self, look: &Look<'_>) -> bool {
        let Some(line) = look.at else { return false };
        if !look.try_lock() {
            return false;
        }
        let entry = line::entry(line, self.width, look.entry as usize);
        line::clear(line, self.width, look.entry as usize);
        if entry.is_some_and(|entry| entry.counts()) {
            self.shards[look.shard as usize].live.fetch_sub(1, Ordering::Relaxed);
        }
        look.unlock(true);
        true
    }
}
