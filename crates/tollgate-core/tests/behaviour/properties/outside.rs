//! States that come from outside: what a limit could have come to is taken, anything else is not, and whatever is taken can
//! be gone on with.

use proptest::prelude::*;
use proptest::sample::select;
use tollgate_core::{Algorithm, Cells, Limit, Log, Rules, Slots, State};

use super::courses::{NOW, buckets, config, counts, course, limits, turn_to};
use crate::world::{
    DAY, HOUR, OVERDRAW, SECOND, World, at, fixed, limit, log, period, quota, sliding, slots, token,
};

fn plain(algorithm: Algorithm) -> Limit {
    limit(algorithm, Rules::default())
}

fn log_of(entries: &[(u64, u64)]) -> State {
    State::Log(Box::new(Log::of(entries.iter().map(|(moment, units)| (at(*moment), *units)))))
}

fn cells(newest: u64, counts: &[u64]) -> State {
    State::Cells(Box::new(Cells::new(newest, counts)))
}

#[test]
fn what_no_course_leads_to_is_not_taken() {
    let far = u64::MAX;
    for (algorithm, state) in [
        (token(1, SECOND, 10), State::Bucket(far)),
        (token(1, SECOND, 10), State::Count { start: NOW, count: 1 }),
        (token(999_999_937, 365 * DAY, 10), State::WideBucket(u128::MAX)),
        (token(999_999_937, 365 * DAY, 10), State::Bucket(NOW)),
        (fixed(10, HOUR), State::Count { start: far, count: 1 }),
        (fixed(10, HOUR), State::Count { start: NOW, count: far }),
        (quota(10), State::Count { start: NOW, count: 1 << 63 }),
        (sliding(10, HOUR, 1), State::Pair { cell: far, previous: 0, current: 1 }),
        (sliding(10, HOUR, 1), State::Pair { cell: 1, previous: far, current: far }),
        (sliding(10, HOUR, 1), cells(1, &[1, 1])),
        (sliding(10, HOUR, 4), State::Pair { cell: 1, previous: 0, current: 1 }),
        (sliding(10, HOUR, 4), cells(1, &[1, 1, 1, 1])),
        (sliding(10, HOUR, 4), cells(1, &[1 << 62, 1 << 62, 1 << 62, 1 << 62, 1 << 62])),
        (log(10, HOUR), log_of(&[(NOW, 1), (NOW - 1, 1)])),
        (log(10, HOUR), log_of(&[(NOW, 0)])),
        (log(10, HOUR), log_of(&[(NOW, 10_001)])),
        (log(10, HOUR), log_of(&[(NOW, far), (NOW, far)])),
        (slots(10, HOUR), State::Slots(Box::new(Slots::of(at(NOW), 1)))),
        (token(0, SECOND, 10), State::Bucket(NOW)),
    ] {
        assert!(!plain(algorithm.clone()).accepts(&state), "{algorithm:?} took {state:?}");
        assert!(plain(algorithm).accepts(&State::Fresh));
    }
}

#[test]
fn a_log_from_outside_gives_nothing_back_to_a_new_ticket() {
    let mut world = World::of(log(3, HOUR));
    world.states[0] = log_of(&[(NOW, 1)]);
    let charged = world.charge(NOW, 1);
    assert!(world.settle(&charged, 0, NOW));
    assert_eq!(world.remaining(NOW), 2, "only the new entry was given back");
    assert!(!world.settle(&tollgate_core::Charged { ticket: 0, ..charged }, 0, NOW));
}

/// Words near the edges of what fits, and any.
fn words() -> impl Strategy<Value = u64> {
    let edges = vec![0, 1, 7, 1 << 31, 1 << 53, (1 << 53) - 1, 1 << 61, 1 << 62, 1 << 63, u64::MAX];
    prop_oneof![select(edges), any::<u64>(), NOW - 10 * DAY..NOW + 10 * DAY, 0..1000_u64]
}

fn states() -> impl Strategy<Value = State> {
    prop_oneof![
        words().prop_map(State::Bucket),
        (words(), words())
            .prop_map(|(high, low)| State::WideBucket(u128::from(high) << 64 | u128::from(low))),
        (words(), words()).prop_map(|(start, count)| State::Count { start, count }),
        (words(), words(), words()).prop_map(|(cell, previous, current)| State::Pair {
            cell,
            previous,
            current
        }),
        (words(), prop::collection::vec(words(), 3..12))
            .prop_map(|(newest, counts)| cells(newest, &counts)),
        prop::collection::vec((words(), words()), 0..5).prop_map(|entries| log_of(&entries)),
    ]
}

fn algorithms() -> impl Strategy<Value = Algorithm> {
    prop_oneof![
        buckets(),
        counts(),
        (words(), words()).prop_map(|(limit, window)| fixed(limit, window))
    ]
}

proptest! {
    #![proptest_config(config(6_000, 41))]

    #[test]
    fn what_is_taken_can_be_gone_on_with(
        algorithm in algorithms(), overdraw in any::<bool>(), state in states(),
        costs in prop::collection::vec((words(), 0..3 * DAY), 1..5),
    ) {
        let rules = if overdraw { OVERDRAW } else { Rules::default() };
        let Ok(limit) = Limit::new(algorithm, rules) else { return Ok(()) };
        if !limit.accepts(&state) {
            return Ok(());
        }
        let mut world = World::new(vec![limit]);
        world.states[0] = state;
        world.period = Some(period(NOW - NOW % DAY, NOW - NOW % DAY + DAY));
        let mut now = NOW;
        for (cost, later) in costs {
            world.ask(now, cost);
            world.standing(now);
            prop_assert!(world.limits[0].accepts(&world.states[0]), "{:?}", world.states[0]);
            let kept = world.limits[0].carry_over(&world.limits[0].clone(), world.states[0].clone(), at(now));
            prop_assert!(world.limits[0].accepts(&kept));
            now += later;
        }
    }

    #[test]
    fn what_a_course_leads_to_is_taken(limit in limits(), course in course()) {
        let mut world = World::new(vec![limit]);
        let mut now = NOW;
        for (gap, cost) in course {
            now += gap;
            turn_to(&mut world, now);
            world.ask(now, cost);
            prop_assert!(world.limits[0].accepts(&world.states[0]), "{:?}", world.states[0]);
        }
    }
}
