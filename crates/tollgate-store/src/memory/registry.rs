//! The limits that a store holds, and how one set follows another.

use std::collections::HashMap;
use std::sync::Arc;

use tollgate_core::{Algorithm, Limit, Timestamp};

use super::counter::Counter;
use super::room::Room;
use crate::{Definition, LimitId, StoreError};

/// All limits, by id. Never changed, only replaced.
#[derive(Debug, Default)]
pub(super) struct Registry {
    counters: Vec<Option<Held>>,
}

#[derive(Clone, Debug)]
struct Held {
    counter: Arc<Counter>,
    /// No longer defined; kept until the next set for calls that began before.
    retired: bool,
}

impl Registry {
    /// The counter of `id`.
    pub(super) fn get(&self, id: LimitId) -> Result<&Arc<Counter>, StoreError> {
        match self.counters.get(id.0 as usize) {
            Some(Some(held)) => Ok(&held.counter),
            _ => Err(StoreError::UnknownLimit(id)),
        }
    }

    /// All counters.
    pub(super) fn counters(&self) -> impl Iterator<Item = &Arc<Counter>> {
        self.counters.iter().flatten().map(|held| &held.counter)
    }

    /// The rooms of all limits that are defined.
    pub(super) fn rooms(&self) -> Vec<&Arc<Room>> {
        let mut rooms: Vec<&Arc<Room>> = Vec::new();
        for held in self.counters.iter().flatten().filter(|held| !held.retired) {
            if !rooms.iter().any(|room| Arc::ptr_eq(room, &held.counter.room)) {
                rooms.push(&held.counter.room);
            }
        }
        rooms.sort_by(|a, b| a.name.cmp(&b.name));
        rooms
    }

    /// The set that follows, and the id of each definition. `unbounded` ignores `max_keys`.
    pub(super) fn follow(
        &self,
        definitions: &[Definition],
        now: Timestamp,
        unbounded: bool,
    ) -> (Registry, Vec<LimitId>) {
        let mut next = Registry { counters: self.retired() };
        let mut rooms = HashMap::new();
        let ids = definitions
            .iter()
            .map(|definition| {
                let name = &definition.name;
                let room = rooms.entry(name.clone()).or_insert_with(|| {
                    let max = if unbounded { usize::MAX } else { definition.max_keys };
                    self.room(name, max, definitions)
                });
                next.place(definition, room.clone(), now)
            })
            .collect();
        next.forget_retired(self);
        (next, ids)
    }

    /// The present set as the next one begins: all retired.
    fn retired(&self) -> Vec<Option<Held>> {
        let retire = |held: &Option<Held>| {
            held.as_ref().map(|held| Held { counter: held.counter.clone(), retired: true })
        };
        self.counters.iter().map(retire).collect()
    }

    /// The room of the limit `name`. A new one where a class of it is retired, whose keys must not fill the room of the
    /// others while it waits to be forgotten.
    fn room(&self, name: &Arc<str>, max: usize, definitions: &[Definition]) -> Arc<Room> {
        let continued =
            |held: &Held| definitions.iter().any(|definition| continues(&held.counter, definition));
        let mut held = self.counters.iter().flatten();
        let mut held =
            held.by_ref().filter(|held| !held.retired && held.counter.room.name == *name);
        match held.next() {
            Some(first) if continued(first) && held.all(continued) => {
                first.counter.room.resize(max);
                first.counter.room.clone()
            }
            Some(first) => Arc::new(Room::after(&first.counter.room, max)),
            None => Arc::new(Room::new(name.clone(), max)),
        }
    }

    fn place(&mut self, definition: &Definition, room: Arc<Room>, now: Timestamp) -> LimitId {
        let old = self.counters().find(|counter| continues(counter, definition)).cloned();
        let limit = match &old {
            Some(old) => keep_first_load(&old.limit, &definition.limit),
            None => definition.limit.clone(),
        };
        let id = old.as_ref().map_or(LimitId(self.counters.len() as u32), |old| old.id);
        let counter = match old {
            Some(old) if same(&old.limit, &limit) && Arc::ptr_eq(&old.room, &room) => old,
            old => Arc::new(Counter::new(id, definition, limit, room, old, now)),
        };
        let held = Some(Held { counter, retired: false });
        match self.counters.get_mut(id.0 as usize) {
            Some(slot) => *slot = held,
            None => self.counters.push(held),
        }
        id
    }

    /// Forgets those that `before` had retired already and that were not defined again.
    fn forget_retired(&mut self, before: &Registry) {
        for (slot, old) in self.counters.iter_mut().zip(&before.counters) {
            let was_retired = old.as_ref().is_some_and(|held| held.retired);
            if was_retired && slot.as_ref().is_some_and(|held| held.retired) {
                *slot = None;
            }
        }
    }
}

/// Whether `definition` takes over what `counter` counted.
fn continues(counter: &Counter, definition: &Definition) -> bool {
    counter.room.name == definition.name
        && counter.class == definition.class
        && counter.shape == definition.shape
}

fn same(a: &Limit, b: &Limit) -> bool {
    a.algorithm() == b.algorithm() && a.rules() == b.rules()
}

/// A bucket that starts empty was empty when the limit was first loaded: a reload does not empty it again.
fn keep_first_load(old: &Limit, new: &Limit) -> Limit {
    let (Algorithm::TokenBucket(old), Algorithm::TokenBucket(bucket)) =
        (old.algorithm(), new.algorithm())
    else {
        return new.clone();
    };
    if old.empty_at.is_none() || bucket.empty_at.is_none() {
        return new.clone();
    }
    let mut bucket = bucket.clone();
    bucket.empty_at = old.empty_at;
    Limit::new(Algorithm::TokenBucket(bucket), new.rules().clone()).unwrap_or_else(|_| new.clone())
}
