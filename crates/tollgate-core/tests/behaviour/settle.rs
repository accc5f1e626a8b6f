//! Giving back, and charging what turned out to cost more.

use crate::world::{
    DAY, HOUR, MINUTE, OVERDRAW, SECOND, World, after, fixed, log, period, quota, sliding, slots,
    token,
};

const NOW: u64 = 1_767_225_600_000_000;

#[test]
fn a_window_gives_back_in_its_own_cell() {
    let mut world = World::of(sliding(10, MINUTE, 1));
    let first = world.charge(NOW, 4);
    let second = world.charge(NOW + MINUTE, 2);
    let now = NOW + MINUTE + 30 * SECOND;
    // Half of 4, and 2.
    assert_eq!(world.remaining(now), 6);
    assert!(world.settle(&first, 1, now));
    assert_eq!(world.remaining(now), 7);
    assert!(world.settle(&second, 0, now));
    assert_eq!(world.remaining(now), 9);
    // Two windows later the first cell counts no more, and giving back changes nothing.
    assert!(world.admits(NOW + 2 * MINUTE, 1));
    assert!(!world.settle(&first, 0, NOW + 2 * MINUTE));
    assert_eq!(world.remaining(NOW + 2 * MINUTE), 9);
}

#[test]
fn many_cells_give_back_in_the_cell_of_the_charge() {
    let mut world = World::of(sliding(10, MINUTE, 6));
    let early = world.charge(NOW + 5 * SECOND, 3);
    let late = world.charge(NOW + 45 * SECOND, 3);
    assert!(world.settle(&early, 0, NOW + 50 * SECOND));
    assert_eq!(world.standing(NOW + 50 * SECOND), (7, 60 * SECOND, 10 * SECOND));
    assert!(world.settle(&late, 2, NOW + 55 * SECOND));
    assert_eq!(world.remaining(NOW + 55 * SECOND), 8);
    assert!(world.admits(NOW + 55 * SECOND, 8));
    assert!(world.admits(NOW + 3 * MINUTE, 1));
    assert!(!world.settle(&late, 0, NOW + 3 * MINUTE), "that cell is long past");
}

#[test]
fn a_fixed_window_and_a_quota_give_back_while_their_frame_counts() {
    for algorithm in [fixed(10, DAY), quota(10)] {
        let mut world = World::of(algorithm);
        let day = NOW - NOW % DAY;
        world.period = Some(period(day, day + DAY));
        let charged = world.charge(NOW, 6);
        assert!(world.settle(&charged, 2, NOW + HOUR));
        assert_eq!(world.remaining(NOW + HOUR), 8);
        world.period = Some(period(day + DAY, day + 2 * DAY));
        assert!(world.admits(day + DAY, 3));
        assert!(!world.settle(&charged, 0, day + DAY));
        assert_eq!(world.remaining(day + DAY), 7);
    }
}

#[test]
fn a_log_gives_back_in_the_entry_of_the_request() {
    let mut world = World::of(log(10, MINUTE));
    let first = world.charge(NOW, 4);
    let second = world.charge(NOW, 4);
    assert!(world.settle(&first, 0, NOW));
    assert!(!world.settle(&first, 0, NOW), "it holds nothing more");
    assert_eq!(world.remaining(NOW), 6);
    assert!(world.settle(&second, 3, NOW));
    assert_eq!(world.standing(NOW), (7, MINUTE, MINUTE));
    assert_eq!(world.standing(NOW + MINUTE), (10, 0, 0));
}

#[test]
fn a_slot_gives_back_some_of_its_units() {
    let mut world = World::of(slots(5, MINUTE));
    let charged = world.charge(NOW, 4);
    assert!(world.settle(&charged, 1, NOW));
    assert_eq!(world.remaining(NOW), 4);
    assert!(world.settle(&charged, 6, NOW), "two more than it took");
    assert_eq!(world.remaining(NOW), 2);
    assert!(world.release(&charged, NOW));
    assert_eq!(world.standing(NOW), (5, 0, 0));
}

#[test]
fn a_bucket_gives_back_less_what_may_have_been_refilled_since() {
    let mut world = World::of(token(1, SECOND, 10));
    let charged = world.charge(NOW, 6);
    let mut at_once = world.clone();
    assert!(at_once.settle(&charged, 0, NOW));
    assert_eq!(at_once.standing(NOW), (10, 0, 0));
    // Two seconds later 4 s are missing; 6 s are given back, less 2: min(6, 4) - 2.
    assert!(world.settle(&charged, 0, NOW + 2 * SECOND));
    assert_eq!(world.standing(NOW + 2 * SECOND), (8, 2 * SECOND, SECOND));
    // After six seconds there would be nothing left to give.
    let mut late = World::of(token(1, SECOND, 10));
    let charged = late.charge(NOW, 6);
    assert!(late.admits(NOW + 6 * SECOND, 6));
    assert!(!late.settle(&charged, 0, NOW + 6 * SECOND));
    assert_eq!(late.remaining(NOW + 6 * SECOND), 4);
}

#[test]
fn a_bucket_that_was_full_in_between_gives_nothing_away() {
    let mut world = World::of(token(1, SECOND, 10));
    let charged = world.charge(NOW, 3);
    // Full again after 3 s; then 10 are taken at once.
    assert!(world.admits(NOW + 4 * SECOND, 10));
    assert!(!world.settle(&charged, 0, NOW + 4 * SECOND));
    assert_eq!(world.remaining(NOW + 4 * SECOND), 0);
}

#[test]
fn what_a_clamp_took_of_a_bucket_is_given_back_to_the_tick() {
    let mut world = World::ruled(token(3, SECOND, 3), OVERDRAW);
    assert!(world.admits(NOW, 3));
    // A tenth of a second later the level is 0.3: 3.3 units are all that may be taken.
    let now = NOW + 100_000;
    let charged = world.charge(now, 50);
    assert_eq!((charged.units, charged.fraction), (3, 300_000));
    assert_eq!(world.standing(now).1, 2 * SECOND);
    assert!(world.settle(&charged, 0, now));
    assert_eq!(world.standing(now).1, SECOND - 100_000);
}

#[test]
fn true_costs_above_the_charge_go_into_debt() {
    let mut world = World::of(token(1, SECOND, 10));
    let charged = world.charge(NOW, 5);
    assert!(world.settle(&charged, 12, NOW));
    // -2 now; the debt ends at one capacity.
    assert_eq!(world.refusal(NOW, 0), after(2 * SECOND));
    assert!(world.settle(&charged, 900, NOW));
    assert_eq!(world.refusal(NOW, 1), after(11 * SECOND));
    for algorithm in [fixed(10, HOUR), sliding(10, HOUR, 1), sliding(10, HOUR, 4)] {
        let mut world = World::of(algorithm);
        let charged = world.charge(NOW, 5);
        assert!(world.settle(&charged, 900, NOW));
        assert!(!world.admits(NOW, 0));
        assert!(!world.settle(&charged, 900, NOW), "the debt is bounded");
    }
    let mut world = World::of(log(10, HOUR));
    let charged = world.charge(NOW, 5);
    assert!(world.settle(&charged, 8, NOW));
    assert_eq!(world.remaining(NOW), 2);
}

#[test]
fn a_settlement_of_the_same_cost_changes_nothing() {
    let mut world = World::of(token(1, SECOND, 10));
    let charged = world.charge(NOW, 5);
    assert!(!world.settle(&charged, 5, NOW + SECOND));
}
