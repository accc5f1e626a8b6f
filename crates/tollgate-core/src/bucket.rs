//! The arithmetic of both buckets, in either word.
//!
//! A bucket is one number: the moment when it is full again, in ticks of 1/n microsecond since the epoch, where n/P is the
//! rate in units per microsecond in lowest terms. One unit is then exactly P ticks and one microsecond exactly n, so nothing
//! is ever rounded but what is said in whole microseconds (up) or whole units (down).

use crate::kept::Slot;
use crate::moment::{Checked, Commit, Moment, Taken};
use crate::word::Word;
use crate::{Charged, Micros, Outcome, Retry, Standing};

/// A compiled bucket. `missing` in its methods is the time in ticks until it is full, at most [`Bucket::ceiling`].
#[derive(Clone, Debug)]
pub(crate) struct Bucket<W> {
    /// n: ticks in a microsecond.
    pub(crate) per_micro: W,
    /// P: ticks in a unit.
    pub(crate) unit: W,
    /// What it holds.
    pub(crate) capacity: W,
    /// What it holds and the deepest debt.
    pub(crate) ceiling: W,
    /// The longest wait that is admitted; the ceiling where there is no such bound.
    pub(crate) max_wait: W,
    /// The word of a key that was never charged.
    pub(crate) fresh: W,
    /// The capacity in whole units.
    pub(crate) units: u64,
    /// The ceiling in whole units, or all that a cost can ask.
    pub(crate) most: u64,
    /// Admits while anything is left.
    pub(crate) overdraw: bool,
    /// Those that are admitted wait for their turn.
    pub(crate) delays: bool,
}

impl<W: Word> Bucket<W> {
    #[inline]
    pub(crate) fn ticks(&self, micros: u64) -> W {
        W::from(micros) * self.per_micro
    }

    /// Whole microseconds, rounded up. Most rates divide a million, and need no division here.
    #[inline]
    pub(crate) fn micros(&self, ticks: W) -> Micros {
        if self.per_micro == W::from(1) {
            return Micros::new(ticks.low());
        }
        Micros::new(ticks.divided_up(self.per_micro))
    }

    /// Time until full; a word further ahead than capacity and debt allow (a clock that was wrong) is cut to that.
    #[inline]
    pub(crate) fn missing(&self, word: W, base: W) -> W {
        word.beyond(base).min(self.ceiling)
    }

    #[inline]
    fn read(&self, state: &impl Slot<W>) -> W {
        state.get().unwrap_or(self.fresh)
    }

    #[inline]
    fn missing_in(&self, state: &impl Slot<W>, base: W) -> W {
        self.missing(self.read(state), base)
    }

    /// By how much the bucket is too empty for `cost`; zero where it admits, `None` where it never does.
    #[inline]
    fn excess(&self, missing: W, cost: u64) -> Option<W> {
        if self.overdraw {
            // A level above zero: one tick more than none.
            return Some((missing + W::from(u64::from(cost > 0))).beyond(self.capacity));
        }
        if cost > self.units {
            return None;
        }
        let short = (missing + W::from(cost) * self.unit).beyond(self.capacity);
        Some(short.max(missing.beyond(self.max_wait)))
    }

    #[inline]
    pub(crate) fn tidy(&self, state: &mut impl Slot<W>, at: Moment<'_>) -> bool {
        let top = self.ticks(at.now) + self.ceiling;
        let clamped = self.read(state) > top;
        if clamped {
            state.set(top);
        }
        clamped
    }

    #[inline]
    pub(crate) fn check(&self, state: &mut impl Slot<W>, cost: u64, at: Moment<'_>) -> Checked {
        let clamped = self.tidy(state, at);
        let missing = self.missing_in(state, self.ticks(at.now));
        let refused = self.excess(missing, cost) != Some(W::from(0));
        let waits = self.delays && !refused && missing > W::from(0);
        let wait = if waits { self.micros(missing) } else { Micros::ZERO };
        Checked { refused, wait, clamped }
    }

