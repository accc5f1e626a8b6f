//! A reload's successor takes the counts over, shard by shard: those that are asked for at once, the rest in turn.

use std::sync::Arc;

use tollgate_core::State;

use super::counter::{Counter, Counts};
use super::hash::KeyHash;
use super::locked::{Shard, Stage};
use super::table::{Entry, Table};

/// A key's place within its shard, and its state.
pub(super) type Held = (u128, State);

impl Counter {
    /// Takes all counts over that are still with the predecessor, and lets go of it.
    pub(super) fn take_over_all(&self) {
        if self.previous.lock().is_none() {
            return;
        }
        for shard in 0..self.shards() {
            match &self.counts {
                Counts::Table(table) => self.take_over_table(table, shard),
                Counts::Locked(locked) => drop(self.lock(locked, shard)),
            }
        }
        *self.previous.lock() = None;
    }

    /// Takes a shard over into the table, unless that has happened.
    pub(super) fn take_over_table(&self, table: &Table, shard: usize) {
        let lost = table.move_in(shard, || self.entries(self.hand_over(shard)));
        self.room.leave(lost);
    }

    fn entries(&self, held: Vec<Held>) -> Vec<Entry> {
        let entry = |(key, state): Held| Entry {
            index: (key >> 64) as u32,
            fingerprint: key as u64,
            words: self.limit.encode(&state),
        };
        held.into_iter().map(entry).collect()
    }

    /// Gives a shard that awaits its counts `held`, each key once, whatever the room.
    pub(super) fn fill(&self, shard: usize, held: Vec<Held>) {
        let overflow = KeyHash::OVERFLOW.stored();
        self.room.admit(held.iter().filter(|(key, _)| *key != overflow).count());
        match &self.counts {
            Counts::Table(table) => {
                let lost = table.move_in(shard, || self.entries(held));
                self.room.leave(lost);
            }
            Counts::Locked(locked) => {
                let mut guard = locked.lock(shard);
                guard.stage = Stage::Here;
                guard.keys.extend(held);
            }
        }
    }

    /// Takes a shard over into a locked map.
    pub(super) fn take_over_locked(&self, shard: usize, into: &mut Shard) {
        into.stage = Stage::Here;
        into.keys.extend(self.hand_over(shard));
    }

    /// What the predecessor counted in a shard, as these parameters go on with it. The lock order is successor before
    /// predecessor, everywhere.
    fn hand_over(&self, shard: usize) -> Vec<Held> {
        let Some(previous) = self.previous.lock().clone() else { return Vec::new() };
        let held = previous.move_out(shard);
        self.period.carry(&previous.period);
        if !Arc::ptr_eq(&self.room, &previous.room) {
            let overflow = KeyHash::OVERFLOW.stored();
            let keys = held.iter().filter(|(key, _)| *key != overflow).count();
            self.room.admit(keys);
            previous.room.leave(keys);
        }
        let carry = |state| self.limit.carry_over(&previous.limit, state, self.since);
        held.into_iter().map(|(key, state)| (key, carry(state))).collect()
    }

    /// Gives all counts of a shard away.
    fn move_out(&self, shard: usize) -> Vec<Held> {
        match &self.counts {
            Counts::Table(table) => {
                self.take_over_table(table, shard);
                let held = |e: Entry| (e.key(), self.limit.decode(e.words));
                table.move_out(shard).into_iter().map(held).collect()
            }
            Counts::Locked(locked) => {
                let Ok(mut guard) = self.lock(locked, shard) else { return Vec::new() };
                guard.stage = Stage::Moved;
                std::mem::take(&mut guard.keys).into_iter().collect()
            }
        }
    }
}
