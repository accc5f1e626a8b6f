//! The sliding log: every admission is remembered for one window. Exact; memory grows with the limit.

use alloc::boxed::Box;

use crate::allowance::{Allowance, Used};
use crate::moment::{AT_ONCE, Checked, Commit, Moment, Taken, Ticket};
use crate::spec_error::checked_span;
use crate::state::{Entry, Log};
use crate::{Charged, Micros, Outcome, Retry, Rules, SlidingLog, SpecError, Standing, State};

/// The largest limit: a key holds at most that many entries.
const MOST: u64 = 10_000;

/// A compiled sliding log.
#[derive(Clone, Debug)]
pub(crate) struct SlidingLogPlan {
    pub(crate) allowance: Allowance,
    pub(crate) window: u64,
}

pub(crate) fn compile(spec: &SlidingLog, rules: &Rules) -> Result<SlidingLogPlan, SpecError> {
    let window = checked_span("window", spec.window)?;
    if spec.limit > MOST {
        return Err(SpecError::TooLarge {
            parameter: "limit",
            value: spec.limit,
            most: MOST,
            reason: "a sliding log remembers every unit (a sliding window does not)",
        });
    }
    Ok(SlidingLogPlan { allowance: Allowance::new(spec.limit, rules)?, window })
}

fn total(state: &State) -> u64 {
    match state {
        State::Log(log) => log.total,
        _ => 0,
    }
}

impl SlidingLogPlan {
    /// Drops what counts no more. Where the newest entry is ahead of now, by a window at most, time stands still at it;
    /// entries further ahead were written by a wrong clock and are counted from now on.
    pub(crate) fn tidy(&self, state: &mut State, at: Moment<'_>) -> bool {
        let State::Log(log) = state else {
            *state = State::Fresh;
            return false;
        };
        let newest = log.entries.back().map_or(0, |entry| entry.at);
        let clamped = newest.saturating_sub(at.now) > self.window;
        if clamped {
            log.entries.iter_mut().for_each(|entry| entry.at = entry.at.min(at.now));
        }
        let now = if clamped { at.now } else { at.now.max(newest) };
        while let Some(entry) = log.entries.front().filter(|entry| entry.at + self.window <= now) {
            log.total -= entry.units;
            log.entries.pop_front();
        }
        if log.entries.is_empty() {
            *state = State::Fresh;
        }
        clamped
    }

    pub(crate) fn check(&self, state: &mut State, cost: u64, at: Moment<'_>) -> Checked {
        let clamped = self.tidy(state, at);
        Checked::at_once(self.allowance.refuses(Used::exactly(total(state)), cost), clamped)
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
        if what.retry {
            outcome.retry = self.retry(state, what.cost, at);
        }
        outcome.standing = self.standing(state, at);
    }

    fn retry(&self, state: &State, cost: u64, at: Moment<'_>) -> Retry {
        if self.allowance.never(cost) {
            return Retry::Never;
        }
        let State::Log(log) = state else { return AT_ONCE };
        let mut short = (log.total + cost).saturating_sub(self.allowance.limit);
        let mut end = 0;
        for entry in &log.entries {
            if short == 0 {
                break;
            }
            short = short.saturating_sub(entry.units);
            end = entry.at + self.window;
        }
        Retry::After(at.until(end))
    }

    /// Takes `cost`, or as much of it as the log holds; the oldest units make room for the newest.
    pub(crate) fn take(
        &self,
        state: &mut State,
        cost: u64,
        at: Moment<'_>,
        ticket: Ticket,
    ) -> Taken {
        let units = cost.min(self.allowance.limit);
        if units == 0 {
            return Taken::units(0, at.now);
        }
        if !matches!(state, State::Log(_)) {
            *state = State::Log(Box::default());
        }
        let State::Log(log) = state else { return Taken::units(0, at.now) };
        let newest = log.entries.back().map_or(0, |entry| entry.at);
        let entry = Entry { at: at.now.max(newest), units, ticket: ticket.number };
        // Where a reload has lowered the limit, older units above it stay, as long as nobody is charged beyond it.
        let bound = self.allowance.limit.max(log.total);
        log.entries.push_back(entry);
        log.total += units;
        trim(log, bound);
        Taken::units(units, entry.at)
    }

    pub(crate) fn give_back(&self, state: &mut State, charged: &Charged, keep: u64) -> bool {
        let State::Log(log) = state else { return false };
        let place = log.entries.iter().rposition(|entry| entry.ticket == charged.ticket);
        let Some(place) = place else { return false };
        let entry = &mut log.entries[place];
        let back = entry.units.min(charged.units.saturating_sub(keep));
        entry.units -= back;
        log.total -= back;
        if entry.units == 0 {
            log.entries.remove(place);
        }
        back > 0
    }

    pub(crate) fn standing(&self, state: &State, at: Moment<'_>) -> Standing {
        let remaining = self.allowance.remaining(Used::exactly(total(state)));
        let end = |entry: Option<&Entry>| {
            entry.map_or(Micros::ZERO, |entry| at.until(entry.at + self.window))
        };
        match state {
            State::Log(log) => Standing {
                remaining,
                reset: end(log.entries.back()),
                next: end(log.entries.front()),
            },
            _ => Standing { remaining, reset: Micros::ZERO, next: Micros::ZERO },
        }
    }
}

/// Drops the oldest units above `bound`.
fn trim(log: &mut Log, bound: u64) {
    while log.total > bound {
        let Some(oldest) = log.entries.front_mut() else { return };
        let cut = oldest.units.min(log.total - bound);
        oldest.units -= cut;
        log.total -= cut;
        if oldest.units == 0 {
            log.entries.pop_front();
        }
    }
}
