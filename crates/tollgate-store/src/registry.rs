//! The limits that a store holds, and how one set follows another.

use std::sync::Arc;

use crate::{Definition, LimitId, StoreError};

/// All limits, by id; `C` is what counts one. Never changed, only replaced.
#[derive(Debug)]
pub(crate) struct Registry<C> {
    held: Vec<Option<Held<C>>>,
}

#[derive(Debug)]
struct Held<C> {
    counter: Arc<C>,
    /// No longer defined; kept until the next set for calls that began before.
    retired: bool,
}

/// What counts one limit.
pub(crate) trait Count {
    /// Whether `definition` goes on with what was counted.
    fn continues_as(&self, definition: &Definition) -> bool;
}

impl<C> Default for Registry<C> {
    fn default() -> Registry<C> {
        Registry { held: Vec::new() }
    }
}

impl<C: Count> Registry<C> {
    /// The set that `counters` count, with their places as ids.
    pub(crate) fn of(counters: Vec<Arc<C>>) -> Registry<C> {
        let held = |counter| Some(Held { counter, retired: false });
        Registry { held: counters.into_iter().map(held).collect() }
    }

    /// The counter of `id`.
    #[inline]
    pub(crate) fn get(&self, id: LimitId) -> Result<&Arc<C>, StoreError> {
        match self.held.get(id.0 as usize) {
            Some(Some(held)) => Ok(&held.counter),
            _ => Err(StoreError::UnknownLimit(id)),
        }
    }

    /// All counters, also of limits that are no longer defined.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<C>> {
        self.held.iter().flatten().map(|held| &held.counter)
    }

    /// The counters of all limits that are defined.
    pub(crate) fn defined(&self) -> impl Iterator<Item = &Arc<C>> {
        self.held.iter().flatten().filter(|held| !held.retired).map(|held| &held.counter)
    }

    /// The set that follows, and the id of each definition. `counter` makes what counts a definition, or goes on with what
    /// counted before it.
    pub(crate) fn follow(
        &self,
        definitions: &[Definition],
        mut counter: impl FnMut(LimitId, &Definition, Option<&Arc<C>>) -> Arc<C>,
    ) -> (Registry<C>, Vec<LimitId>) {
        let retire = |held: &Option<Held<C>>| {
            let held = held.as_ref().filter(|held| !held.retired)?;
            Some(Held { counter: held.counter.clone(), retired: true })
        };
        let mut held: Vec<_> = self.held.iter().map(retire).collect();
        let place = |definition: &Definition| {
            let place = self.place_of(definition).unwrap_or(held.len());
            let id = LimitId(place as u32);
            let counter = counter(id, definition, self.get(id).ok());
            let new = Some(Held { counter, retired: false });
            match held.get_mut(place) {
                Some(slot) => *slot = new,
                None => held.push(new),
            }
            id
        };
        let ids = definitions.iter().map(place).collect();
        (Registry { held }, ids)
    }

    fn place_of(&self, definition: &Definition) -> Option<usize> {
        let known = |held: &Held<C>| held.counter.continues_as(definition);
        self.held.iter().position(|held| held.as_ref().is_some_and(known))
    }
}
