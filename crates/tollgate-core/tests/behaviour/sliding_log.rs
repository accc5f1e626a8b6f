//! The sliding log: each admission for exactly one window.

use crate::world::{COUNT_REFUSED, MINUTE, NEVER, SECOND, World, after, log};

const NOW: u64 = 1_767_225_600_000_000;

#[test]
fn an_admission_counts_until_its_age_is_the_window() {
    let mut world = World::of(log(3, MINUTE));
    assert!(world.admits(NOW, 2));
    assert!(world.admits(NOW + 10 * SECOND, 1));
    assert_eq!(world.standing(NOW + 10 * SECOND), (0, MINUTE, 50 * SECOND));
    assert_eq!(world.refusal(NOW + 10 * SECOND, 1), after(50 * SECOND));
    assert_eq!(world.refusal(NOW + 10 * SECOND, 2), after(50 * SECOND));
    assert_eq!(world.refusal(NOW + 10 * SECOND, 3), after(MINUTE));
    assert_eq!(world.refusal(NOW + 10 * SECOND, 4), NEVER);
    assert_eq!(world.refusal(NOW + MINUTE - 1, 1), after(1));
    assert_eq!(world.standing(NOW + MINUTE), (2, 10 * SECOND, 10 * SECOND));
    assert!(world.admits(NOW + MINUTE, 2));
    assert_eq!(world.standing(NOW + 3 * MINUTE), (3, 0, 0));
}

#[test]
fn counting_refusals_keeps_the_newest_units() {
    let mut world = World::ruled(log(3, MINUTE), COUNT_REFUSED);
    assert!(world.admits(NOW, 3));
    // Two of the first three make room.
    let (decision, outcomes) = world.ask(NOW + 20 * SECOND, 2);
    assert!(!decision.admitted);
    assert_eq!(outcomes[0].units, 2);
    assert_eq!(outcomes[0].standing.remaining, 0);
    // One unit ends with the minute, the two newer ones 20 s later: two units are free only then.
    assert_eq!(decision.retry, after(MINUTE));
    assert_eq!(world.standing(NOW + MINUTE).0, 1);
    assert_eq!(world.standing(NOW + MINUTE + 20 * SECOND), (3, 0, 0));
}

#[test]
fn a_cost_beyond_the_limit_fills_the_log_and_never_passes() {
    let mut world = World::ruled(log(3, MINUTE), COUNT_REFUSED);
    let (decision, outcomes) = world.ask(NOW, 50);
    assert_eq!(decision.retry, NEVER);
    assert_eq!((outcomes[0].units, outcomes[0].standing.remaining), (3, 0));
    assert_eq!(world.standing(NOW), (0, MINUTE, MINUTE));
}

#[test]
fn however_many_refusals_are_counted_the_log_stays_small() {
    let mut world = World::ruled(log(3, MINUTE), COUNT_REFUSED);
    let first = world.charge(NOW, 3);
    let before = format!("{:?}", world.states[0]).len();
    for later in 1..1_000 {
        assert!(!world.admits(NOW + later, 1));
    }
    // Three entries of one unit in place of one of three.
    assert!(format!("{:?}", world.states[0]).len() < 3 * before);
    assert!(!world.settle(&first, 0, NOW + 1_000), "the oldest made room");
    assert_eq!(world.standing(NOW + MINUTE + 998), (2, 1, 1));
}
