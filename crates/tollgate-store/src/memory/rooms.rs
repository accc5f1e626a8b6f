//! How the limits of a memory store follow those before: rooms by name, counts by what continues them.

use std::collections::HashMap;
use std::sync::Arc;

use tollgate_core::{Limit, Timestamp};

use super::counter::Counter;
use super::room::Room;
use crate::registry::{Count, Registry};
use crate::{Definition, LimitId};

impl Count for Counter {
    fn continues_as(&self, definition: &Definition) -> bool {
        self.room.name == definition.name
            && self.class == definition.class
            && self.shape == definition.shape
    }
}

impl Registry<Counter> {
    /// The rooms of all limits that are defined.
    pub(super) fn rooms(&self) -> Vec<&Arc<Room>> {
        let mut rooms: Vec<&Arc<Room>> = Vec::new();
        for counter in self.defined() {
            if !rooms.iter().any(|room| Arc::ptr_eq(room, &counter.room)) {
                rooms.push(&counter.room);
            }
        }
        rooms.sort_by(|a, b| a.name.cmp(&b.name));
        rooms
    }

    /// The set that counts by `definitions` from `now` on, and the id of each. `unbounded` ignores `max_keys`.
    pub(super) fn define(
        &self,
        definitions: &[Definition],
        now: Timestamp,
        unbounded: bool,
    ) -> (Registry<Counter>, Vec<LimitId>) {
        let mut rooms = HashMap::new();
        self.follow(definitions, |id, definition, old| {
            let name = &definition.name;
            let room = rooms.entry(name.clone()).or_insert_with(|| {
                let max = if unbounded { usize::MAX } else { definition.max_keys };
                self.room(name, max, definitions)
            });
            // A bucket that starts empty was empty when the limit was first loaded: a reload does not empty it again.
            let limit = match old.and_then(|old| old.limit.empty_at()) {
                Some(first) => definition.limit.loaded_at(first),
                None => definition.limit.clone(),
            };
            match old {
                Some(old) if same(&old.limit, &limit) && Arc::ptr_eq(&old.room, room) => {
                    Arc::clone(old)
                }
                old => {
                    let old = old.map(Arc::clone);
                    Arc::new(Counter::new(id, definition, limit, room.clone(), old, now))
                }
            }
        })
    }

    /// The room of the limit `name`. A new one where a class of it is retired, whose keys must not fill the room of the
    /// others while it waits to be forgotten.
    fn room(&self, name: &Arc<str>, max: usize, definitions: &[Definition]) -> Arc<Room> {
        let continued =
            |counter: &Arc<Counter>| definitions.iter().any(|one| counter.continues_as(one));
        let mut known = self.defined().filter(|counter| counter.room.name == *name);
        match known.next() {
            Some(first) if continued(first) && known.all(continued) => {
                first.room.resize(max);
                first.room.clone()
            }
            Some(first) => Arc::new(Room::after(&first.room, max)),
            None => Arc::new(Room::new(name.clone(), max)),
        }
    }
}

fn same(a: &Limit, b: &Limit) -> bool {
    a.algorithm() == b.algorithm() && a.rules() == b.rules()
}
