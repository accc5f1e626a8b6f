//! Retry times, remaining and reset are exact; a refusal takes nothing; `changed` and words are honest.

use proptest::prelude::*;
use tollgate_core::{Decision, Limit, Outcome, Retry, Rules, State};

use super::courses::{NOW, any_limits, config, course, limits, turn_to};
use crate::world::{World, at, limit};

fn ask(world: &mut World, now: u64, cost: u64) -> (Decision, Vec<Outcome>) {
    turn_to(world, now);
    world.ask(now, cost)
}

/// With no other traffic, `cost` is refused one microsecond before `retry` and admitted at it.
fn holds(world: &World, now: u64, cost: u64, retry: Retry) -> Result<(), TestCaseError> {
    let admitted = |span: u64| ask(&mut world.clone(), now + span, cost).0.admitted;
    match retry {
        Retry::After(span) => {
            prop_assert!(span.get() > 0, "a refusal says when");
            prop_assert!(!admitted(span.get() - 1), "refused a microsecond before {span:?}");
            prop_assert!(admitted(span.get()), "admitted at {span:?}");
        }
        Retry::Never => {
            for span in [1, 1_000_000, 86_400_000_000, 1 << 52] {
                prop_assert!(!admitted(span), "never, but admitted after {span}");
            }
        }
    }
    Ok(())
}

/// `remaining` is the largest cost that is admitted.
fn remaining_holds(
    one: &Limit,
    state: &State,
    now: u64,
    outcome: &Outcome,
) -> Result<(), TestCaseError> {
    if one.rules().overdraw {
        return Ok(());
    }
    let mut alone = World::new(vec![limit(one.algorithm().clone(), Rules::default())]);
    // The rules decide where debt ends, and so how a state is read: compare under the same ones.
    alone.limits[0] = one.clone();
    alone.states[0] = state.clone();
    let remaining = outcome.standing.remaining;
    let admitted = |cost: u64| ask(&mut alone.clone(), now, cost).0.admitted;
    prop_assert!(!admitted(remaining + 1), "more than {remaining} of {one:?}");
    prop_assert!(remaining == 0 || admitted(remaining), "not {remaining} of {one:?}");
    Ok(())
}

/// After `reset` the state is as fresh as new, a microsecond before it is not.
fn reset_holds(
    one: &Limit,
    state: &State,
    now: u64,
    outcome: &Outcome,
) -> Result<(), TestCaseError> {
    let reset = outcome.standing.reset.get();
    let mut world = World::new(vec![one.clone()]);
    turn_to(&mut world, now + reset);
    let period = world.period;
    prop_assert!(one.is_fresh(state, period, at(now + reset)), "{one:?} {state:?}");
    let fresh = one.standing(&State::Fresh, period, at(now + reset));
    prop_assert_eq!(one.standing(state, period, at(now + reset)), fresh);
    if reset > 0 {
        turn_to(&mut world, now + reset - 1);
        prop_assert!(!one.is_fresh(state, world.period, at(now + reset - 1)));
        let standing = one.standing(state, world.period, at(now + reset - 1));
        prop_assert_eq!(standing.reset.get(), 1);
    }
    Ok(())
}

/// `remaining` does not grow before `next`, and where time alone makes it grow (buckets, fixed frames, logs) it does at it.
fn next_holds(
    one: &Limit,
    state: &State,
    now: u64,
    outcome: &Outcome,
) -> Result<(), TestCaseError> {
    use tollgate_core::Algorithm::{Concurrency, SlidingWindow};
    let next = outcome.standing.next.get();
    if next == 0 || matches!(one.algorithm(), SlidingWindow(_) | Concurrency(_)) {
        return Ok(());
    }
    let remaining = |span: u64| {
        let mut world = World::new(vec![one.clone()]);
        turn_to(&mut world, now + span);
        one.standing(state, world.period, at(now + span)).remaining
    };
    prop_assert_eq!(remaining(next - 1), outcome.standing.remaining, "{:?}", one);
    let grown = remaining(next) > outcome.standing.remaining;
    let indebted = outcome.standing.remaining == 0;
    prop_assert!(grown || indebted, "{one:?} does not grow after {next}");
    Ok(())
}

