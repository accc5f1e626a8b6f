//! Reading a snapshot: the limits of the last process become predecessors, whose counts those of today take over as after
//! any reload.

use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;

use tollgate_core::Timestamp;

use super::error::SnapshotError;
use super::fields::In;
use super::frames::{FrameReader, Kind};
use super::keys;
use super::section::Section;
use crate::memory::counter::Counter;
use crate::memory::hash::{KeyHash, KeyHasher};
use crate::memory::room::Room;
use crate::memory::take_over::Held;
use crate::memory::{MemoryOptions, MemoryStore};
use crate::registry::Registry;
use crate::{Definition, LimitId};

/// What a snapshot held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restored {
    /// When it was written, by the clock of then.
    pub written: Timestamp,
    /// Keys whose counts go on.
    pub keys: u64,
    /// Keys that count nothing any more by now.
    pub expired: u64,
    /// Keys of limits that there are no more, or that count something else now.
    pub dropped: u64,
}

/// Reads a whole snapshot. Nothing of it is used unless all of it is right.
pub(super) fn read(
    input: impl Read,
    options: MemoryOptions,
    definitions: &[Definition],
    now: Timestamp,
) -> Result<(MemoryStore, Restored), SnapshotError> {
    let mut frames = FrameReader::begin(input)?;
    let (kind, content) = frames.next()?;
    let head = Some(content).filter(|_| kind == Kind::Head).and_then(read_head);
    let (written, hasher) =
        head.ok_or_else(|| frames.damaged("it does not begin with its head"))?;
    let restored = Restored { written, keys: 0, expired: 0, dropped: 0 };
    let mut reading = Reading {
        definitions,
        now,
        rooms: HashMap::new(),
        done: Vec::new(),
        limit: None,
        restored,
    };
    loop {
        let (kind, content) = frames.next()?;
        let taken = match kind {
            Kind::Limit => reading.limit(content),
            Kind::Keys => reading.keys(content),
            Kind::End => {
                let whole = reading.end(content);
                whole.map_err(|what| frames.damaged(what))?;
                break;
            }
            Kind::Head => Err("it begins twice"),
        };
        taken.map_err(|what| frames.damaged(what))?;
    }
    frames.end()?;
    let (counters, restored) = reading.finish();
    let store = MemoryStore::of(options, hasher, Registry::of(counters));
    Ok((store, restored))
}

fn read_head(content: &[u8]) -> Option<(Timestamp, KeyHasher)> {
    let mut content = In(content);
    let written = Timestamp::from_micros(content.long()?);
    let mut seeds = [0; 6];
    for seed in &mut seeds {
        *seed = content.long()?;
    }
    let witness = u128::from(content.long()?) | u128::from(content.long()?) << 64;
    content.end()?;
    let hasher = KeyHasher::from_seeds(seeds);
    (hasher.witness() == witness).then_some((written, hasher))
}

/// What was read so far.
struct Reading<'d> {
    definitions: &'d [Definition],
    now: Timestamp,
    /// By the limit's name.
    rooms: HashMap<Arc<str>, Arc<Room>>,
    done: Vec<Arc<Counter>>,
    limit: Option<Current>,
    restored: Restored,
}

/// The limit whose keys are being read.
struct Current {
    section: Section,
    /// What it becomes; `None` where nothing goes on with it.
    counter: Option<Arc<Counter>>,
    /// The shard whose keys are being read; those before it are filled.
    shard: usize,
    held: Vec<Held>,
    /// The last key of the shard.
    last: Option<u128>,
}

impl Reading<'_> {
    fn limit(&mut self, content: &[u8]) -> Result<(), &'static str> {
        self.finish_limit();
        let section = Section::read(content).ok_or("a limit that no policy has")?;
        if self.done.iter().any(|counter| section.is(counter)) {
            return Err("a limit comes twice");
        }
        let definition = self.definitions.iter().find(|one| section.continues_as(one));
        let counter = definition.map(|definition| Arc::new(self.counter(&section, definition)));
        self.limit = Some(Current { section, counter, shard: 0, held: Vec::new(), last: None });
        Ok(())
    }

    fn counter(&mut self, section: &Section, definition: &Definition) -> Counter {
        let (name, max) = (&definition.name, definition.max_keys);
        let room = self.rooms.entry(name.clone());
        let room = room.or_insert_with(|| Arc::new(Room::new(name.clone(), max))).clone();
        let id = LimitId(self.done.len() as u32);
        let limit = section.limit.clone();
        let counter = Counter::awaiting(id, definition, limit, room, section.shards, self.now);
        // A clock that is right again must not call this day's counts over because a wrong one saw a later day.
        if let Some(period) = section.period.filter(|period| period.start <= self.now) {
            counter.period.saw(period);
        }
        counter
    }

    fn keys(&mut self, content: &[u8]) -> Result<(), &'static str> {
        let current = self.limit.as_mut().ok_or("keys of no limit")?;
        let mut content = In(content);
        let shard = content.short().ok_or("keys of no shard")? as usize;
        if shard >= current.section.shards || shard < current.shard {
            return Err("shards are not in order");
        }
        current.fill_up_to(shard);
        while !content.0.is_empty() {
            let read = keys::read(&current.section.limit, &mut content);
            let (key, state) = read.ok_or("a key or state that its limit cannot have")?;
            if current.last.is_some_and(|last| last >= key) {
                return Err("keys are not in order");
            }
            if key as u64 == KeyHash::OVERFLOW.fingerprint && (key >> 64, shard) != (0, 0) {
                return Err("an overflow bucket is not at its place");
            }
            current.last = Some(key);
            let count = match &current.counter {
                None => &mut self.restored.dropped,
                Some(counter) if counter.is_fresh(&state, self.now) => &mut self.restored.expired,
                Some(_) => {
                    current.held.push((key, state));
                    &mut self.restored.keys
                }
            };
            *count += 1;
        }
        Ok(())
    }

    fn end(&self, content: &[u8]) -> Result<(), &'static str> {
        let Restored { keys, expired, dropped, .. } = self.restored;
        let mut content = In(content);
        let told = content.long().filter(|_| content.end().is_some());
        if told == Some(keys + expired + dropped) { Ok(()) } else { Err("it lacks keys") }
    }

    fn finish_limit(&mut self) {
        let Some(mut current) = self.limit.take() else { return };
        current.fill_up_to(current.section.shards);
        self.done.extend(current.counter);
    }

    fn finish(mut self) -> (Vec<Arc<Counter>>, Restored) {
        self.finish_limit();
        (self.done, self.restored)
    }
}

impl Current {
    /// Fills the shards before `shard`, at which it then is.
    fn fill_up_to(&mut self, shard: usize) {
        for before in self.shard..shard {
            let held = std::mem::take(&mut self.held);
            if let Some(counter) = &self.counter {
                counter.fill(before, held);
            }
            self.last = None;
        }
        self.shard = shard;
    }
}
