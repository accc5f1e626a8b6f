//! Limits step their words as they step their states.

use proptest::prelude::*;
use tollgate_core::{Asked, Checking, Decision, Outcome, State, Words};

use super::courses::{NOW, any_limits, config, course, turn_to};
use crate::world::{World, at};

/// What `world.ask` does, to words in place of states.
fn ask_words(
    world: &World,
    words: &mut [[u64; 2]],
    now: u64,
    cost: u64,
) -> (Decision, Vec<Outcome>) {
    let mut next = words.to_vec();
    let mut outcomes = vec![Outcome::default(); next.len()];
    let mut asked: Vec<_> = world.limits.iter().zip(&mut next).collect();
    let mut checking = Checking::at(at(now));
    for ((limit, state), outcome) in asked.iter_mut().zip(&mut outcomes) {
        checking.check_words(&mut Asked { limit, state, cost, period: world.period }, outcome);
    }
    let mut committing = checking.all_checked(0, None);
    for ((limit, state), outcome) in asked.iter_mut().zip(&mut outcomes) {
        committing.commit_words(&mut Asked { limit, state, cost, period: world.period }, outcome);
    }
    for ((kept, next), outcome) in words.iter_mut().zip(next).zip(&outcomes) {
        if outcome.changed {
            *kept = next;
        }
    }
    (committing.decision(), outcomes)
}

proptest! {
    #![proptest_config(config(400, 2_064))]

    #[test]
    fn words_and_states_are_one(
        limits in prop::collection::vec(any_limits(), 1..4),
        course in course(),
        back in prop::option::of(0..=90_000_000_u64),
    ) {
        let mut world = World::new(limits);
        world.limits.retain(|limit| limit.words() != Words::Boxed);
        world.states.truncate(world.limits.len());
        let fresh = world.limits.iter().map(|limit| limit.encode(&State::Fresh));
        let mut words: Vec<[u64; 2]> = fresh.collect();
        let mut now = NOW;
        for (turn, (gap, cost)) in course.into_iter().enumerate() {
            // Once the clock may step back.
            now = if turn == 5 { now.saturating_sub(back.unwrap_or(0)) } else { now } + gap;
            turn_to(&mut world, now);
            let by_words = ask_words(&world, &mut words, now, cost);
            prop_assert_eq!(world.ask(now, cost), by_words);
            for ((limit, state), words) in world.limits.iter().zip(&world.states).zip(&words) {
                prop_assert_eq!(&limit.encode(state), words, "{:?}", limit);
            }
        }
    }
}
