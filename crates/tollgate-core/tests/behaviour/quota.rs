//! Quotas: the caller says which period it is.

use crate::world::{DAY, HOUR, NEVER, World, after, at, limit, period, quota};
use tollgate_core::Rules;

const TODAY: u64 = 20_454 * DAY;

#[test]
fn a_period_ends_when_the_next_begins_however_long_it_was() {
    let mut world = World::of(quota(10));
    // A day of 23 hours.
    world.period = Some(period(TODAY, TODAY + 23 * HOUR));
    let now = TODAY + 5 * HOUR;
    assert!(world.admits(now, 10));
    assert_eq!(world.standing(now), (0, 18 * HOUR, 18 * HOUR));
    assert_eq!(world.refusal(now, 1), after(18 * HOUR));
    assert_eq!(world.refusal(now, 11), NEVER);
    world.period = Some(period(TODAY + 23 * HOUR, TODAY + 48 * HOUR));
    assert!(world.admits(TODAY + 23 * HOUR, 10));
}

#[test]
fn a_period_that_was_left_does_not_reopen() {
    let mut world = World::of(quota(10));
    let (first, second) = (period(TODAY, TODAY + DAY), period(TODAY + DAY, TODAY + 2 * DAY));
    world.period = Some(second);
    assert!(world.admits(TODAY + DAY, 4));
    // A clock a second behind is still in the day before; its charges count today.
    world.period = Some(first);
    let (decision, outcomes) = world.ask(TODAY + DAY - 1_000_000, 5);
    assert!(decision.admitted);
    assert_eq!(outcomes[0].at, at(TODAY + DAY));
    assert_eq!(outcomes[0].standing.remaining, 1);
    world.period = Some(second);
    assert_eq!(world.remaining(TODAY + DAY), 1);
}

#[test]
fn a_period_is_fresh_again_once_a_later_one_is_known() {
    let one = limit(quota(10), Rules::default());
    let mut world = World::new(vec![one.clone()]);
    world.period = Some(period(TODAY, TODAY + DAY));
    world.admits(TODAY, 1);
    let state = &world.states[0];
    assert!(!one.is_fresh(state, None, at(TODAY + 9 * DAY)));
    assert!(!one.is_fresh(state, world.period, at(TODAY + HOUR)));
    assert!(one.is_fresh(state, Some(period(TODAY + DAY, TODAY + 2 * DAY)), at(TODAY + DAY)));
}