    #[inline]
    pub(crate) fn commit(
        &self,
        state: &mut impl Slot<W>,
        at: Moment<'_>,
        what: &Commit,
        outcome: &mut Outcome,
    ) {
        let base = self.ticks(at.now);
        let mut missing = self.missing_in(state, base);
        if what.take {
            let (ticks, taken) = self.within_debt(missing, what.cost, 0, at);
            outcome.took(taken);
            missing = missing + ticks;
            if ticks > W::from(0) {
                state.set(base + missing);
            }
        }
        if what.retry {
            outcome.retry = self.retry(missing, what.cost);
        }
        outcome.standing = self.standing_at(missing);
    }

    fn retry(&self, missing: W, cost: u64) -> Retry {
        match self.excess(missing, cost) {
            Some(excess) => Retry::After(self.micros(excess)),
            None => Retry::Never,
        }
    }

    /// `cost` less `fraction` ticks, as far as the deepest debt allows: in ticks, and in words for others.
    #[inline]
    fn within_debt(&self, missing: W, cost: u64, fraction: u64, at: Moment<'_>) -> (W, Taken) {
        let room = self.ceiling - missing;
        if cost <= self.most {
            let ticks = (W::from(cost) * self.unit).beyond(W::from(fraction));
            if ticks <= room && fraction == 0 {
                return (ticks, Taken::units(cost, at.now));
            }
            return self.in_parts(ticks.min(room), at);
        }
        self.in_parts(room, at)
    }

    fn in_parts(&self, ticks: W, at: Moment<'_>) -> (W, Taken) {
        let (units, fraction) = (ticks.divided(self.unit), (ticks % self.unit).low());
        (ticks, Taken { units, fraction, at: at.now })
    }

    /// Charges `more` units less `fraction` ticks beside any decision.
    pub(crate) fn charge_more(
        &self,
        state: &mut impl Slot<W>,
        more: u64,
        fraction: u64,
        at: Moment<'_>,
    ) -> Taken {
        let base = self.ticks(at.now);
        let missing = self.missing_in(state, base);
        let (ticks, taken) = self.within_debt(missing, more, fraction, at);
        if ticks > W::from(0) {
            state.set(base + missing + ticks);
        }
        taken
    }

    /// Gives back what was charged beyond `keep` units, less what may have been refilled since.
    pub(crate) fn give_back(
        &self,
        state: &mut impl Slot<W>,
        charged: &Charged,
        keep: u64,
        at: Moment<'_>,
    ) -> bool {
        let base = self.ticks(at.now);
        let missing = self.missing_in(state, base);
        let units = W::from(charged.units.saturating_sub(keep).min(self.most));
        let charge = units * self.unit + W::from(charged.fraction);
        let elapsed = self.ticks(at.now.saturating_sub(charged.at.as_micros()));
        let back = charge.min(missing).beyond(elapsed);
        if back > W::from(0) {
            state.set(base + missing - back);
        }
        back > W::from(0)
    }

    /// The largest cost that would be admitted.
    #[inline]
    pub(crate) fn remaining(&self, missing: W) -> u64 {
        if missing > self.max_wait {
            return 0;
        }
        self.capacity.beyond(missing).divided(self.unit)
    }

    pub(crate) fn standing(&self, state: &impl Slot<W>, at: Moment<'_>) -> Standing {
        self.standing_at(self.missing_in(state, self.ticks(at.now)))
    }

    #[inline]
    fn standing_at(&self, missing: W) -> Standing {
        if missing == W::from(0) {
            return Standing { remaining: self.units, reset: Micros::ZERO, next: Micros::ZERO };
        }
        let remaining = self.remaining(missing);
        let next = if remaining == self.units {
            Micros::ZERO
        } else {
            let target = W::from(remaining + 1) * self.unit;
            let short = (target + missing).beyond(self.capacity);
            self.micros(short.max(missing.beyond(self.max_wait)))
        };
        Standing { remaining, reset: self.micros(missing), next }
    }

    /// Full, or as empty as a new key would be.
    pub(crate) fn is_fresh(&self, state: &impl Slot<W>, at: Moment<'_>) -> bool {
        self.read(state) <= self.ticks(at.now).max(self.fresh)
    }
}
