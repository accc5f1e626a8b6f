//! Faults seen in the field, as small cases. The cases whose fault can only be elsewhere:
//!
//! - `num_05` (a script's number to text), and what `num_16` says of a negative cost, belong to the doors and the shared
//!   store: here a cost is unsigned and a time an integer.
//! - `num_14` and `num_18`: the wire's -1 and 429 belong to the doors; what they are made from is here.
//! - `cal_02` to `cal_08`: the bounds of local days come from the policy's calendar; here is what is done with them.
//! - `clk_04` with a monotonic clock belongs to the clock; here is the shared one.

use crate::world::{
    DAY, HOUR, MINUTE, NEVER, SECOND, World, after, fixed, leaky, log, nodelay, period, quota,
    sliding, slots, token,
};

#[test]
fn win_01_burst_around_a_minutes_edge() {
    let table = [(fixed(60, MINUTE), 120), (log(60, MINUTE), 60), (token(1, SECOND, 60), 61)];
    for (algorithm, expected) in table {
        let mut world = World::of(algorithm);
        let admitted = world.passes(59 * SECOND, 60) + world.passes(60 * SECOND, 60);
        assert_eq!(admitted, expected);
    }
}

#[test]
fn win_03_remaining_weighs_the_window_before() {
    let mut world = World::of(sliding(100, MINUTE, 1));
    assert!(world.admits(0, 50) && world.admits(MINUTE, 10));
    let now = MINUTE + 6 * SECOND;
    assert_eq!(world.remaining(now), 45);
    assert_eq!(world.passes(now, 100), 45);
}

#[test]
fn win_04_weighted_counter_is_no_ceiling_and_the_log_is() {
    let mut counter = World::of(sliding(10, 10 * SECOND, 1));
    let mut exact = World::of(log(10, 10 * SECOND));
    for world in [&mut counter, &mut exact] {
        assert_eq!(world.passes(9_950_000, 10), 10);
    }
    assert_eq!(counter.passes(19_900_000, 10), 9);
    assert_eq!(exact.passes(19_900_000, 10), 0);
}

#[test]
fn win_08_six_a_minute_is_six_at_once_unless_the_burst_says_one() {
    assert_eq!(World::of(token(6, MINUTE, 6)).passes(0, 6), 6);
    let mut one = World::of(token(6, MINUTE, 1));
    assert_eq!(one.passes(0, 6), 1);
    assert_eq!(one.refusal(0, 1), after(10 * SECOND));
}

#[test]
fn win_10_weighted_counter_decays_over_the_next_window() {
    let mut world = World::of(sliding(10, MINUTE, 1));
    assert_eq!(world.passes(59 * SECOND, 10), 10);
    let remaining = [60, 90, 119, 120].map(|second| world.remaining(second * SECOND));
    assert_eq!(remaining, [0, 5, 9, 10]);
    // A unit returns with a tenth of the decay, all of them when the next window is over.
    assert_eq!(world.refusal(59 * SECOND, 1), after(7 * SECOND));
    assert_eq!(world.refusal(59 * SECOND, 10), after(61 * SECOND));
    assert_eq!(world.standing(90 * SECOND).1, 30 * SECOND);
}

/// Every driver reads a time earlier than the latest as the latest.
fn as_drivers_read(times: &[u64]) -> Vec<u64> {
    let mut latest = 0;
    times
        .iter()
        .map(|time| {
            latest = latest.max(*time);
            latest
        })
        .collect()
}

#[test]
fn clk_01_step_back_locks_nobody_out() {
    let mut world = World::of(token(1, SECOND, 10));
    let times = as_drivers_read(&[100 * SECOND, 89 * SECOND, 90 * SECOND]);
    assert_eq!(world.passes(times[0], 3), 3);
    for (time, remaining) in [(times[1], 6), (times[2], 5)] {
        let (decision, outcomes) = world.ask(time, 1);
        assert!(decision.admitted);
        assert_eq!(outcomes[0].standing.remaining, remaining);
    }
    // Without such a driver a bucket is cautious, and never owes for time alone.
    let mut raw = World::of(token(1, SECOND, 10));
    assert_eq!(raw.passes(100 * SECOND, 3), 3);
    assert_eq!(raw.remaining(95 * SECOND), 2);
    assert!(raw.admits(95 * SECOND, 0));
}

#[test]
fn clk_03_reading_a_hair_earlier_changes_nothing() {
    for algorithm in [token(1, SECOND, 4), fixed(4, SECOND), sliding(4, SECOND, 1), log(4, SECOND)]
    {
        let mut world = World::of(algorithm);
        let admitted = [100, 100, 99, 101].iter().filter(|time| world.admits(**time, 1)).count();
        assert_eq!(admitted, 4);
    }
}

#[test]
fn clk_04_leap_ahead_gives_one_capacity_at_most() {
    let mut world = World::of(token(5, HOUR, 5));
    assert_eq!(world.passes(0, 6), 5);
    assert_eq!(world.clone().passes(SECOND, 6), 0, "a second brings 5/3600 of a unit");
    assert_eq!(world.passes(HOUR, 6), 5);
}

