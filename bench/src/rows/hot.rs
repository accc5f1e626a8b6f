//! One key that everybody asks for.

use std::hint::black_box;

use tollgate_store::{CachedClock, SystemClock};

use crate::harness::compare;
use crate::keys::key;
use crate::peers::{Rule, governor_default, keyed, keyed_exact};
use crate::table::{Measured, Target};

const CALLS: usize = 1_000_000;

/// Admitted by one and two threads, and refused by two.
pub fn run(name: &str) -> Vec<Measured> {
    let key = key(7);
    let peer = governor_default(Rule::Admits);
    let ours = keyed_exact(Rule::Admits, 1_000_000);
    let clock = CachedClock::new(SystemClock::new());
    let cached = keyed(Rule::Admits.limit(), 1_000_000, clock);
    let refusing = governor_default(Rule::Refuses);
    let ours_refusing = keyed_exact(Rule::Refuses, 1_000_000);
    let exact = |_: usize, _: usize| {
        black_box(ours.check(&key).is_ok());
    };
    let cached = |_: usize, _: usize| {
        black_box(cached.check(&key).is_ok());
    };
    let refused = |_: usize, _: usize| {
        black_box(ours_refusing.check(&key).is_ok());
    };
    let theirs = |_: usize, _: usize| {
        black_box(peer.check_key(&key).is_ok());
    };
    let theirs_refused = |_: usize, _: usize| {
        black_box(refusing.check_key(&key).is_ok());
    };
    let row = |what: &str| format!("{name}: {what}");
    vec![
        compare(&row("admitted, 1 thread"), Target::Ratio(0.6), 1, CALLS, exact, theirs),
        compare(&row("admitted, 2 threads"), Target::Ratio(0.55), 2, CALLS, exact, theirs),
        compare(
            &row("admitted, 1 thread, cached clock"),
            Target::Ratio(0.45),
            1,
            CALLS,
            cached,
            theirs,
        ),
        compare(
            &row("admitted, 2 threads, cached clock"),
            Target::Ratio(0.45),
            2,
            CALLS,
            cached,
            theirs,
        ),
        compare(&row("refused, 2 threads"), Target::Ratio(0.15), 2, CALLS, refused, theirs_refused),
    ]
}
