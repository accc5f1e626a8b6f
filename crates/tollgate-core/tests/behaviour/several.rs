//! Several limits at once: all or nothing.

use tollgate_core::Micros;

use crate::world::{
    DAY, HOUR, MINUTE, NEVER, SECOND, World, after, fixed, leaky, log, quota, sliding, slots, token,
};

const NOW: u64 = 1_767_225_600_000_000;

#[test]
fn if_one_refuses_none_is_charged() {
    let algorithms = vec![
        token(1, SECOND, 9),
        leaky(1, SECOND, 9, None),
        fixed(9, HOUR),
        sliding(9, HOUR, 1),
        sliding(9, HOUR, 6),
        log(9, HOUR),
        slots(9, HOUR),
        fixed(2, HOUR),
    ];
    let mut world = World::several(algorithms);
    assert!(world.admits(NOW, 2));
    let before = world.states.clone();
    for cost in [0, 1, 2] {
        let (decision, outcomes) = world.ask(NOW, cost);
        assert_eq!(decision.admitted, cost == 0);
        assert!(outcomes.iter().all(|outcome| outcome.units == 0 && !outcome.changed));
        assert_eq!(world.states, before);
    }
}

#[test]
fn the_longest_retry_time_holds_and_never_beats_it() {
    let mut world = World::several(vec![token(1, SECOND, 1), fixed(1, DAY), log(1, MINUTE)]);
    assert!(world.admits(NOW, 1));
    let (decision, outcomes) = world.ask(NOW, 1);
    assert!(outcomes.iter().all(|outcome| outcome.refused));
    assert_eq!(decision.retry, after(DAY));
    assert_eq!(outcomes[0].retry, after(SECOND));
    let (decision, outcomes) = world.ask_held(NOW, &[1, 1, 2], None);
    assert_eq!((decision.retry, outcomes[1].retry), (NEVER, after(DAY)));
}

#[test]
fn slots_neither_shorten_nor_lengthen_the_retry_time() {
    let mut world = World::several(vec![slots(1, DAY), token(1, SECOND, 1)]);
    assert!(world.admits(NOW, 1));
    assert_eq!(world.ask(NOW, 1).0.retry, after(SECOND));
    assert_eq!(world.ask_held(NOW, &[1, 0], None).0.retry, after(0));
}

#[test]
fn the_longest_delay_holds() {
    let mut world =
        World::several(vec![leaky(2, SECOND, 5, None), leaky(1, SECOND, 5, None), quota(9)]);
    world.period = Some(crate::world::period(NOW, NOW + DAY));
    assert!(world.admits(NOW, 1));
    let (decision, outcomes) = world.ask(NOW, 1);
    assert_eq!(decision.delay, Micros::from_secs(1));
    assert_eq!(outcomes[0].wait, Micros::new(500_000));
    assert_eq!(outcomes[2].wait, Micros::ZERO);
}

#[test]
fn no_limits_admit() {
    let mut world = World::several(vec![]);
    let (decision, outcomes) = world.ask(NOW, 1);
    assert!(decision.admitted && outcomes.is_empty());
    assert_eq!((decision.delay, decision.retry), (Micros::ZERO, after(0)));
}
