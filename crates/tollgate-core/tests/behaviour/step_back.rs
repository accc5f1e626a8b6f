//! Clocks that step back, and what clocks that were wrong have written.
//!
//! A store gives times that do not go back; this is what remains where one does all the same.

use tollgate_core::State;

use crate::world::{
    DAY, HOUR, MINUTE, SECOND, World, after, fixed, leaky, log, nodelay, period, quota, sliding,
    slots, token,
};

const NOW: u64 = 1_767_225_600_000_000;

#[test]
fn within_the_span_a_window_stands_still() {
    for algorithm in [fixed(10, MINUTE), sliding(10, MINUTE, 1), sliding(10, MINUTE, 4)] {
        let mut world = World::of(algorithm.clone());
        assert!(world.admits(NOW, 4));
        let (decision, outcomes) = world.ask(NOW - SECOND, 4);
        assert!(decision.admitted, "{algorithm:?}");
        assert_eq!(outcomes[0].at.as_micros(), NOW);
        assert_eq!(world.remaining(NOW - SECOND), 2);
        assert_eq!(world.remaining(NOW), 2);
        let retry = world.refusal(NOW - SECOND, 3);
        let mut there = world.clone();
        assert_eq!(
            there.refusal(NOW, 3),
            match retry {
                tollgate_core::Retry::After(span) => after(span.get() - SECOND),
                never => never,
            }
        );
    }
}

#[test]
fn within_the_span_a_log_stands_still() {
    let mut world = World::of(log(2, MINUTE));
    assert!(world.admits(NOW, 1));
    assert!(world.admits(NOW - 30 * SECOND, 1));
    assert_eq!(world.standing(NOW - 30 * SECOND), (0, 90 * SECOND, 90 * SECOND));
    assert_eq!(world.refusal(NOW + 59 * SECOND, 2), after(SECOND));
}

#[test]
fn further_ahead_the_state_is_cut_and_the_cut_is_kept_on_a_refusal() {
    let algorithms = [
        (token(10, HOUR, 10), 2 * HOUR),
        (nodelay(10, HOUR, 9), 2 * HOUR),
        (fixed(10, HOUR), HOUR),
        (sliding(10, HOUR, 1), 2 * HOUR),
        (sliding(10, HOUR, 4), HOUR + HOUR / 4),
        (log(10, HOUR), HOUR),
    ];
    for (algorithm, span) in algorithms {
        let mut world = World::of(algorithm.clone());
        // A clock that was a week ahead.
        assert!(world.admits(NOW + 7 * DAY, 10));
        let (decision, outcomes) = world.ask(NOW, 1);
        assert!(!decision.admitted, "{algorithm:?}: what was counted is not forgotten");
        assert!(outcomes[0].changed, "{algorithm:?}");
        assert_eq!(outcomes[0].units, 0);
        assert!(outcomes[0].standing.reset.get() <= span, "{algorithm:?} {outcomes:?}");
        assert_eq!(world.standing(NOW + span), (10, 0, 0), "{algorithm:?}");
    }
}

#[test]
fn the_short_path_tells_the_cut_word_too() {
    let world = World::of(token(10, HOUR, 10));
    let bucket = world.limits[0].bucket64().expect("a plain bucket");
    let ahead = bucket.step(bucket.fresh(), crate::world::at(NOW + 7 * DAY), 10);
    let ahead = ahead.expect("a full bucket");
    let refused = bucket.step(ahead, crate::world::at(NOW), 1).expect_err("it was drained");
    assert!(refused.word < ahead);
    assert!(bucket.step(refused.word, crate::world::at(NOW + 2 * HOUR), 10).is_ok());
}

#[test]
fn slots_that_a_wrong_clock_took_end_one_ttl_from_now() {
    let mut world = World::of(slots(1, MINUTE));
    let charged = world.charge(NOW + DAY, 1);
    let (decision, outcomes) = world.ask(NOW, 1);
    assert!(!decision.admitted && outcomes[0].changed);
    assert_eq!(world.standing(NOW), (0, MINUTE, 0));
    assert!(world.release(&charged, NOW), "its holder still finds it");
    assert_eq!(world.standing(NOW), (1, 0, 0));
}

#[test]
fn a_quota_ahead_of_the_next_period_is_counted_in_this_one() {
    let mut world = World::of(quota(10));
    world.period = Some(period(NOW + 30 * DAY, NOW + 31 * DAY));
    assert!(world.admits(NOW + 30 * DAY, 6));
    world.period = Some(period(NOW, NOW + DAY));
    let (decision, outcomes) = world.ask(NOW, 5);
    assert!(!decision.admitted && outcomes[0].changed);
    assert_eq!(decision.retry, after(DAY));
    assert_eq!(world.states[0], State::Count { start: NOW, count: 6 });
}

#[test]
fn a_leap_and_back_costs_and_gives_at_most_one_capacity() {
    let leaps = [
        token(5, HOUR, 5),
        leaky(5, HOUR, 4, None),
        fixed(5, HOUR),
        sliding(5, HOUR, 1),
        sliding(5, HOUR, 3),
        log(5, HOUR),
    ];
    for algorithm in leaps {
        let mut world = World::of(algorithm.clone());
        assert_eq!(world.passes(NOW, 6), 5);
        assert_eq!(world.passes(NOW + 3 * HOUR, 6), 5, "{algorithm:?}");
        assert_eq!(world.passes(NOW, 6), 0, "{algorithm:?}");
    }
}
