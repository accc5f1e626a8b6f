//! Reloads: what was counted stays counted.

use tollgate_core::{Algorithm, Limit, Micros, Rules, State};

use crate::world::{
    COUNT_REFUSED, DAY, HOUR, MINUTE, SECOND, World, at, fixed, leaky, limit, log, period, quota,
    sliding, slots, token,
};

const NOW: u64 = 1_767_225_600_000_000;

fn plain(algorithm: Algorithm) -> Limit {
    limit(algorithm, Rules::default())
}

/// The world after its limit became `algorithm` at `now`.
fn reloaded(mut world: World, algorithm: Algorithm, now: u64) -> World {
    let new = limit(algorithm, world.limits[0].rules().clone());
    world.states[0] = new.carry_over(&world.limits[0], world.states[0].clone(), at(now));
    world.limits[0] = new;
    world
}

#[test]
fn counts_stay_as_they_are() {
    let pairs = [
        (fixed(10, HOUR), fixed(8, HOUR), 1),
        (sliding(10, HOUR, 1), sliding(20, HOUR, 1), 13),
        (sliding(10, HOUR, 4), sliding(20, HOUR, 4), 13),
        (log(10, HOUR), log(9, HOUR), 2),
        (quota(10), quota(12), 5),
        (slots(10, HOUR), slots(11, HOUR), 4),
    ];
    for (old, new, remaining) in pairs {
        let mut world = World::of(old);
        world.period = Some(period(NOW - NOW % DAY, NOW - NOW % DAY + DAY));
        assert!(world.admits(NOW, 7));
        assert_eq!(reloaded(world, new.clone(), NOW).remaining(NOW), remaining, "{new:?}");
    }
}

#[test]
fn a_lowered_limit_refuses_until_what_was_counted_fits() {
    for (old, new) in [
        (fixed(10, HOUR), fixed(3, HOUR)),
        (sliding(10, HOUR, 1), sliding(3, HOUR, 1)),
        (log(10, HOUR), log(3, HOUR)),
        (slots(10, HOUR), slots(3, HOUR)),
    ] {
        let mut world = World::of(old);
        assert!(world.admits(NOW, 7));
        let mut world = reloaded(world, new.clone(), NOW);
        assert_eq!(world.remaining(NOW), 0);
        assert!(!world.admits(NOW, 1) && !world.admits(NOW, 0), "{new:?}");
        assert!(world.admits(NOW + 2 * HOUR, 3));
    }
}

#[test]
fn a_level_becomes_the_smaller_of_itself_and_the_new_capacity() {
    let mut world = World::of(token(1, SECOND, 10));
    assert!(world.admits(NOW, 4));
    let cases = [
        (token(1, SECOND, 20), 6, 14 * SECOND),
        (token(1, SECOND, 6), 6, 0),
        (token(1, SECOND, 5), 5, 0),
        (token(2, SECOND, 10), 6, 2 * SECOND),
        (token(1, HOUR, 10), 6, 4 * HOUR),
        (token(1_234_567, SECOND, 10), 6, 4),
    ];
    for (new, remaining, reset) in cases {
        let world = reloaded(world.clone(), new.clone(), NOW);
        let standing = world.standing(NOW);
        assert_eq!((standing.0, standing.1), (remaining, reset), "{new:?}");
    }
}

#[test]
fn a_full_bucket_stays_full_and_a_debt_stays_a_debt() {
    let mut world = World::of(token(1, SECOND, 10));
    assert!(world.admits(NOW, 4));
    let full = reloaded(world, token(1, SECOND, 100), NOW + 4 * SECOND);
    assert_eq!(full.standing(NOW + 4 * SECOND), (100, 0, 0));

    let mut world = World::ruled(token(1, SECOND, 10), COUNT_REFUSED);
    assert!(world.admits(NOW, 10) && !world.admits(NOW, 4));
    let owing = reloaded(world.clone(), token(1, MINUTE, 5), NOW);
    assert_eq!(owing.standing(NOW).1, 9 * MINUTE);
    // Where the new debt is bounded closer, that bound holds.
    let bounded = reloaded(world, token(1, MINUTE, 3), NOW);
    assert_eq!(bounded.standing(NOW).1, 6 * MINUTE);
}

#[test]
fn a_leaky_bucket_keeps_its_room() {
    let mut world = World::of(leaky(1, SECOND, 9, None));
    assert!(world.admits(NOW, 4));
    // Level 6 of 10; of 5 only 5 are left: nobody waits.
    assert_eq!(reloaded(world.clone(), leaky(1, SECOND, 4, None), NOW).standing(NOW), (5, 0, 0));
    let wider = reloaded(world, leaky(1, SECOND, 11, None), NOW);
    assert_eq!(wider.standing(NOW), (6, 6 * SECOND, SECOND));
}

#[test]
fn a_changed_shape_begins_fresh() {
    let pairs = [
        (fixed(10, HOUR), fixed(10, DAY)),
        (sliding(10, HOUR, 2), sliding(10, HOUR, 3)),
        (sliding(10, HOUR, 1), sliding(10, DAY, 1)),
        (log(10, HOUR), log(10, DAY)),
        (fixed(10, HOUR), sliding(10, HOUR, 1)),
        (token(10, HOUR, 10), leaky(10, HOUR, 9, None)),
    ];
    for (old, new) in pairs {
        let mut world = World::of(old);
        assert!(world.admits(NOW, 7));
        assert_eq!(
            plain(new).carry_over(&world.limits[0], world.states[0].clone(), at(NOW)),
            State::Fresh
        );
    }
}

#[test]
fn a_window_shut_for_a_while_keeps_what_it_counted() {
    let mut world = World::of(fixed(10, HOUR));
    assert!(world.admits(NOW, 7));
    let mut shut = reloaded(world, fixed(0, HOUR), NOW);
    assert!(!shut.admits(NOW, 0));
    let open = reloaded(shut, fixed(10, HOUR), NOW);
    assert_eq!(open.remaining(NOW), 3);
    assert_eq!(open.limits[0].standing(&State::Fresh, None, at(NOW)).next, Micros::ZERO);
}
