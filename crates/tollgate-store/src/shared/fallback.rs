//! What the node knows of a key, for when it has to go on alone; and which keys are exhausted.

use tollgate_core::{Charged, Limit, Period, Standing, State, Timestamp};

use super::Node;
use super::course::{Asked, Portion};
use super::limits::Held;
use super::remote::Remote;
use crate::memory::KeyHash;
use crate::{Call, OnStoreFailure, StoreOutcome};

impl<R: Remote> Node<R> {
    /// Remembers what the shared store said of `far`.
    pub(super) fn learn(
        &self,
        call: &Call<'_>,
        asked: &[Asked<'_>],
        far: &Portion<'_>,
        said: &StoreOutcome,
    ) {
        for ((place, charge), one) in far.places.iter().zip(&far.charges).zip(&said.limits) {
            let Asked { held, key, .. } = &asked[*place];
            let outcome = &one.outcome;
            self.seed(held, *key, outcome.standing, charge.period, call.now);
            if call.hold.is_some() || !held.stays_exhausted() {
                continue;
            }
            // Charges with equal limit and key were asked together.
            let same = |other: &&Asked<'_>| other.held.id == held.id && other.key == *key;
            let cost = asked
                .iter()
                .filter(same)
                .fold(0u64, |sum, other| sum.saturating_add(other.charge.cost));
            debug_assert!(charge.cost <= cost);
            if outcome.refused {
                self.exhausted.note(held.id, *key, cost, outcome, call.now);
            } else if !self.exhausted.is_empty() {
                self.exhausted.admitted(held.id, *key, cost);
            }
        }
    }

    /// Writes what is left of a key, divided by the nodes, into the node's own part of the limit.
    pub(super) fn seed(
        &self,
        held: &Held,
        key: KeyHash,
        standing: Standing,
        period: Option<Period>,
        now: Timestamp,
    ) {
        // When slots are given back is not known, so none are held on behalf of others.
        if held.on_store_failure() != OnStoreFailure::Share || held.has_slots() {
            return;
        }
        let left = standing.remaining.div_ceil(u64::from(self.live_nodes()));
        // Without room for the key it begins fresh, or shares the overflow bucket.
        let _ = self.local.rewrite_now(held.away, key, now, |part, state| {
            let seeded = with_left(part, left, period, now);
            let changed = *state != seeded;
            *state = seeded;
            changed
        });
    }
}

/// A state of `limit` of which `left` units are left, or all there are.
fn with_left(limit: &Limit, left: u64, period: Option<Period>, now: Timestamp) -> State {
    let mut state = State::Fresh;
    let full = limit.standing(&state, period, now).remaining;
    charge_anyway(limit, &mut state, full.saturating_sub(left), period, now);
    state
}

/// Charges `units` to `state`, whatever is left.
pub(super) fn charge_anyway(
    limit: &Limit,
    state: &mut State,
    units: u64,
    period: Option<Period>,
    now: Timestamp,
) {
    let nothing = Charged { units: 0, fraction: 0, at: now, ticket: 0 };
    if units > 0 {
        limit.settle(state, &nothing, units, period, now);
    }
}

/// How many units are missing until `state` is as fresh as new, in whole units.
pub(super) fn missing(limit: &Limit, state: &State, period: Option<Period>, now: Timestamp) -> u64 {
    let left = |state: &State| limit.standing(state, period, now).remaining;
    left(&State::Fresh).saturating_sub(left(state))
}

/// Whether what was counted in `period` may still count at `now`.
pub(super) fn is_over(period: Option<Period>, now: Timestamp) -> bool {
    period.is_some_and(|period| period.end <= now)
}