#[test]
fn clk_07_older_time_of_another_node_issues_nothing_anew() {
    let mut world = World::of(token(150, SECOND, 150));
    let times = as_drivers_read(&[10 * SECOND, 9 * SECOND, 10 * SECOND]);
    let remaining: Vec<u64> = [2, 10, 1]
        .iter()
        .zip(times)
        .map(|(cost, time)| world.ask(time, *cost).1[0].standing.remaining)
        .collect();
    assert_eq!(remaining, [148, 138, 137]);
}

#[test]
fn num_01_polling_throws_no_fraction_away() {
    let mut world = World::of(token(10, SECOND, 10));
    assert!(world.admits(0, 10));
    let allowed: Vec<u64> = (1..=1000).filter(|ms| world.admits(ms * 1000, 1)).collect();
    assert_eq!(allowed, [100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]);
}

#[test]
fn num_03_intervals_are_not_rounded_to_milliseconds() {
    let mut world = World::of(token(700, MINUTE, 700));
    assert_eq!(world.passes(0, 701), 700);
    let (mut now, mut refilled) = (0, 0);
    loop {
        let (decision, _) = world.ask(now, 1);
        match decision.retry {
            _ if decision.admitted => refilled += 1,
            tollgate_core::Retry::After(span) if now + span.get() <= HOUR => now += span.get(),
            _ => break,
        }
    }
    assert_eq!(refilled, 42_000);
    let mut fast = World::of(nodelay(120_000, MINUTE, 0));
    assert!(fast.admits(0, 1));
    assert_eq!(fast.refusal(0, 1), after(500));
}

#[test]
fn num_06_more_units_than_nanoseconds() {
    let mut world = World::of(token(4_000_000_000, SECOND, 4_000_000_000));
    assert!(world.admits(0, 4_000_000_000));
    assert!(!world.admits(0, 4));
    // 4 a nanosecond: 4,000 in the first microsecond.
    assert_eq!(world.refusal(1, 4_001), after(1));
    assert!(world.admits(1, 4_000));
}

#[test]
fn num_08_long_idle_times_do_not_overflow() {
    let mut world = World::of(token(1_000_000, SECOND, 1_000_000));
    assert!(world.admits(0, 1_000_000));
    let (decision, outcomes) = world.ask(43_200 * SECOND, 1);
    assert!(decision.admitted);
    assert_eq!(outcomes[0].standing.remaining, 999_999);
}

#[test]
fn num_10_largest_limits_do_not_wrap() {
    let mut world = World::of(token(2_147_483_647, HOUR, 2_147_483_647));
    assert_eq!(world.ask(0, 1).1[0].standing.remaining, 2_147_483_646);
    let mut world = World::of(token(u64::MAX, HOUR, u64::MAX));
    assert_eq!(world.ask(0, 1).1[0].standing.remaining, u64::MAX - 1);
    let mut world = World::of(fixed(2_147_483_647, HOUR));
    assert_eq!(world.ask(0, 1).1[0].standing.remaining, 2_147_483_646);
    // Windows count to 2^61; beyond they are refused when they are built (`spec_errors.rs`).
    let mut world = World::of(fixed(1 << 61, HOUR));
    assert_eq!(world.ask(0, 1).1[0].standing.remaining, (1 << 61) - 1);
}

#[test]
fn num_12_day_is_a_day() {
    for algorithm in [log(5, DAY), fixed(5, DAY)] {
        let mut world = World::of(algorithm);
        assert_eq!(world.passes(0, 5), 5);
        assert_eq!(world.refusal(20_900 * SECOND, 1), after(65_500 * SECOND));
        assert!(world.admits(DAY, 1));
    }
}

#[test]
fn num_14_impossible_cost_is_never_and_takes_nothing() {
    let mut world = World::of(nodelay(1, MINUTE, 5));
    let (decision, outcomes) = world.ask(0, 10);
    assert_eq!((decision.admitted, decision.retry), (false, NEVER));
    let standing = outcomes[0].standing;
    assert_eq!((standing.remaining, standing.reset.get()), (6, 0));
}

#[test]
fn num_18_limit_of_zero_refuses_the_first_request() {
    let shut = [
        fixed(0, MINUTE),
        sliding(0, MINUTE, 1),
        log(0, MINUTE),
        token(0, MINUTE, 5),
        token(5, MINUTE, 0),
        leaky(0, MINUTE, 5, None),
        slots(0, MINUTE),
    ];
    for algorithm in shut {
        let mut world = World::of(algorithm.clone());
        assert_eq!(world.refusal(0, 1), NEVER, "{algorithm:?}");
        assert_eq!(world.refusal(DAY, 0), NEVER, "{algorithm:?}");
    }
}

#[test]
fn num_20_zero_rate_denies_and_zero_span_is_an_error() {
    use tollgate_core::{Limit, Rules};
    assert_eq!(World::of(token(0, SECOND, 1)).refusal(0, 1), NEVER);
    for count in [5, 0] {
        assert!(Limit::new(token(count, 0, 1), Rules::default()).is_err());
        assert!(Limit::new(leaky(count, 0, 1, None), Rules::default()).is_err());
    }
}

