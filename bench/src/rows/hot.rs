//! One key that everybody asks for.

use std::hint::black_box;

use tollgate_store::{CachedClock, SystemClock};

use crate::harness::{Contest, compare};
use crate::keys::key;
use crate::peers::{Rule, governor_default, keyed, keyed_exact};
use crate::table::{Measured, Target};

/// Admitted by one and two threads, and refused by two.
pub fn run(name: &str) -> Vec<Measured> {
    let contest = |threads, target| Contest { name, target, threads, calls: 10_000 };
    vec![
        exact(&contest(1, Target::Ratio(0.6)), "admitted", Rule::Admits),
        exact(&contest(2, Target::Ratio(0.55)), "admitted", Rule::Admits),
        cached(&contest(1, Target::Ratio(0.45))),
        cached(&contest(2, Target::Ratio(0.45))),
        exact(&contest(2, Target::Ratio(0.15)), "refused", Rule::Refuses),
    ]
}

fn exact(contest: &Contest<'_>, what: &str, rule: Rule) -> Measured {
    let (key, peer, ours) = (key(7), governor_default(rule), keyed_exact(rule, 1_000_000));
    let name = format!("{}: {what}, {} threads", contest.name, contest.threads);
    compare(
        &Contest { name: &name, ..*contest },
        |_, _| (),
        |()| {
            black_box(ours.check(&key).is_ok());
        },
        |()| {
            black_box(peer.check_key(&key).is_ok());
        },
    )
}

fn cached(contest: &Contest<'_>) -> Measured {
    let (key, peer) = (key(7), governor_default(Rule::Admits));
    let clock = CachedClock::new(SystemClock::new());
    let ours = keyed(Rule::Admits.limit(), 1_000_000, clock);
    let name = format!("{}: admitted, {} threads, cached clock", contest.name, contest.threads);
    compare(
        &Contest { name: &name, ..*contest },
        |_, _| (),
        |()| {
            black_box(ours.check(&key).is_ok());
        },
        |()| {
            black_box(peer.check_key(&key).is_ok());
        },
    )
}
