//! Slots: held until released, or for `ttl`.

use crate::world::{NEVER, SECOND, World, after, leaky, limit, slots};
use tollgate_core::Rules;

const NOW: u64 = 1_767_225_600_000_000;

#[test]
fn slots_are_held_until_released() {
    let mut world = World::of(slots(2, 10 * SECOND));
    let first = world.charge(NOW, 1);
    let second = world.charge(NOW + 1, 1);
    assert_eq!(world.standing(NOW + 1), (0, 10 * SECOND, 0));
    assert_eq!(world.refusal(NOW + 1, 1), after(0));
    assert_eq!(world.refusal(NOW + 1, 3), NEVER);
    assert!(world.release(&first, NOW + 2));
    assert!(!world.release(&first, NOW + 2), "a slot is released once");
    assert!(world.admits(NOW + 2, 1));
    assert!(world.release(&second, NOW + 3));
    assert_eq!(world.remaining(NOW + 3), 1);
}

#[test]
fn a_slot_whose_holder_died_frees_itself() {
    let mut world = World::of(slots(1, 10 * SECOND));
    let lost = world.charge(NOW, 1);
    assert!(!world.admits(NOW + 10 * SECOND - 1, 1));
    assert!(world.admits(NOW + 10 * SECOND, 1));
    // Coming back late, it does not free the slot of the next.
    assert!(!world.release(&lost, NOW + 10 * SECOND));
    assert_eq!(world.remaining(NOW + 10 * SECOND), 0);
}

#[test]
fn slots_may_be_taken_several_at_once() {
    let mut world = World::of(slots(5, SECOND));
    let three = world.charge(NOW, 3);
    assert_eq!(world.refusal(NOW, 3), after(0));
    assert!(world.admits(NOW, 2));
    assert!(world.release(&three, NOW));
    assert_eq!(world.remaining(NOW), 3);
}

#[test]
fn a_slot_held_for_a_known_time_ends_by_itself() {
    let mut world = World::of(slots(1, 10 * SECOND));
    assert!(world.ask_held(NOW, &[1], Some(3 * SECOND)).0.admitted);
    assert_eq!(world.standing(NOW), (0, 3 * SECOND, 0));
    assert!(!world.ask_held(NOW + 3 * SECOND - 1, &[1], Some(0)).0.admitted);
    // Held for no time, nothing is taken; held for longer than `ttl`, `ttl` it is.
    let (decision, outcomes) = world.ask_held(NOW + 3 * SECOND, &[1], Some(0));
    assert!(decision.admitted);
    assert_eq!((outcomes[0].units, outcomes[0].changed), (0, false));
    assert_eq!(outcomes[0].standing.remaining, 1);
    assert!(world.ask_held(NOW + 3 * SECOND, &[1], Some(15 * SECOND)).0.admitted);
    assert_eq!(world.standing(NOW + 3 * SECOND).1, 10 * SECOND);
}

#[test]
fn a_request_that_waits_holds_its_slot_while_it_waits() {
    let plain = Rules::default;
    let limits =
        vec![limit(slots(9, 60 * SECOND), plain()), limit(leaky(1, SECOND, 5, None), plain())];
    let mut world = World::new(limits);
    world.ask_held(NOW, &[1, 1], Some(SECOND / 2));
    let (decision, outcomes) = world.ask_held(NOW, &[1, 1], Some(SECOND / 2));
    assert_eq!(decision.delay.get(), SECOND);
    assert_eq!(outcomes[0].standing.reset.get(), SECOND + SECOND / 2);
    // A request with no duration that waits holds its slot for the wait.
    let (_, outcomes) = world.ask_held(NOW, &[1, 1], Some(0));
    assert_eq!(outcomes[0].standing.reset.get(), 2 * SECOND);
    assert_eq!(outcomes[0].standing.remaining, 6);
}
