//! One limiter for everybody, hot, clock included.

use std::hint::black_box;

use tollgate_store::{CachedClock, Clock, SystemClock};

use crate::harness::{Contest, compare};
use crate::peers::{Rule, direct, governor_direct};
use crate::table::{Measured, Target};

/// With the exact clock, with a cached one, and the clock alone.
pub fn run(name: &str) -> Vec<Measured> {
    let peer = governor_direct(Rule::Admits);
    let exact = direct(Rule::Admits, SystemClock::new());
    let cached = direct(Rule::Admits, CachedClock::new(SystemClock::new()));
    let clock = SystemClock::new();
    let row = |what: &str, target, ours: &(dyn Fn(&()) + Sync)| {
        let name = format!("{name}: {what}");
        let contest = Contest { name: &name, target, threads: 1, calls: 50_000 };
        compare(
            &contest,
            |_, _| (),
            ours,
            |()| {
                black_box(peer.check().is_ok());
            },
        )
    };
    vec![
        row("hot, 1 thread, clock included", Target::Ratio(1.1), &|()| {
            black_box(exact.check().is_ok());
        }),
        row("hot, 1 thread, cached clock", Target::Ratio(0.65), &|()| {
            black_box(cached.check().is_ok());
        }),
        row("our clock alone", Target::None, &|()| {
            black_box(clock.now());
        }),
    ]
}
