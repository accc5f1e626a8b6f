//! How old a snapshot may be, and what holds where the clock stands before it.

use super::world::{DAY, World, bucket, definition, every_kind, fixed, quota, read, seconds};

#[test]
fn what_counts_nothing_any_more_is_dropped() {
    let world = World::new(every_kind());
    for limit in 0..9 {
        assert!(world.admits(limit, "k", 3, seconds(1)));
    }
    let bytes = world.written(seconds(2));
    // The fast bucket is full again even when it is written; hours later the others are, and all that counts by the day
    // still counts.
    let (_, restored) = read(&bytes, every_kind(), seconds(9 * 3600)).expect("it is whole");
    assert_eq!((restored.keys, restored.expired), (6, 2));
    let (next, restored) = read(&bytes, every_kind(), seconds(10 * DAY)).expect("it is whole");
    assert_eq!((restored.keys, restored.expired), (0, 8));
    assert!(next.store.usage().iter().all(|usage| usage.keys == 0));
}

#[test]
fn what_counts_nothing_is_not_written() {
    let world = World::new(every_kind());
    for limit in 0..9 {
        assert!(world.admits(limit, "k", 3, seconds(1)));
    }
    let (_, restored) = world.reborn(every_kind(), seconds(10 * DAY));
    assert_eq!((restored.keys, restored.expired), (0, 0));
}

#[test]
fn a_quota_of_yesterday_does_not_burden_today() {
    let world = World::new(vec![definition("quota", quota(10))]);
    assert!(world.admits(0, "k", 10, seconds(DAY - 2)));
    let bytes = world.written(seconds(DAY - 1));
    let (same_day, _) =
        read(&bytes, vec![definition("quota", quota(10))], seconds(DAY - 1)).expect("whole");
    assert!(!same_day.admits(0, "k", 1, seconds(DAY - 1)), "a restart gives no second quota");
    let (next_day, restored) =
        read(&bytes, vec![definition("quota", quota(10))], seconds(DAY)).expect("whole");
    assert_eq!((restored.keys, restored.expired), (0, 1));
    assert!(next_day.admits(0, "k", 10, seconds(DAY)));
}

#[test]
fn a_clock_a_little_behind_the_file_stands_still() {
    let limits =
        || vec![definition("bucket", bucket(1, 60, 50)), definition("fixed", fixed(10, 3600))];
    let world = World::new(limits());
    assert!(
        world.admits(0, "k", 50, seconds(3 * 3600)) && world.admits(1, "k", 10, seconds(3 * 3600))
    );
    // Ten minutes earlier: within both spans, so that neither hands anything out.
    let (next, restored) =
        read(&world.written(seconds(3 * 3600)), limits(), seconds(3 * 3600 - 600)).expect("whole");
    assert!(restored.written > seconds(3 * 3600 - 600));
    assert!(!next.admits(0, "k", 1, seconds(3 * 3600 - 600)));
    assert!(!next.admits(1, "k", 1, seconds(3 * 3600 - 600)));
    assert!(next.admits(1, "k", 10, seconds(4 * 3600)));
}

#[test]
fn a_clock_far_behind_the_file_is_cut_to_one_capacity() {
    let limits =
        || vec![definition("bucket", bucket(1, 60, 50)), definition("fixed", fixed(10, 3600))];
    let wrong = 3650 * DAY;
    let world = World::new(limits());
    assert!(world.admits(0, "k", 50, seconds(wrong)) && world.admits(1, "k", 10, seconds(wrong)));
    let (next, _) = read(&world.written(seconds(wrong)), limits(), seconds(3600)).expect("whole");
    assert!(!next.admits(0, "k", 1, seconds(3600)) && !next.admits(1, "k", 1, seconds(3600)));
    // The window as if it had all been taken now, the bucket as if it were in the deepest debt: one capacity.
    assert!(next.admits(1, "k", 10, seconds(2 * 3600)));
    assert!(!next.admits(0, "k", 50, seconds(3600 + 2 * 50 * 60 - 1)));
    assert!(next.admits(0, "k", 50, seconds(3600 + 2 * 50 * 60)));
}

#[test]
fn a_day_that_a_wrong_clock_saw_does_not_end_the_quota_of_today() {
    let limits = || vec![definition("quota", quota(10))];
    let world = World::new(limits());
    assert!(world.admits(0, "k", 1, seconds(3650 * DAY)));
    let bytes = world.written(seconds(3650 * DAY));
    let (next, _) = read(&bytes, limits(), seconds(3600)).expect("whole");
    assert!(next.admits(0, "other", 10, seconds(3600)));
    // Were the later day still known as the latest, today's count would be swept as over.
    while !next.store.sweep(seconds(3700)) {}
    assert!(!next.admits(0, "other", 1, seconds(3800)));
}
