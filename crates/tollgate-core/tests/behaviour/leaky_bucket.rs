//! Leaky buckets: nginx's `limit_req`, with exact delays.

use tollgate_core::Micros;

use crate::world::{NEVER, SECOND, World, after, leaky, nodelay};

const NOW: u64 = 1_767_225_600_000_000;

fn delay(world: &mut World, now: u64, cost: u64) -> u64 {
    let (decision, outcomes) = world.ask(now, cost);
    assert!(decision.admitted, "refused at {now}");
    assert_eq!(decision.delay, outcomes[0].wait);
    decision.delay.get()
}

#[test]
fn those_that_wait_leave_one_by_one() {
    let mut world = World::of(leaky(2, SECOND, 3, None));
    let delays: Vec<u64> = (0..4).map(|_| delay(&mut world, NOW, 1)).collect();
    assert_eq!(delays, [0, 500_000, 1_000_000, 1_500_000]);
    assert_eq!(world.refusal(NOW, 1), after(500_000));
    assert_eq!(delay(&mut world, NOW + 500_000, 1), 1_500_000);
}

#[test]
fn without_a_burst_one_is_served_and_nobody_waits() {
    let mut world = World::of(leaky(10, SECOND, 0, None));
    assert_eq!(world.standing(NOW), (1, 0, 0));
    assert_eq!(delay(&mut world, NOW, 1), 0);
    assert_eq!(world.standing(NOW), (0, 100_000, 100_000));
    assert_eq!(world.refusal(NOW + 1, 1), after(99_999));
    assert_eq!(world.refusal(NOW, 2), NEVER);
}

#[test]
fn delays_round_up_to_the_microsecond() {
    let mut world = World::of(leaky(3, SECOND, 5, None));
    let delays: Vec<u64> = (0..4).map(|_| delay(&mut world, NOW, 1)).collect();
    assert_eq!(delays, [0, 333_334, 666_667, 1_000_000]);
}

#[test]
fn nodelay_lets_the_burst_leave_at_once() {
    let mut world = World::of(nodelay(2, SECOND, 3));
    for _ in 0..4 {
        assert_eq!(delay(&mut world, NOW, 1), 0);
    }
    assert_eq!(world.refusal(NOW, 1), after(500_000));
}

#[test]
fn a_wait_beyond_max_wait_is_refused_however_small_the_cost() {
    let mut world = World::of(leaky(1, SECOND, 10, Some(2 * SECOND)));
    let delays: Vec<u64> = (0..3).map(|_| delay(&mut world, NOW, 1)).collect();
    assert_eq!(delays, [0, SECOND, 2 * SECOND]);
    // The next would wait 3 s.
    assert_eq!(world.standing(NOW), (0, 3 * SECOND, SECOND));
    assert_eq!(world.refusal(NOW, 1), after(SECOND));
    assert_eq!(world.refusal(NOW, 0), after(SECOND));
    // One second later it waits 2 s; room there is for 9, since wait + cost * T may be 11 s.
    assert_eq!(world.standing(NOW + SECOND), (9, 2 * SECOND, SECOND));
    assert_eq!(world.refusal(NOW + SECOND, 10), after(SECOND));
    assert_eq!(delay(&mut world, NOW + SECOND, 9), 2 * SECOND);
}

#[test]
fn asking_for_nothing_waits_as_others_do() {
    let mut world = World::of(leaky(1, SECOND, 4, None));
    assert_eq!(delay(&mut world, NOW, 2), 0);
    assert_eq!(delay(&mut world, NOW, 0), 2 * SECOND);
    assert_eq!(world.standing(NOW), (3, 2 * SECOND, SECOND));
}

#[test]
fn a_refusal_has_no_wait() {
    let mut world = World::of(leaky(1, SECOND, 0, None));
    assert_eq!(delay(&mut world, NOW, 1), 0);
    let (decision, outcomes) = world.ask(NOW, 1);
    assert_eq!((decision.delay, outcomes[0].wait), (Micros::ZERO, Micros::ZERO));
}
