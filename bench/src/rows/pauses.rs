//! The longest that one call takes while a table grows to ten million keys and shrinks back.
//!
//! Measured as processor time of the thread, which leaves out what other programs of the machine take, though not what
//! interrupts and a host of virtual machines take. What a table does it does every time, so the best of three runs counts.

use std::hint::black_box;
use std::sync::Arc;

use rustix::time::{ClockId, clock_gettime};
use tollgate_store::{Clock, ManualClock};

use super::alone as measure;
use crate::keys::key;
use crate::peers::{Rule, governor_keyed, keyed};
use crate::table::{Measured, Target};

const KEYS: usize = 10_000_000;

/// Inserts, and expiry.
pub fn run(name: &str) -> Vec<Measured> {
    let best = |what: &str| {
        let runs = [(); 3].map(|()| measure(what));
        let least = |at: usize| runs.iter().map(|run| run[at]).fold(f64::INFINITY, f64::min);
        [least(0), least(1)]
    };
    let (ours, peer) = (best("pauses ours"), best("pauses governor"));
    let row = |what: &str, at: usize| Measured {
        name: format!("{name}: {what}"),
        ours: ours[at],
        peer: peer[at],
        unit: "ms",
        target: Target::Absolute(1.0),
        disturbed: false,
    };
    vec![
        row("of an insert while growing to 10 M keys", 0),
        row("of a step of expiry while shrinking back", 1),
    ]
}

/// `pauses <whose>`: the longest insert and the longest step of expiry, in milliseconds.
pub fn alone(what: &str) -> Option<[f64; 2]> {
    match what.strip_prefix("pauses ")? {
        "ours" => {
            let clock = Arc::new(ManualClock::new(tollgate_core::Timestamp::from_micros(1 << 50)));
            let limiter = keyed(Rule::Expires.limit(), 2 * KEYS, clock.clone());
            let insert = longest(0..KEYS, |number| {
                black_box(limiter.check(&key(number)).is_ok());
            });
            assert_eq!(limiter.len(), KEYS);
            clock.set(tollgate_core::Timestamp::from_micros(clock.now().as_micros() + 10_000_000));
            let mut done = false;
            let mut steps = 0.0_f64;
            while !done {
                steps = steps.max(longest(0..1, |_| done = limiter.sweep()));
            }
            assert_eq!(limiter.len(), 0);
            Some([insert, steps])
        }
        _ => {
            let limiter = governor_keyed(Rule::Expires);
            let insert = longest(0..KEYS, |number| {
                black_box(limiter.check_key(&key(number)).is_ok());
            });
            // Its buckets are full again after a second; the inserts took longer.
            let expiry = longest(0..1, |_| limiter.retain_recent());
            Some([insert, expiry])
        }
    }
}

/// The longest of the calls, in milliseconds of this thread's processor time.
fn longest(numbers: std::ops::Range<usize>, mut call: impl FnMut(usize)) -> f64 {
    let mut longest = 0;
    let mut before = cpu();
    for number in numbers {
        call(number);
        let after = cpu();
        longest = longest.max(after - before);
        before = after;
    }
    longest as f64 / 1e6
}

/// Nanoseconds of processor time that this thread has used.
fn cpu() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
