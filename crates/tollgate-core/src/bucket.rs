//! The arithmetic of both buckets, in either word.
//!
//! A bucket is one number: the moment when it is full again, in ticks of 1/n microsecond since the epoch, where n/P is the
//! rate in units per microsecond in lowest terms. One unit is then exactly P ticks and one microsecond exactly n, so nothing
//! is ever rounded but what is said in whole microseconds (up) or whole units (down).

use crate::moment::{Moment, Taken};
use crate::word::Word;
use crate::{Charged, Micros, Retry, Standing, State};

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

    /// Time until full; a word further ahead than capacity and debt allow (a clock that was wrong) is cut to that.
    #[inline]
    pub(crate) fn missing(&self, word: W, base: W) -> W {
        word.beyond(base).min(self.ceiling)
    }

    fn read(&self, state: &State) -> W {
        W::read(state).unwrap_or(self.fresh)
    }

    fn missing_in(&self, state: &State, at: &Moment) -> W {
        self.missing(self.read(state), self.ticks(at.now))
    }

    /// By how much the bucket is too empty for `cost`; zero where it admits, `None` where it never does.
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

    pub(crate) fn tidy(&self, state: &mut State, at: &Moment) -> bool {
        let word = self.read(state);
        let top = self.ticks(at.now) + self.ceiling;
        *state = word.min(top).state();
        word > top
    }

    pub(crate) fn refuses(&self, state: &State, cost: u64, at: &Moment) -> bool {
        self.excess(self.missing_in(state, at), cost) != Some(W::from(0))
    }

    pub(crate) fn retry(&self, state: &State, cost: u64, at: &Moment) -> Retry {
        match self.excess(self.missing_in(state, at), cost) {
            Some(excess) => Retry::After(Micros::new(excess.divided_up(self.per_micro))),
            None => Retry::Never,
        }
    }

    /// How long a request that is admitted waits for its turn.
    pub(crate) fn wait(&self, state: &State, at: &Moment) -> Micros {
        if !self.delays {
            return Micros::ZERO;
        }
        Micros::new(self.missing_in(state, at).divided_up(self.per_micro))
    }

    pub(crate) fn take(&self, state: &mut State, cost: u64, at: &Moment) -> Taken {
        self.take_less(state, cost, 0, at)
    }

    /// Takes `cost` less `fraction` ticks, as far as the deepest debt allows.
    pub(crate) fn take_less(
        &self,
        state: &mut State,
        cost: u64,
        fraction: u64,
        at: &Moment,
    ) -> Taken {
        let missing = self.missing_in(state, at);
        let room = self.ceiling - missing;
        let asked = (cost <= self.most)
            .then(|| (W::from(cost) * self.unit).beyond(W::from(fraction)))
            .filter(|ticks| *ticks <= room);
        let taken = asked.unwrap_or(room);
        if taken > W::from(0) {
            *state = (self.ticks(at.now) + missing + taken).state();
        }
        let (units, fraction) = match asked {
            Some(_) if fraction == 0 => (cost, 0),
            _ => (taken.divided(self.unit), (taken % self.unit).low()),
        };
        Taken { units, fraction, at: at.now }
    }

    /// Gives back what was charged beyond `keep` units, less what may have been refilled since.
    pub(crate) fn give_back(
        &self,
        state: &mut State,
        charged: &Charged,
        keep: u64,
        at: &Moment,
    ) -> bool {
        let missing = self.missing_in(state, at);
        let units = W::from(charged.units.saturating_sub(keep).min(self.most));
        let charge = units * self.unit + W::from(charged.fraction);
        let elapsed = self.ticks(at.now.saturating_sub(charged.at.as_micros()));
        let back = charge.min(missing).beyond(elapsed);
        if back > W::from(0) {
            *state = (self.ticks(at.now) + missing - back).state();
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

    pub(crate) fn standing(&self, state: &State, at: &Moment) -> Standing {
        let missing = self.missing_in(state, at);
        if missing == W::from(0) {
            return Standing { remaining: self.units, reset: Micros::ZERO, next: Micros::ZERO };
        }
        let remaining = self.remaining(missing);
        let next = if remaining == self.units {
            0
        } else {
            let target = W::from(remaining + 1) * self.unit;
            let short = (target + missing).beyond(self.capacity);
            short.max(missing.beyond(self.max_wait)).divided_up(self.per_micro)
        };
        let reset = missing.divided_up(self.per_micro);
        Standing { remaining, reset: Micros::new(reset), next: Micros::new(next) }
    }

    /// Full, or as empty as a new key would be.
    pub(crate) fn is_fresh(&self, state: &State, at: &Moment) -> bool {
        self.read(state) <= self.ticks(at.now).max(self.fresh)
    }
}
