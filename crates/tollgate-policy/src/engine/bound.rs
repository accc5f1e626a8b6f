//! A policy whose limits a store knows.

use std::ops::Deref;

use tollgate_core::Timestamp;
use tollgate_store::{Definition, LimitId, Store};

use crate::Policy;

/// A policy in force.
#[derive(Debug)]
pub struct Bound {
    policy: Policy,
    version: u64,
    /// As the store was told.
    definitions: Vec<Definition>,
    /// The store's names of them, in the same order.
    ids: Vec<LimitId>,
}

impl Bound {
    /// Tells `store` the limits of `policy`, which follows `before`.
    pub(super) fn new(
        policy: Policy,
        store: &impl Store,
        before: Option<&Bound>,
        now: Timestamp,
    ) -> Bound {
        let mut definitions = policy.definitions().to_vec();
        for definition in &mut definitions {
            date(definition, before, now);
        }
        let ids = store.define(&definitions, now);
        let version = before.map_or(1, |before| before.version + 1);
        Bound { policy, version, definitions, ids }
    }

    /// 1 at first, one more with each reload.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The store's name of a definition.
    pub(super) fn id(&self, definition: usize) -> LimitId {
        self.ids[definition]
    }
}

impl Deref for Bound {
    type Target = Policy;

    fn deref(&self) -> &Policy {
        &self.policy
    }
}

/// Says of a bucket with `initial: empty` when it was: when it was first loaded, also where that was before a reload.
fn date(definition: &mut Definition, before: Option<&Bound>, now: Timestamp) {
    if definition.limit.empty_at().is_none() {
        return;
    }
    let known = before.into_iter().flat_map(|before| &before.definitions).find(|known| {
        known.name == definition.name
            && known.class == definition.class
            && known.shape == definition.shape
    });
    let loaded = known.and_then(|known| known.limit.empty_at());
    definition.limit = definition.limit.loaded_at(loaded.unwrap_or(now));
}
