//! The longest that one call takes while a table grows to ten million keys and shrinks back.
//!
//! Measured as processor time of the thread, which leaves out what other programs of the machine take, though not what
//! interrupts and a host of virtual machines take. What a table does it does every time, so the best of three runs counts;
//! and it does it thousands of times, for its shards grow alike: a pause of its own is not the longest one alone. What the
//! machine does to a thread is told beside it, by the same clock: to one that does nothing, and to one that touches
//! memory which is new to it.

use std::hint::black_box;
use std::sync::Arc;

use rustix::time::{ClockId, clock_gettime};
use tollgate_store::{Clock, ManualClock};

use super::alone as measure;
use crate::keys::key;
use crate::peers::{Rule, governor_keyed, keyed};
use crate::table::{Measured, Target};

const KEYS: usize = 10_000_000;

/// A pause is looked at from here on, in nanoseconds.
const LONG: i64 = 20_000;

/// Inserts, expiry, and what the machine does without us.
pub fn run(name: &str) -> Vec<Measured> {
    let ours: [f64; 4] = best("pauses ours");
    let peer: [f64; 4] = best("pauses governor");
    let machine: [f64; 2] = best("pauses machine");
    let row = |what: &str, ours, peer, unit, target| Measured {
        name: format!("{name}: {what}"),
        ours,
        peer,
        unit,
        target,
        disturbed: false,
    };
    let told = |what: &str, ours, peer, unit| row(what, ours, peer, unit, Target::None);
    let inserts = "an insert while growing to 10 M keys";
    let most = Target::Absolute(1.0);
    vec![
        row(&format!("of {inserts}"), ours[0], peer[0], "ms", most),
        told(&format!("the hundredth longest of {inserts}"), ours[1], peer[1], "ms"),
        told("inserts that took over 1 ms", ours[2], peer[2], "calls"),
        row("of a step of expiry while shrinking back", ours[3], peer[3], "ms", most),
        told("of a thread that does nothing for as many calls", machine[0], f64::NAN, "ms"),
        told("of the first touch of a page, a gigabyte of them", machine[1], f64::NAN, "ms"),
    ]
}

/// The least of each number in three runs.
fn best<const N: usize>(what: &str) -> [f64; N] {
    let runs = [(); 3].map(|()| measure::<N>(what));
    std::array::from_fn(|at| runs.iter().map(|run| run[at]).fold(f64::INFINITY, f64::min))
}

/// `pauses <whose>`. A limiter's: the longest insert, the hundredth longest, how many took over a millisecond, and the
/// longest step of expiry. The machine's: the longest of nothing, and of touching a page. In milliseconds.
pub fn alone(what: &str) -> Option<Vec<f64>> {
    match what.strip_prefix("pauses ")? {
        "ours" => Some(ours()),
        "governor" => Some(governor()),
        "machine" => Some(machine()),
        _ => None,
    }
}

fn ours() -> Vec<f64> {
    let clock = Arc::new(ManualClock::new(tollgate_core::Timestamp::from_micros(1 << 50)));
    let limiter = keyed(Rule::Expires.limit(), 2 * KEYS, clock.clone());
    let inserts = Pauses::of(KEYS, |number| {
        black_box(limiter.check(&key(number)).is_ok());
    });
    assert_eq!(limiter.len(), KEYS);
    clock.set(tollgate_core::Timestamp::from_micros(clock.now().as_micros() + 10_000_000));
    let mut done = false;
    let mut steps = 0.0_f64;
    while !done {
        steps = steps.max(Pauses::of(1, |_| done = limiter.sweep()).longest(1));
    }
    assert_eq!(limiter.len(), 0);
    inserts.told(steps)
}

fn governor() -> Vec<f64> {
    let limiter = governor_keyed(Rule::Expires);
    let inserts = Pauses::of(KEYS, |number| {
        black_box(limiter.check_key(&key(number)).is_ok());
    });
    // Its buckets are full again after a second; the inserts took longer.
    inserts.told(Pauses::of(1, |_| limiter.retain_recent()).longest(1))
}

fn machine() -> Vec<f64> {
    const PAGE: usize = 4096;
    let nothing = Pauses::of(KEYS, |number| {
        black_box(key(number));
    });
    // Zeroed memory of this size is the system's, and not there before it is written.
    let mut memory = vec![0_u8; 1 << 30];
    let touched = Pauses::of(memory.len() / PAGE, |page| memory[page * PAGE] = 1);
    black_box(memory);
    vec![nothing.longest(1), touched.longest(1)]
}

/// The long ones among the times of many calls, in nanoseconds of this thread's processor time.
struct Pauses(Vec<i64>);

impl Pauses {
    /// Of calls with the numbers from 0 on. A single one is kept however short it is.
    fn of(calls: usize, mut call: impl FnMut(usize)) -> Pauses {
        let mut long = Vec::with_capacity(KEYS / 10);
        let mut before = cpu();
        for number in 0..calls {
            call(number);
            let after = cpu();
            if after - before >= LONG || calls == 1 {
                long.push(after - before);
            }
            before = after;
        }
        long.sort_unstable_by_key(|pause| std::cmp::Reverse(*pause));
        Pauses(long)
    }

    /// The `nth` longest in milliseconds, counted from 1; 0 where fewer were long.
    fn longest(&self, nth: usize) -> f64 {
        self.0.get(nth - 1).map_or(0.0, |pause| *pause as f64 / 1e6)
    }

    /// What is told of a limiter whose inserts these are.
    fn told(&self, expiry: f64) -> Vec<f64> {
        let over = self.0.iter().filter(|pause| **pause > 1_000_000).count();
        vec![self.longest(1), self.longest(100), over as f64, expiry]
    }
}

/// Nanoseconds of processor time that this thread has used.
fn cpu() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
