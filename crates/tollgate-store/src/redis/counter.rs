//! One limit of one class under one set of parameters, as the shared store counts it.

use std::sync::{Arc, OnceLock};

use tollgate_core::Limit;

use super::carry::Known;
use super::key::{Names, Purpose, Scope};
use super::wire::{Parameters, Unsupported};
use crate::memory::SeenPeriod;
use crate::registry::Count;
use crate::{Definition, LimitId, Shape};

/// Parameters, and the names of what is counted under them.
#[derive(Debug)]
pub(crate) struct Counter {
    pub(crate) id: LimitId,
    pub(crate) name: Arc<str>,
    pub(crate) class: Option<Arc<str>>,
    pub(crate) shape: Shape,
    /// As it was defined.
    pub(crate) limit: Limit,
    pub(crate) scope: Scope,
    /// The latest period that requests brought, where this is a quota.
    pub(crate) period: SeenPeriod,
    /// Other parameters under which a bucket of this limit may have been written.
    pub(crate) known: Known,
    live: OnceLock<Result<Live, Unsupported>>,
}

/// What decisions go by.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) limit: Limit,
    pub(crate) parameters: Parameters,
    /// The same where a cost is charged whatever anybody says.
    pub(crate) by_force: Parameters,
}

impl Live {
    fn new(limit: Limit, virtual_time: bool) -> Result<Live, Unsupported> {
        let parameters = Parameters::new(&limit, virtual_time)?;
        let by_force = parameters.by_force(&limit, virtual_time);
        Ok(Live { limit, parameters, by_force })
    }
}

impl Count for Counter {
    fn continues_as(&self, definition: &Definition) -> bool {
        self.name == definition.name
            && self.class == definition.class
            && self.shape == definition.shape
    }
}

impl Counter {
    /// Begins to count as `definition` says; `old` is what counted before under the same name, class and shape.
    pub(crate) fn new(
        id: LimitId,
        definition: &Definition,
        names: &Names,
        old: Option<&Counter>,
        virtual_time: bool,
    ) -> Counter {
        let counter = Counter {
            id,
            name: definition.name.clone(),
            class: definition.class.clone(),
            shape: definition.shape.clone(),
            limit: definition.limit.clone(),
            scope: names.scope(definition),
            period: SeenPeriod::default(),
            known: Known::after(old.map(|old| (&old.known, &old.limit))),
            live: OnceLock::new(),
        };
        if let Some(old) = old {
            counter.period.carry(&old.period);
        }
        // In a replay nobody else loads limits; elsewhere, when one that begins empty was first loaded is asked for later.
        if virtual_time {
            let first = old.and_then(|old| old.live.get()?.as_ref().ok()).map(|live| &live.limit);
            // A bucket that starts empty was empty when the limit was first loaded: a reload does not empty it again.
            let limit = match first.and_then(Limit::empty_at) {
                Some(moment) => counter.limit.loaded_at(moment),
                None => counter.limit.clone(),
            };
            counter.load(limit, virtual_time);
        } else if !counter.begins_empty() {
            counter.load(counter.limit.clone(), virtual_time);
        }
        counter
    }

    /// Whether it is what `definition` asks for already.
    pub(crate) fn is(&self, definition: &Definition) -> bool {
        self.limit.algorithm() == definition.limit.algorithm()
            && self.limit.rules() == definition.limit.rules()
    }

    /// What the store knows a key by.
    pub(crate) fn digest(&self, key: &[u8]) -> u128 {
        self.scope.digest(Purpose::State, key)
    }

    /// Whether new keys begin with nothing.
    pub(crate) fn begins_empty(&self) -> bool {
        self.limit.empty_at().is_some()
    }

    /// What decisions go by; `None` until it is known when the limit was first loaded.
    pub(crate) fn live(&self) -> Option<Result<&Live, &Unsupported>> {
        self.live.get().map(Result::as_ref)
    }

    /// Goes by `limit` from now on, unless that has happened.
    pub(crate) fn load(&self, limit: Limit, virtual_time: bool) {
        self.live.get_or_init(|| Live::new(limit, virtual_time));
    }
}
