//! The breaker: a store that fails is left alone for a while, and then tried by one call at a time.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use parking_lot::Mutex;
use tollgate_core::Timestamp;

/// What a failure weighs; a success takes one off.
const FAILURE: u32 = 4;

/// At this weight it opens: after five failures in a row, or where more than one call in five fails for a while.
const OPENS_AT: u32 = 5 * FAILURE;

/// So many probes in a row have to succeed before all calls are let through.
const PROBES: u32 = 3;

/// How long it stays open at first, in microseconds; twice as long after each probe that fails.
const SHORTEST: u64 = 100_000;

/// How long it stays open at most.
const LONGEST: u64 = 5_000_000;

/// Lets calls through while they succeed.
#[derive(Debug)]
pub(super) struct Breaker {
    /// Whether it is not closed: all that a call looks at on a good day.
    open: AtomicBool,
    /// The weight of the failures, while it is closed.
    weight: AtomicU32,
    spell: Mutex<Spell>,
    random: RandomState,
}

/// From opening to closing, and the calm that follows.
#[derive(Debug, Default)]
struct Spell {
    /// Probes that failed in this spell.
    failed: u32,
    /// Probes that succeeded since the last one that failed.
    succeeded: u32,
    /// Whether a probe is on its way.
    probing: bool,
    /// No probe before this.
    closed_until: Timestamp,
}

/// Where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakerState {
    /// All calls are let through.
    Closed,
    /// None is.
    Open,
    /// One at a time is, to see whether the store is back.
    HalfOpen,
}

/// One call was let through. Dropped without a word, it was neither a success nor a failure.
#[derive(Debug)]
#[must_use]
pub(super) struct Permit<'b> {
    breaker: &'b Breaker,
    /// Whether it is a probe: there is never more than one.
    probe: bool,
}

/// What a result changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Nothing.
    None,
    /// It opened.
    Opened,
    /// It closed.
    Closed,
}

impl Breaker {
    pub(super) fn new() -> Breaker {
        Breaker {
            open: AtomicBool::new(false),
            weight: AtomicU32::new(0),
            spell: Mutex::default(),
            random: RandomState::new(),
        }
    }

    /// Lets a call through, or not.
    pub(super) fn enter(&self, now: Timestamp) -> Option<Permit<'_>> {
        if !self.is_open() {
            return Some(Permit { breaker: self, probe: false });
        }
        let mut spell = self.spell.lock();
        if !self.is_open() {
            return Some(Permit { breaker: self, probe: false });
        }
        // A clock that was set back is waited for no longer than it would have been.
        let left = spell.closed_until.as_micros().saturating_sub(now.as_micros());
        if spell.probing || (left > 0 && left <= LONGEST) {
            return None;
        }
        spell.probing = true;
        Some(Permit { breaker: self, probe: true })
    }

    pub(super) fn state(&self, now: Timestamp) -> BreakerState {
        if !self.is_open() {
            return BreakerState::Closed;
        }
        let spell = self.spell.lock();
        if spell.probing || now >= spell.closed_until {
            BreakerState::HalfOpen
        } else {
            BreakerState::Open
        }
    }

    /// Whether the store is left alone, but for probes.
    pub(super) fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    /// A call that was let through while it was closed has failed.
    fn fail(&self, now: Timestamp) -> Turn {
        let mut spell = self.spell.lock();
        if self.is_open() {
            return Turn::None;
        }
        if self.weight.fetch_add(FAILURE, Ordering::Relaxed) + FAILURE < OPENS_AT {
            return Turn::None;
        }
        spell.closed_until = later(now, self.wait(spell.failed, now));
        self.open.store(true, Ordering::Release);
        Turn::Opened
    }

    fn succeed(&self) {
        let weight = self.weight.load(Ordering::Relaxed);
        if weight > 0 {
            // Lost races only make it a little more careful.
            let lighter = weight - 1;
            let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
            let _ = self.weight.compare_exchange(weight, lighter, success, failure);
        }
    }

    fn probed(&self, success: bool, now: Timestamp) -> Turn {
        let mut spell = self.spell.lock();
        spell.probing = false;
        if !success {
            spell.failed += 1;
            spell.succeeded = 0;
            spell.closed_until = later(now, self.wait(spell.failed, now));
            return Turn::None;
        }
        spell.succeeded += 1;
        if spell.succeeded < PROBES {
            return Turn::None;
        }
        *spell = Spell::default();
        self.weight.store(0, Ordering::Relaxed);
        self.open.store(false, Ordering::Release);
        Turn::Closed
    }

    /// How long to leave it alone: doubled each time, and between a half and all of that, so that nodes do not come together.
    fn wait(&self, failed: u32, now: Timestamp) -> u64 {
        let longest = SHORTEST.saturating_mul(1 << failed.min(16)).min(LONGEST);
        longest / 2 + self.random.hash_one(now.as_micros()) % (longest / 2)
    }
}