fn world_holds(world: &World, now: u64, outcomes: &[Outcome]) -> Result<(), TestCaseError> {
    for ((one, state), outcome) in world.limits.iter().zip(&world.states).zip(outcomes) {
        remaining_holds(one, state, now, outcome)?;
        reset_holds(one, state, now, outcome)?;
        next_holds(one, state, now, outcome)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(600, 0x7011_9a7e))]

    #[test]
    fn one_limit_keeps_its_promises(one in limits(), course in course()) {
        let (mut world, mut now) = (World::new(vec![one]), NOW);
        for (gap, cost) in course {
            now += gap;
            let (decision, outcomes) = ask(&mut world, now, cost);
            if !decision.admitted {
                holds(&world, now, cost, decision.retry)?;
            }
            world_holds(&world, now, &outcomes)?;
        }
    }

    #[test]
    fn one_to_four_limits_keep_the_retry_time_together(
        limits in prop::collection::vec(limits(), 1..=4),
        course in course(),
    ) {
        let (mut world, mut now) = (World::new(limits), NOW);
        for (gap, cost) in course {
            now += gap;
            let before = world.states.clone();
            let (decision, outcomes) = ask(&mut world, now, cost);
            prop_assert_eq!(decision.admitted, outcomes.iter().all(|outcome| !outcome.refused));
            if decision.admitted {
                continue;
            }
            holds(&world, now, cost, decision.retry)?;
            for (place, outcome) in outcomes.iter().enumerate() {
                let rules = world.limits[place].rules();
                let own = outcome.refused && rules.overdraw;
                if !rules.count_refused && !own {
                    prop_assert_eq!(outcome.units, 0);
                    prop_assert_eq!(&world.states[place], &before[place]);
                }
            }
        }
    }

    #[test]
    fn states_may_be_kept_always_or_where_changed_or_as_words(
        limits in prop::collection::vec(any_limits(), 1..=4),
        course in course(),
    ) {
        let mut kept = World::new(limits.clone());
        let mut always = World::new(limits.clone());
        let mut worded = World::new(limits);
        let mut now = NOW;
        for (gap, cost) in course {
            now += gap;
            let expected = ask(&mut kept, now, cost);
            for world in [&mut always, &mut worded] {
                prop_assert_eq!(&ask(world, now, cost), &expected);
            }
            for (one, state) in always.limits.iter().zip(&mut always.states) {
                // Standing and state do not depend on whether what counts no more was dropped.
                let mut dropped = vec![tollgate_core::Asked { limit: one, state, cost: 0, period: always.period }];
                let mut outcome = [Outcome::default()];
                tollgate_core::step(&mut dropped, at(now), u64::MAX, None, &mut outcome);
            }
            for (one, state) in worded.limits.iter().zip(&mut worded.states) {
                if one.words() != tollgate_core::Words::Boxed {
                    *state = one.decode(one.encode(state));
                }
            }
        }
    }

    #[test]
    fn steps_back_never_panic_nor_admit_more_than_time_standing_still(
        one in limits(),
        course in prop::collection::vec((-200_000_000_000_i64..200_000_000_000, 0..=5_u64), 1..40),
    ) {
        let (mut world, mut now) = (World::new(vec![one]), NOW);
        for (gap, cost) in course {
            now = now.saturating_add_signed(gap);
            let (decision, outcomes) = ask(&mut world, now, cost);
            prop_assert!(decision.admitted || decision.retry > Retry::After(tollgate_core::Micros::ZERO));
            let standing = world.limits[0].standing(&world.states[0], world.period, at(now));
            prop_assert_eq!(standing, outcomes[0].standing);
        }
    }
}
