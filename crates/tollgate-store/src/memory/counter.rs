//! One limit of one class under one set of parameters, with what was counted by it.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tollgate_core::{Algorithm, Limit, Period, State, Timestamp, Words};

use super::hash::KeyHash;
use super::locked::{Locked, Shard, Stage};
use super::period::SeenPeriod;
use super::room::Room;
use super::table::{Inserted, Look, Table, Width};
use crate::{Definition, LimitId, Shape};

/// Parameters and counts. A reload with other parameters makes a new one, which takes the counts over shard by shard.
#[derive(Debug)]
pub(crate) struct Counter {
    pub(crate) id: LimitId,
    pub(crate) class: Option<Arc<str>>,
    pub(crate) shape: Shape,
    pub(crate) limit: Limit,
    pub(crate) room: Arc<Room>,
    pub(crate) counts: Counts,
    pub(crate) period: SeenPeriod,
    /// Whose counts are taken over.
    pub(crate) previous: Mutex<Option<Arc<Counter>>>,
    /// When it began.
    pub(crate) since: Timestamp,
    /// The words of a key that was never seen.
    fresh: [u64; 2],
}

/// Where the states are.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "few, and each behind an Arc")]
pub(crate) enum Counts {
    /// States of one or two words.
    Table(Table),
    /// Larger ones.
    Locked(Locked),
}

/// A successor has the counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moved;

impl Counter {
    /// Begins to count at `since`; with `previous`, what that one counted is taken over.
    pub(crate) fn new(
        id: LimitId,
        definition: &Definition,
        limit: Limit,
        room: Arc<Room>,
        previous: Option<Arc<Counter>>,
        since: Timestamp,
    ) -> Counter {
        let stage = if previous.is_some() { Stage::Awaiting } else { Stage::Here };
        // A successor's shards answer to its predecessor's, one to one.
        let shards = previous.as_ref().map_or_else(|| shards_for(room.max()), |p| p.shards());
        Counter {
            id,
            class: definition.class.clone(),
            shape: definition.shape.clone(),
            counts: Counts::new(limit.words(), shards, stage),
            fresh: limit.encode(&State::Fresh),
            limit,
            room,
            period: SeenPeriod::default(),
            previous: Mutex::new(previous),
            since,
        }
    }

    /// One whose shards, `shards` of them, await their counts from elsewhere: see [`Counter::fill`].
    pub(crate) fn awaiting(
        id: LimitId,
        definition: &Definition,
        limit: Limit,
        room: Arc<Room>,
        shards: usize,
        since: Timestamp,
    ) -> Counter {
        Counter {
            id,
            class: definition.class.clone(),
            shape: definition.shape.clone(),
            counts: Counts::new(limit.words(), shards, Stage::Awaiting),
            fresh: limit.encode(&State::Fresh),
            limit,
            room,
            period: SeenPeriod::default(),
            previous: Mutex::new(None),
            since,
        }
    }

    /// How many places a sweep has to visit.
    pub(crate) fn shards(&self) -> usize {
        match &self.counts {
            Counts::Table(table) => table.shards(),
            Counts::Locked(locked) => locked.shards(),
        }
    }

    /// The table, where the states are in one.
    #[inline]
    pub(crate) fn table(&self) -> Option<&Table> {
        match &self.counts {
            Counts::Table(table) => Some(table),
            Counts::Locked(_) => None,
        }
    }

