//! The limits that a node holds: how each is counted, and what its stores call it.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use smallvec::SmallVec;
use tollgate_core::{Algorithm, Limit, Micros, Rules};

use super::lease::Pace;
use super::share::{Part, Rest, closed};
use crate::{Definition, LimitId, OnStoreFailure, Shape, Sharing, Source, StoreError, SyncMode};

/// All limits, by id. Never changed, only replaced.
#[derive(Debug)]
pub(super) struct Limits {
    held: Vec<Option<Arc<Held>>>,
    /// Among whom they are divided.
    pub(super) nodes: Nodes,
    /// The local store's name of a limit that admits nothing: asked along, it stands for a refusal elsewhere.
    pub(super) refuser: LimitId,
}

/// One limit. Its id is the local store's name of its first local form.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) id: LimitId,
    pub(super) definition: Definition,
    /// What the shared store calls it, where that counts it.
    pub(super) remote: Option<LimitId>,
    /// What the local store calls its part of the limit while the shared store is away.
    pub(super) away: LimitId,
    /// That part.
    pub(super) part: Limit,
    /// Whether anything that was charged has been given back, or will be: then a key that is exhausted may not stay so.
    pub(super) gives_back: Arc<AtomicBool>,
    /// How fast the store is asked about it, where it is leased.
    pub(super) pace: Option<Pace>,
    /// No longer defined; kept until the next set for calls that began before.
    pub(super) retired: bool,
}

/// The nodes that count together, as this one knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Nodes {
    pub(super) live: NonZeroU32,
    /// This node's place among them, from 0.
    pub(super) rank: u32,
}

impl Limits {
    /// None yet.
    pub(super) fn none(nodes: Nodes, refuser: LimitId) -> Limits {
        Limits { held: Vec::new(), nodes, refuser }
    }

    /// The limit `id`.
    #[inline]
    pub(super) fn get(&self, id: LimitId) -> Result<&Arc<Held>, StoreError> {
        match self.held.get(id.0 as usize) {
            Some(Some(held)) => Ok(held),
            _ => Err(StoreError::UnknownLimit(id)),
        }
    }

    /// What the shared store says of one of its limits, in the node's own words.
    pub(super) fn translate(&self, error: StoreError) -> StoreError {
        let known = |remote: LimitId| self.all().find(|held| held.remote == Some(remote));
        let own = |remote: LimitId| known(remote).map_or(remote, |held| held.id);
        match error {
            StoreError::UnknownLimit(limit) => StoreError::UnknownLimit(own(limit)),
            StoreError::MissingPeriod(limit) => StoreError::MissingPeriod(own(limit)),
            StoreError::Inexact(limit) => StoreError::Inexact(own(limit)),
            StoreError::OutOfMemory(limit) => StoreError::OutOfMemory(own(limit)),
            other => other,
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Held>> {
        self.held.iter().flatten()
    }

    pub(super) fn put(&mut self, held: Held) {
        let place = held.id.0 as usize;
        if self.held.len() <= place {
            self.held.resize(place + 1, None);
        }
        self.held[place] = Some(Arc::new(held));
    }
}

impl Nodes {
    /// What this node does without the shared store: its part, rounded up.
    pub(super) fn away(self, limit: &Limit) -> Limit {
        Part { nodes: self.live, rest: Rest::Everybody }.of(limit)
    }

    /// The forms of `definition` that the local store counts by; the last is for while the shared store is away.
    pub(super) fn local_forms(self, definition: &Definition) -> SmallVec<[Definition; 2]> {
        let with = |limit: Limit| Definition { limit, ..definition.clone() };
        let away = self.away(&definition.limit);
        let mut forms = SmallVec::new();
        match definition.sharing.sync {
            SyncMode::Node => forms.push(definition.clone()),
            SyncMode::Share => {
                let rest = Rest::ByRank(self.rank);
                forms.push(with(Part { nodes: self.live, rest }.of(&definition.limit)));
            }
            SyncMode::Exact | SyncMode::Leased => forms.push(with(away)),
            SyncMode::Estimate { .. } => {
                forms.push(definition.clone());
                let name = format!("{}{AWAY}", definition.name).into();
                forms.push(Definition { name, ..with(away) });
            }
        }
        forms
    }
}

/// What tells the second local form of a limit from the first; no limit's name has a NUL.
const AWAY: &str = "\0away";

/// Whether `name` is that of a limit that somebody defined.
pub(super) fn is_defined(name: &str) -> bool {
    !name.contains('\0')
}

/// The pace of a limit that is leased. One that charges refused requests is counted exactly.
pub(super) fn pace_of(definition: &Definition) -> Option<Pace> {
    let Rules { count_refused, overdraw, .. } = definition.limit.rules();
    let leased = definition.sharing.sync == SyncMode::Leased && !count_refused && !overdraw;
    Pace::of(&definition.limit).filter(|_| leased)
}

/// A limit that admits nothing, for the local store.
pub(super) fn refuser() -> Definition {
    let limit = Limit::new(closed(), Rules::default()).expect("a bucket of nothing is a limit");
    let (name, shape) = ("\0refuser".into(), Shape(String::new()));
    Definition { name, class: None, limit, shape, max_keys: 1, sharing: Sharing::default() }
}

impl Held {
    pub(super) fn rules(&self) -> &Rules {
        self.definition.limit.rules()
    }

    /// Whose word an outcome of its local form is, where that decides; `None`: the shared store is asked.
    #[inline]
    pub(super) fn near(&self) -> Option<Source> {
        match self.definition.sharing.sync {
            SyncMode::Node => Some(Source::Node),
            SyncMode::Share => Some(Source::Share),
            SyncMode::Estimate { .. } => Some(Source::Estimate),
            SyncMode::Exact | SyncMode::Leased => None,
        }
    }

    /// Whether it charges though another limit refuses, or may.
    pub(super) fn charges_refused(&self) -> bool {
        self.rules().count_refused || self.rules().overdraw
    }

    pub(super) fn on_store_failure(&self) -> OnStoreFailure {
        self.definition.sharing.on_store_failure
    }

    /// The greatest cost that it ever admits.
    pub(super) fn capacity(&self) -> u64 {
        self.definition.limit.capacity()
    }

    pub(super) fn has_slots(&self) -> bool {
        matches!(self.definition.limit.algorithm(), Algorithm::Concurrency(_))
    }

    /// Whether a key of it that is exhausted stays so until the time that the store gave.
    pub(super) fn stays_exhausted(&self) -> bool {
        let gives_back = self.gives_back.load(Ordering::Relaxed) || self.has_slots();
        !gives_back && !self.rules().shadow && !self.charges_refused()
    }

    /// How often the sum is fetched, for an estimate.
    pub(super) fn every(&self) -> Option<Micros> {
        match self.definition.sharing.sync {
            SyncMode::Estimate { every } => Some(every),
            _ => None,
        }
    }
}
