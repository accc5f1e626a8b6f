//! Concurrency: slots held from admission to release, or until they free themselves.

use alloc::boxed::Box;

use crate::allowance::{Allowance, Used};
use crate::moment::{Checked, Commit, Moment, Taken, Ticket};
use crate::spec_error::checked_span;
use crate::state::Slots;
use crate::{Charged, Concurrency, Micros, Outcome, Retry, Rules, SpecError, Standing, State};

/// A compiled concurrency limit.
#[derive(Clone, Debug)]
pub(crate) struct ConcurrencyPlan {
    pub(crate) allowance: Allowance,
    pub(crate) ttl: u64,
}

pub(crate) fn compile(spec: &Concurrency, rules: &Rules) -> Result<ConcurrencyPlan, SpecError> {
    let ttl = checked_span("ttl", spec.ttl)?;
    Ok(ConcurrencyPlan { allowance: Allowance::new(spec.limit, rules)?, ttl })
}

fn held(state: &State) -> u64 {
    match state {
        State::Slots(slots) => slots.total,
        _ => 0,
    }
}

impl ConcurrencyPlan {
    /// Frees the slots that have ended. Slots that a clock that was wrong lets end more than two `ttl` from now end one from now.
    pub(crate) fn tidy(&self, state: &mut State, at: Moment<'_>) -> bool {
        let State::Slots(slots) = state else {
            *state = State::Fresh;
            return false;
        };
        while let Some(slot) = slots.held.first_entry().filter(|slot| slot.key().0 <= at.now) {
            slots.total -= slot.remove();
        }
        let last = slots.held.last_key_value().map_or(0, |((end, _), _)| *end);
        let clamped = last.saturating_sub(at.now) > self.ttl.saturating_mul(2);
        if clamped {
            let cut = |((end, ticket), units): ((u64, u64), u64)| {
                ((end.min(at.now + self.ttl), ticket), units)
            };
            slots.held = core::mem::take(&mut slots.held).into_iter().map(cut).collect();
        }
        if slots.held.is_empty() {
            *state = State::Fresh;
        }
        clamped
    }

    pub(crate) fn check(&self, state: &mut State, cost: u64, at: Moment<'_>) -> Checked {
        let clamped = self.tidy(state, at);
        Checked::at_once(self.allowance.refuses(Used::exactly(held(state)), cost), clamped)
    }

    pub(crate) fn commit(
        &self,
        state: &mut State,
        at: Moment<'_>,
        what: &Commit,
        outcome: &mut Outcome,
    ) {
        if what.take {
            outcome.took(self.take(state, what.cost, at, what.ticket));
        }
        // When a slot frees is not known.
        if what.retry && self.allowance.never(what.cost) {
            outcome.retry = Retry::Never;
        }
        outcome.standing = self.standing(state, at);
    }

    /// Takes slots until they are released, at most for `ttl`; slots held for no time at all are not taken.
    fn take(&self, state: &mut State, cost: u64, at: Moment<'_>, ticket: Ticket) -> Taken {
        let held = ticket.held.map_or(self.ttl, |held| held.min(self.ttl));
        if held == 0 || cost == 0 {
            return Taken::units(0, at.now);
        }
        if !matches!(state, State::Slots(_)) {
            *state = State::Slots(Box::default());
        }
        let State::Slots(slots) = state else { return Taken::units(0, at.now) };
        let units = self.allowance.take(Used::exactly(slots.total), cost);
        if units > 0 {
            *slots.held.entry((at.now + held, ticket.number)).or_insert(0) += units;
            slots.total += units;
        }
        Taken::units(units, at.now)
    }

    /// The slot that `charged` took, unless it has ended: usually one that ends `ttl` later, else any of that ticket.
    fn find(&self, slots: &Slots, charged: &Charged) -> Option<(u64, u64)> {
        let usual = (charged.at.as_micros() + self.ttl, charged.ticket);
        if slots.held.contains_key(&usual) {
            return Some(usual);
        }
        slots.held.keys().find(|(_, ticket)| *ticket == charged.ticket).copied()
    }

    /// Gives back the slots beyond `keep`; `true` where there were any.
    pub(crate) fn give_back(&self, state: &mut State, charged: &Charged, keep: u64) -> bool {
        let State::Slots(slots) = state else { return false };
        let Some(slot) = self.find(slots, charged) else { return false };
        let units = slots.held.get(&slot).copied().unwrap_or(0);
        let back = units.min(charged.units.saturating_sub(keep));
        slots.total -= back;
        if back == units {
            slots.held.remove(&slot);
        } else {
            slots.held.insert(slot, units - back);
        }
        back > 0
    }

    /// Adds up to `more` units to the slot that `charged` took, if it is still held; tells how many.
    pub(crate) fn widen(&self, state: &mut State, charged: &Charged, more: u64) -> u64 {
        let State::Slots(slots) = state else { return 0 };
        let units = self.allowance.take(Used::exactly(slots.total), more);
        let slot = self.find(slots, charged).and_then(|slot| slots.held.get_mut(&slot));
        let Some(held) = slot else { return 0 };
        *held += units;
        slots.total += units;
        units
    }

    pub(crate) fn standing(&self, state: &State, at: Moment<'_>) -> Standing {
        let reset = match state {
            State::Slots(slots) => {
                slots.held.last_key_value().map_or(Micros::ZERO, |((end, _), _)| at.until(*end))
            }
            _ => Micros::ZERO,
        };
        let remaining = self.allowance.remaining(Used::exactly(held(state)));
        Standing { remaining, reset, next: Micros::ZERO }
    }
}