    /// Locks a shard, with its counts.
    pub(crate) fn lock<'c>(
        &'c self,
        locked: &'c Locked,
        shard: usize,
    ) -> Result<MutexGuard<'c, Shard>, Moved> {
        let mut guard = locked.lock(shard);
        if guard.stage == Stage::Awaiting {
            self.take_over_locked(shard, &mut guard);
        }
        if guard.stage == Stage::Here { Ok(guard) } else { Err(Moved) }
    }

    /// Reads a key.
    #[inline(always)]
    pub(crate) fn look<'t>(&self, table: &'t Table, key: KeyHash) -> Result<Look<'t>, Moved> {
        loop {
            match table.look(key) {
                Ok(look) => return Ok(look),
                Err(elsewhere) => self.fetch(table, elsewhere.stage, elsewhere.shard)?,
            }
        }
    }

    /// Gives a key an entry; `false` where there is no memory for it. The caller has room for it, and gives it back where
    /// the entry was there already.
    pub(crate) fn insert(
        &self,
        table: &Table,
        key: KeyHash,
        now: Timestamp,
    ) -> Result<bool, Moved> {
        let leave = || self.room.leave(usize::from(key != KeyHash::OVERFLOW));
        for _ in 0..INSERTIONS {
            match table.insert(key, self.fresh) {
                Inserted::New => return Ok(true),
                Inserted::Old => {
                    leave();
                    return Ok(true);
                }
                Inserted::TooFull => match table.grow(key, &self.judge(now, &[])) {
                    Some(freed) => self.room.leave(freed),
                    None => break,
                },
                Inserted::Elsewhere(elsewhere) => {
                    let fetched = self.fetch(table, elsewhere.stage, elsewhere.shard);
                    fetched.inspect_err(|_| leave())?;
                }
            }
        }
        leave();
        Ok(false)
    }

    /// Takes a shard over that was found awaiting its counts.
    #[cold]
    pub(super) fn fetch(&self, table: &Table, stage: Stage, shard: usize) -> Result<(), Moved> {
        match stage {
            Stage::Moved => Err(Moved),
            Stage::Here => Ok(()),
            Stage::Awaiting => {
                self.take_over_table(table, shard);
                Ok(())
            }
        }
    }

    /// The state that was read of a key.
    #[inline]
    pub(crate) fn state(&self, look: &Look<'_>) -> State {
        if look.is_present() { self.limit.decode(look.words) } else { State::Fresh }
    }

    /// The words that were read of a key, or those that it would begin with.
    #[inline]
    pub(crate) fn words(&self, look: &Look<'_>) -> [u64; 2] {
        if look.is_present() { look.words } else { self.fresh }
    }

    /// Remembers the period of a quota's request.
    #[inline]
    pub(crate) fn saw(&self, period: Option<Period>) {
        if let Some(period) = period {
            self.period.saw(period);
        }
    }

    /// Whether forgetting `state` gives its key nothing.
    pub(crate) fn is_fresh(&self, state: &State, now: Timestamp) -> bool {
        self.limit.is_fresh(state, self.period.at(now), now)
    }

    /// When `state` is as fresh as new, in microseconds since the epoch; `None`: it is.
    pub(crate) fn fresh_at(&self, state: &State, now: Timestamp) -> Option<u64> {
        let period = self.period.at(now);
        if self.limit.is_fresh(state, period, now) {
            return None;
        }
        if period.is_none() && matches!(self.limit.algorithm(), Algorithm::Quota(_)) {
            return Some(u64::MAX);
        }
        Some(now.as_micros().saturating_add(self.limit.standing(state, period, now).reset.get()))
    }
}

/// Most shards of a limit.
pub(crate) const MOST_SHARDS: usize = 2048;

/// How often an insertion is tried while others fill the room that it makes.
const INSERTIONS: usize = 1000;

impl Counts {
    fn new(words: Words, shards: usize, stage: Stage) -> Counts {
        let table = match words {
            Words::One => Table::new(Width::One, shards, stage),
            Words::Two => Table::new(Width::Two, shards, stage),
            Words::Boxed => None,
        };
        table.map_or_else(|| Counts::Locked(Locked::new(shards, stage)), Counts::Table)
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        // What this one still counts leaves the room with it; what a successor took over stays.
        for shard in 0..self.shards() {
            self.room.leave(match &self.counts {
                Counts::Table(table) => table.live(shard),
                Counts::Locked(locked) => locked.lock(shard).counted(),
            });
        }
    }
}

/// Shards for so many keys: few enough that a small limit stays small, enough that rebuilding one is a short pause.
fn shards_for(max: usize) -> usize {
    if max == usize::MAX { 1024 } else { (max / 8192).next_power_of_two().clamp(16, MOST_SHARDS) }
}
