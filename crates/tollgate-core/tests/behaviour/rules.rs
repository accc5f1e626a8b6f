//! `count_refused`, `overdraw`, `max_debt` and shadow limits.

use tollgate_core::{Micros, Rules};

use crate::world::{
    COUNT_REFUSED, HOUR, MINUTE, NEVER, OVERDRAW, SECOND, SHADOW, World, after, fixed, leaky,
    limit, nodelay, sliding, token,
};

const NOW: u64 = 1_767_225_600_000_000;

#[test]
fn a_counted_refusal_goes_into_debt_down_to_one_capacity() {
    let mut world = World::ruled(token(1, SECOND, 10), COUNT_REFUSED);
    assert!(world.admits(NOW, 10));
    let (decision, outcomes) = world.ask(NOW, 3);
    assert!(!decision.admitted);
    assert_eq!((outcomes[0].units, outcomes[0].changed), (3, true));
    // At -3, three units are there after six seconds, computed after the charge.
    assert_eq!(decision.retry, after(6 * SECOND));
    assert_eq!(outcomes[0].standing.reset, Micros::new(13 * SECOND));
    let (decision, outcomes) = world.ask(NOW, 9);
    assert_eq!((decision.retry, outcomes[0].units), (after(19 * SECOND), 7));
    // At the bottom nothing more can be taken.
    let (decision, outcomes) = world.ask(NOW, 9);
    assert_eq!((decision.retry, outcomes[0].units), (after(19 * SECOND), 0));
    assert_eq!(world.refusal(NOW, 0), after(10 * SECOND));
}

#[test]
fn a_counted_refusal_beyond_all_the_limit_holds_is_charged_and_never_passes() {
    for algorithm in [token(1, SECOND, 10), fixed(10, HOUR), sliding(10, HOUR, 3)] {
        let mut world = World::ruled(algorithm, COUNT_REFUSED);
        let (decision, outcomes) = world.ask(NOW, 25);
        assert_eq!((decision.retry, outcomes[0].units), (NEVER, 20));
        assert!(!world.admits(NOW, 0));
    }
}

#[test]
fn a_partial_charge_of_a_bucket_is_told_to_the_tick() {
    let mut world = World::ruled(token(3, SECOND, 3), COUNT_REFUSED);
    assert!(world.admits(NOW, 3));
    assert!(!world.admits(NOW, 2));
    // A tenth of a second later the level is -1.7, and a debt of 3 has room for 1.3.
    let (_, outcomes) = world.ask(NOW + 100_000, 3);
    assert_eq!(outcomes[0].units, 1);
    // A unit is a million ticks at 3 a second.
    assert_eq!(outcomes[0].fraction, 300_000);
}

#[test]
fn a_refusal_by_another_is_counted_and_its_retry_time_holds() {
    let limits =
        vec![limit(fixed(1, MINUTE), Rules::default()), limit(token(1, HOUR, 4), COUNT_REFUSED)];
    let mut world = World::new(limits);
    assert!(world.admits(NOW, 1));
    let (decision, outcomes) = world.ask(NOW, 1);
    assert!(!decision.admitted);
    assert!(outcomes[0].refused && !outcomes[1].refused);
    assert_eq!((outcomes[0].units, outcomes[1].units), (0, 1));
    // The second would still admit: only the first makes it wait.
    assert_eq!(decision.retry, after(MINUTE));
    let (decision, outcomes) = world.ask(NOW, 2);
    assert_eq!(outcomes[1].retry, after(2 * HOUR));
    // A cost of 2 the first never admits.
    assert_eq!(decision.retry, NEVER);
    // The last refusal left the second empty, so it refuses by itself from now on.
    let (decision, outcomes) = world.ask(NOW, 1);
    assert!(outcomes[1].refused);
    assert_eq!(decision.retry, after(2 * HOUR));
}

#[test]
fn counted_by_another_alone_its_own_retry_time_counts_all_the_same() {
    let limits =
        vec![limit(fixed(1, MINUTE), Rules::default()), limit(token(1, HOUR, 2), COUNT_REFUSED)];
    let mut world = World::new(limits);
    assert!(world.admits(NOW, 1));
    let (decision, outcomes) = world.ask(NOW, 1);
    assert!(!outcomes[1].refused, "one unit was there");
    assert_eq!(outcomes[1].retry, after(HOUR));
    assert_eq!(decision.retry, after(HOUR));
    assert!(!world.clone().admits(NOW + HOUR - 1, 1));
    assert!(world.admits(NOW + HOUR, 1));
}

#[test]
fn overdraw_admits_above_zero_and_owes_the_rest() {
    let mut world = World::ruled(token(1, SECOND, 10), OVERDRAW);
    assert!(world.admits(NOW, 9));
    let (decision, outcomes) = world.ask(NOW, 6);
    assert!(decision.admitted);
    assert_eq!((outcomes[0].units, outcomes[0].standing.remaining), (6, 0));
    // At -5: its own refusal takes the cost all the same, -7 then, above zero a microsecond after 7 s.
    assert_eq!(world.refusal(NOW, 2), after(7 * SECOND + 1));
    assert_eq!(world.refusal(NOW, 0), after(7 * SECOND));
    assert_eq!(world.refusal(NOW, 99), after(10 * SECOND + 1));
    assert!(!world.clone().admits(NOW + 10 * SECOND, 1));
    assert!(world.clone().admits(NOW + 10 * SECOND, 0));
    assert!(world.admits(NOW + 10 * SECOND + 1, 1_000_000));
}

