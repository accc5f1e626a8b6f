//! Writing a snapshot while decisions are made: shard by shard, each copied without holding anybody up.

use std::io::{self, Write};
use std::sync::Arc;

use tollgate_core::{Algorithm, State, Timestamp};

use super::fields::Out;
use super::frames::{FrameWriter, Kind};
use super::{keys, section::Section};
use crate::memory::MemoryStore;
use crate::memory::counter::{Counter, Counts, Moved};

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Keys, of all limits.
    pub keys: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Why a snapshot is not whole.
#[derive(Debug)]
pub(super) enum Unwritten {
    /// It was not taken in.
    Failed(io::Error),
    /// A reload moved counts meanwhile: begin again.
    Reloaded,
}

impl From<io::Error> for Unwritten {
    fn from(error: io::Error) -> Unwritten {
        Unwritten::Failed(error)
    }
}

impl From<Moved> for Unwritten {
    fn from(_: Moved) -> Unwritten {
        Unwritten::Reloaded
    }
}

/// Content of a frame from which on it is written.
const FULL: usize = 1 << 16;

/// Large states that are copied under one lock at most, and their content from which on it is given back.
const AT_ONCE: usize = 64;

impl MemoryStore {
    /// Writes all counts but slots and what is as fresh as new. Each state is as it was at some moment of the writing.
    /// `rest` is called after each piece, for others to get on.
    pub(super) fn write_counts(
        &self,
        out: impl Write,
        now: Timestamp,
        rest: impl FnMut(),
    ) -> Result<Written, Unwritten> {
        let mut pen = Pen { frames: FrameWriter::begin(out)?, now, rest, keys: 0 };
        let mut head = Out::default();
        head.long(now.as_micros());
        self.hasher.seeds().into_iter().for_each(|seed| head.long(seed));
        head.0.extend(self.hasher.witness().to_le_bytes());
        pen.frames.put(Kind::Head, &head.0)?;
        let registry = self.registry.load_full();
        for counter in registry.defined() {
            if !matches!(counter.limit.algorithm(), Algorithm::Concurrency(_)) {
                pen.limit(counter)?;
            }
        }
        let keys = pen.keys;
        pen.frames.put(Kind::End, &keys.to_le_bytes())?;
        Ok(Written { keys, bytes: pen.frames.end()? })
    }
}

/// Where the writing stands.
struct Pen<W, R> {
    frames: FrameWriter<W>,
    now: Timestamp,
    rest: R,
    keys: u64,
}

/// The frame of a shard's keys that is being filled.
struct Sheet<'c> {
    counter: &'c Counter,
    shard: usize,
    content: Out,
}

impl<'c> Sheet<'c> {
    fn new(counter: &'c Counter, shard: usize) -> Sheet<'c> {
        let mut sheet = Sheet { counter, shard, content: Out::default() };
        sheet.begin();
        sheet
    }

    fn begin(&mut self) {
        self.content.0.clear();
        self.content.short(self.shard as u32);
    }

    /// How much it holds beside the shard's number.
    fn filled(&self) -> usize {
        self.content.0.len() - size_of::<u32>()
    }
}

impl<W: Write, R: FnMut()> Pen<W, R> {
    fn limit(&mut self, counter: &Arc<Counter>) -> Result<(), Unwritten> {
        let mut section = Out::default();
        Section::write(counter, &mut section);
        self.frames.put(Kind::Limit, &section.0)?;
        for shard in 0..counter.shards() {
            let mut sheet = Sheet::new(counter, shard);
            match &counter.counts {
                Counts::Table(_) => self.small(&mut sheet)?,
                Counts::Locked(_) => self.large(&mut sheet)?,
            }
            self.put(&mut sheet, 1)?;
        }
        Ok(())
    }

    /// States of a table: a shard's are copied at once, since copying takes less time than anything that disturbs it.
    fn small(&mut self, sheet: &mut Sheet<'_>) -> Result<(), Unwritten> {
        for (key, words) in sheet.counter.copy(sheet.shard)? {
            self.key(sheet, key, &sheet.counter.limit.decode(words));
            self.put(sheet, FULL)?;
        }
        Ok(())
    }

    /// States of a locked map: some at a time under its lock, and no lock is held while they are written.
    fn large(&mut self, sheet: &mut Sheet<'_>) -> Result<(), Unwritten> {
        let (counter, shard) = (sheet.counter, sheet.shard);
        let Counts::Locked(locked) = &counter.counts else { return Ok(()) };
        let mut keys: Vec<u128> = counter.lock(locked, shard)?.keys.keys().copied().collect();
        keys.sort_unstable();
        let mut left = &keys[..];
        while !left.is_empty() {
            let guard = counter.lock(locked, shard)?;
            for _ in 0..AT_ONCE {
                let Some((key, rest)) = left.split_first().filter(|_| sheet.filled() < FULL) else {
                    break;
                };
                left = rest;
                if let Some(state) = guard.keys.get(key) {
                    self.key(sheet, *key, state);
                }
            }
            drop(guard);
            self.put(sheet, FULL)?;
        }
        Ok(())
    }

    fn key(&mut self, sheet: &mut Sheet<'_>, key: u128, state: &State) {
        if !sheet.counter.is_fresh(state, self.now) {
            keys::write(&sheet.counter.limit, key, state, &mut sheet.content);
            self.keys += 1;
        }
    }

    /// Writes the sheet where it holds `enough`, and begins it anew.
    fn put(&mut self, sheet: &mut Sheet<'_>, enough: usize) -> Result<(), Unwritten> {
        if sheet.filled() >= enough {
            self.frames.put(Kind::Keys, &sheet.content.0)?;
            sheet.begin();
            (self.rest)();
        }
        Ok(())
    }
}

impl Counter {
    /// The keys of a shard and the words of their states, in the order of the keys.
    fn copy(&self, shard: usize) -> Result<Vec<(u128, [u64; 2])>, Moved> {
        let Some(table) = self.table() else { return Ok(Vec::new()) };
        let entries = loop {
            match table.copy(shard) {
                Ok(entries) => break entries,
                Err(elsewhere) => self.fetch(table, elsewhere.stage, elsewhere.shard)?,
            }
        };
        Ok(entries.iter().map(|entry| (entry.key(), entry.words)).collect())
    }
}
