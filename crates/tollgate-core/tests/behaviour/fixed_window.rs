//! Fixed windows, aligned to the epoch.

use crate::world::{HOUR, MINUTE, NEVER, OVERDRAW, SECOND, World, after, fixed};

#[test]
fn counts_until_the_window_ends() {
    let mut world = World::of(fixed(5, MINUTE));
    let now = 100 * MINUTE + 40 * SECOND;
    assert_eq!(world.standing(now), (5, 0, 0));
    assert!(world.admits(now, 3));
    assert_eq!(world.standing(now), (2, 20 * SECOND, 20 * SECOND));
    assert_eq!(world.refusal(now, 3), after(20 * SECOND));
    assert_eq!(world.refusal(now, 6), NEVER);
    assert!(world.admits(now, 2));
    assert!(world.admits(now, 0));
    assert_eq!(world.refusal(101 * MINUTE - 1, 1), after(1));
    assert!(world.admits(101 * MINUTE, 5));
}

#[test]
fn windows_are_aligned_to_the_epoch_even_if_odd() {
    let window = 7 * SECOND + 1;
    let mut world = World::of(fixed(1, window));
    let now = 1_767_225_600_000_000;
    assert!(world.admits(now, 1));
    let end = (now / window + 1) * window;
    assert_eq!(world.refusal(now, 1), after(end - now));
    assert!(!world.admits(end - 1, 1));
    assert!(world.admits(end, 1));
}

#[test]
fn in_debt_even_asking_for_nothing_waits_for_the_next_window() {
    let mut world = World::ruled(fixed(5, HOUR), OVERDRAW);
    assert!(world.admits(0, 7));
    assert_eq!(world.refusal(0, 0), after(HOUR));
    assert_eq!(world.remaining(0), 0);
    assert!(world.admits(HOUR, 0));
}