#[test]
fn overdraw_is_not_charged_for_the_refusal_of_another() {
    let limits =
        vec![limit(fixed(1, MINUTE), Rules::default()), limit(token(1, SECOND, 10), OVERDRAW)];
    let mut world = World::new(limits);
    assert!(world.admits(NOW, 1));
    let (decision, outcomes) = world.ask(NOW, 5);
    assert!(!decision.admitted);
    assert_eq!((outcomes[1].units, outcomes[1].standing.remaining), (0, 9));
}

#[test]
fn max_debt_bounds_what_is_owed_under_either_rule() {
    for count_refused in [false, true] {
        let rules = Rules { max_debt: Some(3), count_refused, ..OVERDRAW };
        for algorithm in [token(1, HOUR, 10), fixed(10, HOUR), sliding(10, HOUR, 1)] {
            let mut world = World::ruled(algorithm, rules.clone());
            let (decision, outcomes) = world.ask(NOW, 40);
            assert_eq!((decision.admitted, outcomes[0].units), (true, 13));
            let (decision, outcomes) = world.ask(NOW, 40);
            assert_eq!((decision.admitted, outcomes[0].units), (false, 0));
        }
    }
    let none = Rules { max_debt: Some(0), ..OVERDRAW };
    let mut world = World::ruled(token(1, SECOND, 2), none);
    assert_eq!(world.ask(NOW, 9).1[0].units, 2);
    assert!(world.admits(NOW, 0));
    assert_eq!(world.refusal(NOW, 1), after(1));
}

#[test]
fn a_shadow_limit_reports_and_never_decides() {
    let limits = vec![
        limit(fixed(2, MINUTE), SHADOW),
        limit(fixed(3, MINUTE), Rules::default()),
        limit(leaky(1, MINUTE, 9, None), SHADOW),
    ];
    let mut world = World::new(limits);
    for expected in [false, false, true] {
        let (decision, outcomes) = world.ask(NOW, 1);
        assert!(decision.admitted);
        assert_eq!(decision.delay, Micros::ZERO);
        assert_eq!(outcomes[0].refused, expected);
        assert_eq!(outcomes[0].units, u64::from(!expected), "charged where it would admit");
    }
    let (decision, outcomes) = world.ask(NOW, 1);
    assert!(!decision.admitted);
    assert_eq!(outcomes[2].units, 0, "not charged where the enforced limits refuse");
    assert_eq!(decision.retry, after(MINUTE));
    assert_eq!(outcomes[2].standing.remaining, 7);
}

#[test]
fn a_shadow_limit_of_nothing_lets_all_pass() {
    let mut world = World::ruled(fixed(0, MINUTE), SHADOW);
    let (decision, outcomes) = world.ask(NOW, 1);
    assert!(decision.admitted);
    assert_eq!((outcomes[0].refused, outcomes[0].retry), (true, NEVER));
}

#[test]
fn a_shadow_limit_charges_by_its_rules_as_if_enforced() {
    let counted = Rules { shadow: true, ..COUNT_REFUSED };
    let overdrawn = Rules { shadow: true, ..OVERDRAW };
    let limits = vec![
        limit(fixed(2, MINUTE), Rules::default()),
        limit(fixed(1, MINUTE), counted),
        limit(fixed(1, MINUTE), overdrawn),
        limit(fixed(9, MINUTE), Rules { shadow: true, ..OVERDRAW }),
    ];
    let mut world = World::new(limits);
    assert!(world.admits(NOW, 1));
    let (decision, outcomes) = world.ask(NOW, 1);
    assert!(decision.admitted);
    // Both would refuse, and charge their own refusal.
    assert_eq!([outcomes[1].refused, outcomes[2].refused], [true, true]);
    assert_eq!([outcomes[1].units, outcomes[2].units], [1, 1]);
    // Refused by the enforced one: its refusal is charged by `count_refused` up to its debt, and by `overdraw` only where
    // that would refuse too.
    let (decision, outcomes) = world.ask(NOW, 1);
    assert!(!decision.admitted);
    assert_eq!([outcomes[1].units, outcomes[2].units, outcomes[3].units], [0, 0, 0]);
    assert_eq!(decision.retry, after(MINUTE));
}

#[test]
fn a_limit_of_nothing_refuses_even_those_who_ask_for_nothing() {
    let algorithms =
        [fixed(0, MINUTE), sliding(0, MINUTE, 4), token(0, SECOND, 5), token(5, SECOND, 0)];
    for algorithm in algorithms.into_iter().chain([nodelay(0, SECOND, 3)]) {
        for overdraw in [false, true] {
            if overdraw && matches!(algorithm, tollgate_core::Algorithm::LeakyBucket(_)) {
                continue;
            }
            let mut world = World::ruled(algorithm.clone(), Rules { overdraw, ..Rules::default() });
            for cost in [0, 1, 7] {
                let (decision, outcomes) = world.ask(NOW, cost);
                assert_eq!((decision.admitted, decision.retry), (false, NEVER), "{algorithm:?}");
                assert_eq!((outcomes[0].units, outcomes[0].changed), (0, false));
                assert_eq!(world.standing(NOW), (0, 0, 0));
            }
        }
    }
}
