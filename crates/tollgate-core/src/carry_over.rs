//! A reload: what was counted under the old parameters, under the new ones.

use crate::bucket::Bucket;
use crate::kept::Slot;
use crate::plan::Plan;
use crate::word::Word;
use crate::{Algorithm, Limit, State, Timestamp};

/// A bucket's level, in units and ticks of which `unit` make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Full,
    Left { units: u64, ticks: u64, unit: u64 },
    Owed { units: u64, ticks: u64, unit: u64 },
}

impl Limit {
    /// `state` of `old`, as this limit goes on with it from `now`.
    ///
    /// Counts of windows, logs, quotas and slots stay as they are. A bucket's level becomes the smaller of itself and the
    /// new capacity, and a full one stays full; a fraction that the new ticks cannot hold is rounded down, never in the
    /// caller's favour. Another algorithm, window or number of cells begins fresh.
    #[must_use]
    pub fn carry_over(&self, old: &Limit, state: State, now: Timestamp) -> State {
        if state == State::Fresh {
            return State::Fresh;
        }
        let keep = match (self.algorithm(), old.algorithm()) {
            (Algorithm::TokenBucket(_), Algorithm::TokenBucket(_))
            | (Algorithm::LeakyBucket(_), Algorithm::LeakyBucket(_)) => {
                return self.carry_level(old, &state, now.as_micros());
            }
            (Algorithm::FixedWindow(new), Algorithm::FixedWindow(old)) => new.window == old.window,
            (Algorithm::SlidingWindow(new), Algorithm::SlidingWindow(old)) => {
                (new.window, new.cells) == (old.window, old.cells)
            }
            (Algorithm::SlidingLog(new), Algorithm::SlidingLog(old)) => new.window == old.window,
            (Algorithm::Quota(_), Algorithm::Quota(_))
            | (Algorithm::Concurrency(_), Algorithm::Concurrency(_)) => true,
            _ => false,
        };
        if keep { state } else { State::Fresh }
    }

    fn carry_level(&self, old: &Limit, state: &State, now: u64) -> State {
        let level = match old.plan() {
            Plan::Bucket(plan) => plan.0.level(state, now),
            Plan::WideBucket(plan) => plan.level(state, now),
            _ => Level::Full,
        };
        match self.plan() {
            Plan::Bucket(plan) => plan.0.at_level(level, now),
            Plan::WideBucket(plan) => plan.at_level(level, now),
            _ => State::Fresh,
        }
    }
}

impl<W: Word> Bucket<W> {
    fn level(&self, state: &impl Slot<W>, now: u64) -> Level {
        let word = state.get().unwrap_or(self.fresh);
        let missing = self.missing(word, self.ticks(now));
        let parts =
            |ticks: W| (ticks.divided(self.unit), (ticks % self.unit).low(), self.unit.low());
        if missing == W::from(0) {
            Level::Full
        } else if missing <= self.capacity {
            let (units, ticks, unit) = parts(self.capacity - missing);
            Level::Left { units, ticks, unit }
        } else {
            let (units, ticks, unit) = parts(missing - self.capacity);
            Level::Owed { units, ticks, unit }
        }
    }

    /// The state of that level, or of the nearest lower one that these ticks can tell.
    fn at_level(&self, level: Level, now: u64) -> State
    where
        State: Slot<W>,
    {
        let (capacity, ceiling) = (self.capacity.wide(), self.ceiling.wide());
        let mine = u128::from(self.unit.low());
        // Each factor is below 2^64 and the rest below one unit, so neither product nor sum leaves 128 bits.
        let product = |ticks: u64| u128::from(ticks) * mine;
        let missing = match level {
            Level::Full => 0,
            Level::Left { units, ticks, unit } => {
                let level = u128::from(units) * mine + product(ticks) / u128::from(unit);
                capacity.saturating_sub(level)
            }
            Level::Owed { units, ticks, unit } => {
                let debt = u128::from(units) * mine + product(ticks).div_ceil(u128::from(unit));
                capacity.saturating_add(debt).min(ceiling)
            }
        };
        let mut state = State::Fresh;
        state.set(self.ticks(now) + W::of(missing));
        state
    }
}
