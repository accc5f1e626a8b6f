//! One limiter for everybody, hot, clock included.

use std::hint::black_box;

use tollgate_store::{CachedClock, Clock, SystemClock};

use crate::harness::compare;
use crate::peers::{Rule, direct, governor_direct};
use crate::table::{Measured, Target};

const CALLS: usize = 2_000_000;

/// With the exact clock, with a cached one, and the clock alone.
pub fn run(name: &str) -> Vec<Measured> {
    let peer = governor_direct(Rule::Admits);
    let theirs = |_: usize, _: usize| {
        black_box(peer.check().is_ok());
    };
    let exact = direct(Rule::Admits, SystemClock::new());
    let cached = direct(Rule::Admits, CachedClock::new(SystemClock::new()));
    let clock = SystemClock::new();
    let row = |what: &str| format!("{name}: {what}");
    vec![
        compare(
            &row("hot, 1 thread, clock included"),
            Target::Ratio(1.1),
            1,
            CALLS,
            |_, _| {
                black_box(exact.check().is_ok());
            },
            theirs,
        ),
        compare(
            &row("hot, 1 thread, cached clock"),
            Target::Ratio(0.65),
            1,
            CALLS,
            |_, _| {
                black_box(cached.check().is_ok());
            },
            theirs,
        ),
        compare(
            &row("our clock alone"),
            Target::None,
            1,
            CALLS,
            |_, _| {
                black_box(clock.now());
            },
            theirs,
        ),
    ]
}
