//! The limits that the store holds, and how one set follows another.

use std::sync::Arc;

use super::counter::Counter;
use super::key::Names;
use crate::{Definition, LimitId, StoreError};

/// All limits, by id. Never changed, only replaced.
#[derive(Debug, Default)]
pub(crate) struct Registry {
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
    pub(crate) fn get(&self, id: LimitId) -> Result<&Arc<Counter>, StoreError> {
        match self.counters.get(id.0 as usize) {
            Some(Some(held)) => Ok(&held.counter),
            _ => Err(StoreError::UnknownLimit(id)),
        }
    }

    /// The counters of all limits that are defined.
    pub(crate) fn counters(&self) -> impl Iterator<Item = &Arc<Counter>> {
        self.counters.iter().flatten().filter(|held| !held.retired).map(|held| &held.counter)
    }

    /// The set that follows, and the id of each definition.
    pub(crate) fn follow(
        &self,
        definitions: &[Definition],
        names: &Names,
        virtual_time: bool,
    ) -> (Registry, Vec<LimitId>) {
        let keep = |held: &Option<Held>| {
            let held = held.as_ref().filter(|held| !held.retired)?;
            Some(Held { counter: held.counter.clone(), retired: true })
        };
        let mut next = Registry { counters: self.counters.iter().map(keep).collect() };
        let place = |definition: &Definition| next.place(self, definition, names, virtual_time);
        let ids = definitions.iter().map(place).collect();
        (next, ids)
    }

    fn place(
        &mut self,
        before: &Registry,
        definition: &Definition,
        names: &Names,
        virtual_time: bool,
    ) -> LimitId {
        let mut held = before.counters.iter().flatten();
        let old = held.find(|held| held.counter.continues_as(definition)).map(|held| &held.counter);
        let id = old.map_or(LimitId(self.counters.len() as u32), |old| old.id);
        let counter = match old {
            Some(old) if old.is(definition) => old.clone(),
            old => {
                let old = old.map(Arc::as_ref);
                Arc::new(Counter::new(id, definition, names, old, virtual_time))
            }
        };
        let held = Some(Held { counter, retired: false });
        match self.counters.get_mut(id.0 as usize) {
            Some(slot) => *slot = held,
            None => self.counters.push(held),
        }
        id
    }
}