#[test]
fn num_23_five_of_five_pass() {
    for algorithm in [
        fixed(5, 5 * SECOND),
        sliding(5, 5 * SECOND, 1),
        sliding(5, 5 * SECOND, 5),
        log(5, 5 * SECOND),
        token(5, 5 * SECOND, 5),
        nodelay(5, 5 * SECOND, 4),
    ] {
        let mut world = World::of(algorithm);
        for left in (0..5).rev() {
            let (decision, outcomes) = world.ask(0, 1);
            assert!(decision.admitted);
            assert_eq!(outcomes[0].standing.remaining, left);
        }
        assert!(!world.admits(0, 1));
    }
}

#[test]
fn mul_01_refused_by_the_minute_is_not_charged_to_the_half_hour() {
    let mut world = World::several(vec![token(10, MINUTE, 10), token(30, 30 * MINUTE, 30)]);
    assert_eq!(world.passes(0, 31), 10);
    assert_eq!(world.ask(0, 0).1[1].standing.remaining, 20);
}

#[test]
fn mul_03_oversize_request_burns_nothing() {
    for algorithm in [
        fixed(10, MINUTE),
        sliding(10, MINUTE, 1),
        sliding(10, MINUTE, 6),
        log(10, MINUTE),
        quota(10),
        slots(10, MINUTE),
        token(10, MINUTE, 10),
        leaky(10, MINUTE, 9, None),
    ] {
        let mut world = World::of(algorithm);
        world.period = Some(period(0, MINUTE));
        for (cost, admitted, left) in [(8, true, 2), (5, false, 2), (1, true, 1)] {
            let (decision, outcomes) = world.ask(0, cost);
            assert_eq!((decision.admitted, outcomes[0].standing.remaining), (admitted, left));
        }
    }
}

#[test]
fn mul_05_refusals_do_not_hide_a_raised_quota() {
    let mut world = World::of(quota(10));
    world.period = Some(period(0, DAY));
    assert_eq!(world.passes(0, 20), 10);
    let raised = World::of(quota(20)).limits.remove(0);
    let now = crate::world::at(0);
    world.states[0] = raised.carry_over(&world.limits[0], world.states[0].clone(), now);
    world.limits[0] = raised;
    assert_eq!(world.passes(0, 20), 10);
    assert_eq!(world.states[0], tollgate_core::State::Count { start: 0, count: 20 });
}

/// 2026-03-08T05:00:00Z: midnight in New York on the day that clocks go forward.
const SPRING: u64 = 1_772_946_000 * SECOND;
/// 2026-11-01T04:00:00Z: midnight there on the day that they go back.
const AUTUMN: u64 = 1_793_505_600 * SECOND;

#[test]
fn cal_02_days_of_23_and_25_hours() {
    let days =
        [(SPRING, 82_800, SPRING + 1_800 * SECOND, 81_000), (AUTUMN, 90_000, AUTUMN, 90_000)];
    for (start, length, now, retry) in days {
        let mut world = World::of(quota(100));
        world.period = Some(period(start, start + length * SECOND));
        assert!(world.admits(now, 100));
        assert_eq!(world.refusal(now, 1), after(retry * SECOND));
    }
}

#[test]
fn cal_04_day_that_begins_at_one() {
    // 2026-09-06T04:00:00Z: 01:00 in Santiago, where that day has no midnight.
    let first = 1_788_667_200 * SECOND;
    let mut world = World::of(quota(1));
    world.period = Some(period(first - DAY, first));
    assert!(world.admits(first - 2 * SECOND, 1));
    assert_eq!(world.refusal(first - SECOND, 1), after(SECOND));
    world.period = Some(period(first, first + 82_800 * SECOND));
    assert!(world.admits(first, 1));
    assert_eq!(world.refusal(first, 1), after(82_800 * SECOND));
}

#[test]
fn cal_06_resets_once_a_day() {
    // 2026-09-08 and the day after.
    let day = 1_788_825_600 * SECOND;
    let mut world = World::of(quota(10));
    world.period = Some(period(day, day + DAY));
    assert_eq!(world.passes(day + 18 * HOUR, 10), 10);
    world.period = Some(period(day + DAY, day + 2 * DAY));
    let calls = (0..15).map(|call| day + DAY + 5 * MINUTE + call * 20 * SECOND);
    assert_eq!(calls.filter(|now| world.admits(*now, 1)).count(), 10);
}

#[test]
fn cal_08_usage_and_reset_come_from_one_reading() {
    // 2026-04-01T00:00:00Z.
    let april = 1_775_001_600 * SECOND;
    let march = period(april - 31 * DAY, april);
    let mut world = World::of(quota(100));
    world.period = Some(march);
    assert!(world.admits(april - DAY, 7));
    assert_eq!(world.standing(april - 1_000), (93, 1_000, 1_000));
    world.period = Some(period(april, april + 30 * DAY));
    assert_eq!(world.standing(april + 1_000), (100, 0, 0));
}