impl Permit<'_> {
    /// The store answered.
    pub(super) fn succeeded(self, now: Timestamp) -> Turn {
        match self.end() {
            (breaker, true) => breaker.probed(true, now),
            (breaker, false) => {
                breaker.succeed();
                Turn::None
            }
        }
    }

    /// It did not.
    pub(super) fn failed(self, now: Timestamp) -> Turn {
        match self.end() {
            (breaker, true) => breaker.probed(false, now),
            (breaker, false) => breaker.fail(now),
        }
    }
}

impl<'b> Permit<'b> {
    /// What there is to end; nothing is left to drop.
    fn end(mut self) -> (&'b Breaker, bool) {
        (self.breaker, std::mem::take(&mut self.probe))
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if self.probe {
            self.breaker.spell.lock().probing = false;
        }
    }
}

fn later(now: Timestamp, micros: u64) -> Timestamp {
    Timestamp::from_micros(now.as_micros().saturating_add(micros))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_micros(1_000_000_000 + millis * 1000)
    }

    fn fail(breaker: &Breaker, now: Timestamp) -> Turn {
        breaker.enter(now).expect("let through").failed(now)
    }

    fn succeed(breaker: &Breaker, now: Timestamp) -> Turn {
        breaker.enter(now).expect("let through").succeeded(now)
    }

    /// A breaker that opened at the start of the test.
    fn opened() -> Breaker {
        let breaker = Breaker::new();
        for _ in 0..4 {
            assert_eq!(fail(&breaker, at(0)), Turn::None);
        }
        assert_eq!(fail(&breaker, at(0)), Turn::Opened);
        breaker
    }

    #[test]
    fn it_opens_after_failures_in_a_row_and_costs_nothing_then() {
        let breaker = opened();
        assert!(breaker.enter(at(49)).is_none());
        assert_eq!(breaker.state(at(49)), BreakerState::Open);
        assert_eq!(breaker.state(at(100)), BreakerState::HalfOpen);
    }

    #[test]
    fn one_failure_in_ten_does_not_open_it_and_one_in_three_does() {
        let breaker = Breaker::new();
        let every = |nth: u64, calls: u64| {
            (0..calls).any(|call| match call % nth {
                0 => fail(&breaker, at(0)) == Turn::Opened,
                _ => succeed(&breaker, at(0)) == Turn::Opened,
            })
        };
        assert!(!every(10, 10_000));
        assert!(every(3, 100));
    }

    #[test]
    fn probes_go_one_at_a_time_and_three_in_a_row_close_it() {
        let breaker = opened();
        let probe = breaker.enter(at(100)).expect("a probe");
        assert!(breaker.enter(at(100)).is_none(), "another is on its way");
        assert_eq!(probe.succeeded(at(101)), Turn::None);
        assert_eq!(succeed(&breaker, at(101)), Turn::None);
        assert_eq!(succeed(&breaker, at(101)), Turn::Closed);
        let all: Vec<_> = (0..100).map(|_| breaker.enter(at(102)).expect("closed")).collect();
        assert_eq!(all.len(), 100);
    }

    #[test]
    fn a_probe_that_fails_doubles_the_wait_up_to_five_seconds() {
        let breaker = opened();
        let mut now = at(100);
        for _ in 0..12 {
            assert_eq!(fail(&breaker, now), Turn::None);
            assert!(breaker.enter(now).is_none());
            now = later(now, LONGEST);
        }
        assert_eq!(fail(&breaker, now), Turn::None);
        assert!(breaker.enter(later(now, LONGEST / 2 - 1)).is_none());
        assert!(breaker.enter(later(now, LONGEST)).is_some());
    }

    #[test]
    fn a_probe_that_is_dropped_makes_room_for_the_next() {
        let breaker = opened();
        drop(breaker.enter(at(100)).expect("a probe"));
        assert!(breaker.enter(at(100)).is_some());
    }

    #[test]
    fn clk_a_clock_that_was_set_back_does_not_keep_it_open() {
        let breaker = Breaker::new();
        let ahead = later(at(0), 3_600_000_000);
        for _ in 0..5 {
            fail(&breaker, ahead);
        }
        assert!(breaker.enter(at(0)).is_some());
    }
}
