//! How each charge of a call is decided.

use std::sync::Arc;

use smallvec::SmallVec;
use tollgate_core::Outcome;

use super::limits::Held;
use crate::memory::KeyHash;
use crate::{Charge, LimitId, OnStoreFailure, Source};

/// Who decides a charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Course {
    /// The local store, which calls the limit this.
    Near(LimitId, Source),
    /// The shared store, which calls the limit this.
    Far(LimitId),
    /// Units on lease; where there are none in hand, the shared store, which calls the limit this.
    Lease(LimitId),
    /// Units on lease have said this.
    Leased(Outcome),
    /// Nobody: the shared store is away, and everything passes.
    Pass,
    /// Nobody: the shared store is away, and nothing passes.
    Refuse,
}

/// One charge of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'c> {
    pub(super) held: &'c Arc<Held>,
    pub(super) charge: Charge<'c>,
    /// The local store's name of its key.
    pub(super) key: KeyHash,
    pub(super) course: Course,
}

/// All charges of a call, in its order.
pub(super) type Call<'c> = SmallVec<[Asked<'c>; 4]>;

impl Asked<'_> {
    pub(super) fn is_far(&self) -> bool {
        matches!(self.course, Course::Far(_))
    }

    /// Whether units on lease may say.
    pub(super) fn is_leased(&self) -> bool {
        matches!(self.course, Course::Lease(_))
    }

    /// Whether only the shared store can say.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self.course, Course::Far(_) | Course::Lease(_))
    }

    /// The shared store is away, or not to be asked for this key now.
    pub(super) fn go_without(&mut self) {
        if self.is_shared() {
            self.course = match self.held.on_store_failure() {
                OnStoreFailure::Share => Course::Near(self.held.away, Source::Failure),
                OnStoreFailure::Allow => Course::Pass,
                OnStoreFailure::Refuse => Course::Refuse,
            };
        }
    }

    /// Whether the request is refused without asking anybody.
    pub(super) fn refuses(&self) -> bool {
        let refuses = match self.course {
            Course::Refuse => true,
            Course::Leased(outcome) => outcome.refused,
            _ => false,
        };
        refuses && !self.held.rules().shadow
    }
}

/// Some of a call's charges, as one store is asked for them.
#[derive(Debug, Default)]
pub(super) struct Portion<'c> {
    pub(super) charges: SmallVec<[Charge<'c>; 4]>,
    /// The place of each in the call.
    pub(super) places: SmallVec<[usize; 4]>,
}

impl<'c> Portion<'c> {
    /// Those for which `limit` has the store's name of the limit.
    pub(super) fn of(
        asked: &[Asked<'c>],
        limit: impl Fn(&Asked<'c>) -> Option<LimitId>,
    ) -> Portion<'c> {
        let mut portion = Portion::default();
        for (place, one) in asked.iter().enumerate() {
            if let Some(limit) = limit(one) {
                portion.charges.push(Charge { limit, ..one.charge });
                portion.places.push(place);
            }
        }
        portion
    }

    /// Those that the local store decides.
    pub(super) fn near(asked: &[Asked<'c>]) -> Portion<'c> {
        Portion::of(asked, |one| match one.course {
            Course::Near(limit, _) => Some(limit),
            _ => None,
        })
    }

    /// Those that the shared store decides.
    pub(super) fn far(asked: &[Asked<'c>]) -> Portion<'c> {
        Portion::of(asked, |one| match one.course {
            Course::Far(limit) => Some(limit),
            _ => None,
        })
    }
}
