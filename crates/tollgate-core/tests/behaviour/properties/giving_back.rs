//! Giving back never lets more through than if the request had not come, and a reload never raises a level.

use proptest::prelude::*;
use tollgate_core::{Charged, Rules};

use super::courses::{NOW, buckets, config, counts, course, turn_to};
use crate::world::{World, at, limit};

/// One request of a course: its gap and cost, and after how many further requests it is given back, if at all.
type Step = ((u64, u64), Option<usize>);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let back = prop::option::of(0..6_usize);
    (course(), prop::collection::vec(back, 40))
        .prop_map(|(course, backs)| course.into_iter().zip(backs).collect())
}

/// What a course admitted, and how the key then stood.
struct Run {
    admitted: Vec<(u64, u64, bool)>,
    remaining: u64,
    end: u64,
}

/// Takes and gives back; the flag of an admission tells that it was given back.
fn run(world: &mut World, steps: &[Step]) -> Run {
    let mut now = NOW;
    let mut admitted = Vec::new();
    let mut waiting: Vec<(usize, usize, Charged)> = Vec::new();
    for (turn, ((gap, cost), back)) in steps.iter().enumerate() {
        now += gap;
        turn_to(world, now);
        let cost = cost + 1;
        let (due, later) = waiting.into_iter().partition(|(when, _, _)| *when <= turn);
        waiting = later;
        for (_, place, charged) in due {
            world.settle(&charged, 0, now);
            let entry: &mut (u64, u64, bool) = &mut admitted[place];
            entry.2 = true;
        }
        let (decision, outcomes) = world.ask(now, cost);
        if decision.admitted {
            admitted.push((now, cost, false));
            // Tickets count from one in a new world.
            let charged = outcomes[0].charged(turn as u64 + 1).expect("admitted");
            waiting.extend(back.map(|back| (turn + 1 + back, admitted.len() - 1, charged)));
        }
    }
    Run { admitted, remaining: world.remaining(now), end: now }
}

proptest! {
    #![proptest_config(config(800, 0x0b_ac_c5))]

    #[test]
    fn what_was_given_back_might_as_well_not_have_come(algorithm in buckets(), steps in steps()) {
        let mut world = World::of(algorithm.clone());
        let run = run(&mut world, &steps);
        let mut without = World::of(algorithm);
        for (now, cost, given_back) in &run.admitted {
            turn_to(&mut without, *now);
            prop_assert!(*given_back || without.admits(*now, *cost), "over-admitted {cost} at {now}");
        }
        turn_to(&mut without, run.end);
        prop_assert!(run.remaining <= without.remaining(run.end));
    }

    #[test]
    fn counts_give_back_exactly(algorithm in counts(), steps in steps()) {
        let mut world = World::of(algorithm.clone());
        let run = run(&mut world, &steps);
        let mut without = World::of(algorithm);
        for (now, cost, given_back) in &run.admitted {
            turn_to(&mut without, *now);
            prop_assert!(*given_back || without.admits(*now, *cost), "over-admitted {cost} at {now}");
        }
        turn_to(&mut without, run.end);
        prop_assert_eq!(run.remaining, without.remaining(run.end));
    }

    #[test]
    fn a_reload_never_raises_a_level(
        old in buckets(),
        new in buckets(),
        course in course(),
    ) {
        prop_assume!(core::mem::discriminant(&old) == core::mem::discriminant(&new));
        let mut world = World::of(old);
        let mut now = NOW;
        for (gap, cost) in course {
            now += gap;
            world.ask(now, cost);
            let (remaining, reset, _) = world.standing(now);
            let new = limit(new.clone(), Rules::default());
            let carried = new.carry_over(&world.limits[0], world.states[0].clone(), at(now));
            let standing = new.standing(&carried, None, at(now));
            let fresh = new.standing(&tollgate_core::State::Fresh, None, at(now));
            if reset == 0 {
                prop_assert_eq!(standing, fresh, "a full one stays full");
            } else if !matches!(world.limits[0].algorithm(), tollgate_core::Algorithm::LeakyBucket(_)) {
                // Whole units are the same in any ticks, and of a fraction at most a tick is lost.
                prop_assert_eq!(standing.remaining, remaining.min(fresh.remaining));
            }
        }
    }
}
