//! What was counted goes on: under the same parameters as if nothing had happened, under others as after a reload.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tollgate_core::Timestamp;
use tollgate_store::{Definition, Store};

use super::world::{
    DAY, World, bucket, definition, every_kind, fixed, leaky, log, quota, read, seconds, sliding,
    slots, wide,
};

/// Charges (limit, key, cost, seconds later).
type Course = Vec<(usize, u8, u64, u64)>;

fn courses() -> impl Strategy<Value = Course> {
    let later = prop_oneof![5 => Just(0_u64), 3 => 1..90_u64, 1 => 1..2 * DAY];
    prop::collection::vec((0..9_usize, 0..6_u8, 0..30_u64, later), 1..40)
}

/// Charges a course, and says each decision and standing.
fn go(world: &World, course: &Course, now: &mut u64) -> Vec<String> {
    let step = |(limit, key, cost, later): &(usize, u8, u64, u64)| {
        *now += later;
        let outcome = world.charge(*limit, &format!("key {key}"), *cost, seconds(*now));
        format!("{:?} {:?}", outcome.decision, outcome.limits[0].outcome.standing)
    };
    course.iter().map(step).collect()
}

fn config(seed: u64) -> ProptestConfig {
    let rng_seed = RngSeed::Fixed(seed);
    ProptestConfig { cases: 300, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

/// Other parameters of the same shapes.
fn other_parameters() -> Vec<Definition> {
    let algorithms = [
        bucket(2, 60, 20),
        wide(None),
        leaky(10),
        fixed(30, DAY),
        sliding(70, DAY, 1),
        sliding(30, DAY, 1),
        sliding(60, DAY, 24),
        log(20, DAY),
        quota(25),
    ];
    let named = every_kind().into_iter().zip(algorithms);
    named.map(|(one, algorithm)| definition(&one.name, algorithm)).collect()
}

proptest! {
    #![proptest_config(config(5))]

    #[test]
    fn the_next_life_decides_as_this_one_would(before in courses(), after in courses()) {
        let world = World::new(every_kind());
        let mut now = 0;
        go(&world, &before, &mut now);
        let (next, restored) = world.reborn(every_kind(), seconds(now));
        prop_assert_eq!(restored.written, seconds(now));
        prop_assert_eq!(restored.expired + restored.dropped, 0);
        let mut again = now;
        prop_assert_eq!(go(&world, &after, &mut now), go(&next, &after, &mut again));
    }

    #[test]
    fn other_parameters_go_on_as_after_a_reload(before in courses(), after in courses()) {
        let mut world = World::new(every_kind());
        let mut now = 0;
        go(&world, &before, &mut now);
        let (next, _) = world.reborn(other_parameters(), seconds(now));
        world.reload(other_parameters(), seconds(now));
        let mut again = now;
        prop_assert_eq!(go(&world, &after, &mut now), go(&next, &after, &mut again));
    }
}

#[test]
fn a_limit_that_counts_something_else_begins_fresh() {
    let world = World::new(vec![definition("a", fixed(10, DAY)), definition("b", fixed(10, DAY))]);
    assert!(world.admits(0, "k", 4, seconds(1)) && world.admits(1, "k", 4, seconds(1)));
    let other = vec![definition("a", log(10, DAY)), definition("c", fixed(10, DAY))];
    let (next, restored) = world.reborn(other, seconds(2));
    assert_eq!((restored.keys, restored.dropped), (0, 2));
    assert_eq!((next.remaining(0, "k", seconds(2)), next.remaining(1, "k", seconds(2))), (10, 10));
}

#[test]
fn classes_go_on_each_for_itself() {
    let class = |class: &str| Definition {
        class: Some(class.into()),
        ..definition("plans", fixed(10, DAY))
    };
    let world = World::new(vec![class("free"), class("paid")]);
    assert!(world.admits(0, "k", 4, seconds(1)) && world.admits(1, "k", 7, seconds(1)));
    let (next, restored) = world.reborn(vec![class("paid"), class("free")], seconds(2));
    assert_eq!(restored.keys, 2);
    assert_eq!((next.remaining(0, "k", seconds(2)), next.remaining(1, "k", seconds(2))), (3, 6));
    assert_eq!(next.store.usage()[0].keys, 2, "both in one room");
}

#[test]
fn slots_are_free_again_for_whoever_held_them_is_gone() {
    let world = World::new(vec![definition("slots", slots(1))]);
    assert!(world.admits(0, "k", 1, seconds(1)) && !world.admits(0, "k", 1, seconds(1)));
    let (next, restored) = world.reborn(vec![definition("slots", slots(1))], seconds(2));
    assert_eq!((restored.keys, restored.dropped), (0, 0));
    assert!(next.admits(0, "k", 1, seconds(2)));
}

#[test]
fn the_overflow_bucket_goes_on_so_that_a_flood_gets_no_second_budget() {
    let small = |max_keys| Definition { max_keys, ..definition("fixed", fixed(2, DAY)) };
    let world = World::new(vec![small(16)]);
    let fill = |world: &World| {
        (0..40).filter(|key| world.admits(0, &format!("k{key}"), 1, seconds(1))).count()
    };
    assert_eq!(fill(&world), 18, "16 keys, and two units that the others share");
    let (next, restored) = world.reborn(vec![small(16)], seconds(2));
    assert_eq!((restored.keys, next.store.usage()[0].keys), (17, 16));
    assert!(!next.admits(0, "a newcomer", 1, seconds(2)));
    assert!(next.admits(0, "k3", 1, seconds(2)), "an old key has its own second unit");
}

#[test]
fn a_bucket_that_began_empty_was_empty_at_its_first_load_and_not_at_the_restart() {
    let empty = |at| definition("wide", wide(Some(at)));
    let world = World::new(vec![empty(seconds(0))]);
    // 999,999,937 a year are 31.7 a second.
    assert!(!world.admits(0, "early", 100, seconds(3)));
    let (next, _) = world.reborn(vec![empty(seconds(100))], seconds(100));
    assert!(next.admits(0, "never seen", 100, seconds(100)));
}

#[test]
fn another_max_keys_is_other_shards_and_the_same_counts() {
    let sized = |max_keys| {
        let of = |name, algorithm| Definition { max_keys, ..definition(name, algorithm) };
        vec![of("fixed", fixed(10, DAY)), of("log", log(10, DAY))]
    };
    let world = World::new(sized(100_000_000));
    for key in 0..5_000_u64 {
        world.charge(0, &format!("k{key}"), key % 10, seconds(1));
        world.charge(1, &format!("k{key}"), key % 10, seconds(1));
    }
    let mut now = 2;
    let mut life = world;
    for max_keys in [1_000_000, 10, 20_000_000] {
        now += 1;
        life = life.reborn(sized(max_keys), seconds(now)).0;
        for key in 0..5_000_u64 {
            let left = |limit| life.remaining(limit, &format!("k{key}"), seconds(now));
            assert_eq!((left(0), left(1)), (10 - key % 10, 10 - key % 10), "k{key} of {max_keys}");
        }
    }
}

#[test]
fn a_snapshot_of_a_snapshot_is_the_same_file() {
    let world = World::new(every_kind());
    let mut now = 0;
    let charges = (0..900_u64).map(|n| ((n % 9) as usize, (n % 97) as u8, n % 7, n % 2)).collect();
    go(&world, &charges, &mut now);
    let first = world.written(seconds(now));
    let (next, _) = read(&first, every_kind(), seconds(now)).expect("it is whole");
    assert!(first == next.written(seconds(now)), "they differ");
}

#[test]
fn a_log_gives_nothing_back_for_receipts_of_the_last_life() {
    let world = World::new(vec![definition("log", log(5, DAY))]);
    let mut taken = world.charge(0, "k", 2, seconds(1)).receipt.taken;
    let (next, _) = world.reborn(vec![definition("log", log(5, DAY))], seconds(2));
    // The next life counts its tickets from the beginning, too.
    next.charge(0, "other", 1, seconds(2));
    let stale = taken.pop().expect("something was taken");
    next.store.settle_now(stale, 0, seconds(2)).expect("an answer");
    assert_eq!(next.remaining(0, "k", seconds(2)), 3);
}

#[test]
fn defining_again_after_a_restart_keeps_everything() {
    let world = World::new(every_kind());
    for limit in 0..9 {
        assert!(world.admits(limit, "k", 3, seconds(1)));
    }
    let (next, _) = world.reborn(every_kind(), seconds(2));
    let left: Vec<u64> = (0..9).map(|limit| next.remaining(limit, "k", seconds(2))).collect();
    let ids = next.store.define(&every_kind(), Timestamp::from_micros(0));
    assert_eq!(ids, next.ids);
    assert_eq!(
        left,
        (0..9).map(|limit| next.remaining(limit, "k", seconds(2))).collect::<Vec<_>>()
    );
}
