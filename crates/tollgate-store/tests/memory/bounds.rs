//! `max_keys`: no key is forgiven, no flood buys anything.

use super::world::{
    admits, bucket, charge, definition, fixed, keys, log, remaining, seconds, store,
};
use tollgate_store::{MemoryOptions, MemoryStore, Store};

#[test]
fn a_flood_of_a_million_keys_is_bounded_and_forgives_nobody() {
    const MAX: usize = 100_000;
    let (store, ids) = store(&[bucket(10, 3600, 10)], MAX);
    assert!(admits(&store, &[(ids[0], "victim", 10)], seconds(1)));
    let mut admitted = 0;
    for key in 0..1_000_000 {
        let key = format!("flood {key}");
        admitted += u64::from(admits(&store, &[(ids[0], &key, 1)], seconds(2)));
    }
    assert_eq!(keys(&store), MAX);
    // One each for those that found room, and ten for all the others together.
    assert_eq!(admitted, MAX as u64 - 1 + 10);
    assert!(!admits(&store, &[(ids[0], "victim", 1)], seconds(2)));
    let usage = &store.usage()[0];
    assert_eq!((usage.keys, usage.max_keys, usage.evicted), (MAX, MAX, 0));
    assert_eq!(usage.overflowed, 1_000_000 - (MAX as u64 - 1));
}

#[test]
fn a_flood_of_locked_states_is_bounded_too() {
    const MAX: usize = 5_000;
    let (store, ids) = store(&[log(10, 3600)], MAX);
    assert!(admits(&store, &[(ids[0], "victim", 10)], seconds(1)));
    for key in 0..50_000 {
        admits(&store, &[(ids[0], &format!("flood {key}"), 1)], seconds(2));
    }
    assert_eq!(keys(&store), MAX);
    assert!(!admits(&store, &[(ids[0], "victim", 1)], seconds(2)));
    assert_eq!(remaining(&store, ids[0], "flood 0", seconds(2)), 9);
}

#[test]
fn mem_04_live_counters_are_not_pushed_out() {
    for limit in [fixed(10, 60), log(10, 60), bucket(10, 60, 10)] {
        let (store, ids) = store(&[limit], 200);
        for _ in 0..10 {
            assert!(admits(&store, &[(ids[0], "tag t", 1)], seconds(1)));
        }
        let others = (0..500)
            .filter(|tag| admits(&store, &[(ids[0], &format!("tag {tag}"), 1)], seconds(1)));
        assert_eq!(others.count(), 199 + 10, "the rest shared one bucket");
        assert!(!admits(&store, &[(ids[0], "tag t", 1)], seconds(1)));
    }
}

#[test]
fn only_a_key_as_fresh_as_new_makes_room() {
    for limit in [fixed(5, 60), log(5, 60)] {
        let (store, ids) = store(&[limit], 3);
        for (key, second) in [("a", 1), ("b", 60), ("c", 61)] {
            assert!(admits(&store, &[(ids[0], key, 5)], seconds(second)));
        }
        // Under the log "a" is fresh from 61 on, under the window from 60 on; "b" and "c" are not before 120.
        assert!(admits(&store, &[(ids[0], "d", 5)], seconds(61)));
        assert!(!admits(&store, &[(ids[0], "d", 1)], seconds(61)), "it has a bucket of its own");
        assert!(!admits(&store, &[(ids[0], "c", 1)], seconds(61)));
        assert_eq!(keys(&store), 3);
        assert!(store.usage()[0].evicted > 0);
    }
}

#[test]
fn the_overflow_bucket_is_shared_and_has_the_same_parameters() {
    let (store, ids) = store(&[fixed(5, 60)], 1);
    assert!(admits(&store, &[(ids[0], "resident", 1)], seconds(1)));
    let mut admitted = 0;
    for key in 0..20 {
        admitted += u64::from(admits(&store, &[(ids[0], &format!("k{key}"), 1)], seconds(1)));
    }
    assert_eq!(admitted, 5);
    assert_eq!(remaining(&store, ids[0], "resident", seconds(1)), 4);
    // Two newcomers in one decision are one charge to it.
    assert!(admits(&store, &[(ids[0], "resident", 1)], seconds(61)));
    assert!(!admits(&store, &[(ids[0], "x", 3), (ids[0], "y", 3)], seconds(61)), "six of five");
    assert!(admits(&store, &[(ids[0], "x", 3), (ids[0], "y", 2)], seconds(61)));
}

#[test]
fn a_requests_own_keys_are_not_evicted() {
    for limit in [fixed(5, 60), log(5, 60)] {
        let (store, ids) = store(&[limit], 2);
        // Both keys are as fresh as new while the decision is made.
        let both = [(ids[0], "a", 5), (ids[0], "b", 5), (ids[0], "c", 5)];
        assert!(admits(&store, &both, seconds(1)));
        for key in ["a", "b"] {
            assert_eq!(remaining(&store, ids[0], key, seconds(1)), 0);
        }
        assert_eq!(keys(&store), 2);
        assert!(!admits(&store, &[(ids[0], "d", 1)], seconds(1)), "the third went to the overflow");
    }
}

#[test]
fn what_went_to_the_overflow_bucket_is_given_back_to_it() {
    let (store, ids) = store(&[fixed(5, 60)], 1);
    assert!(admits(&store, &[(ids[0], "resident", 5)], seconds(1)));
    let outcome = charge(&store, &[(ids[0], "newcomer", 5)], seconds(1));
    assert!(outcome.decision.admitted);
    assert!(!admits(&store, &[(ids[0], "another", 1)], seconds(1)));
    for taken in outcome.receipt.taken {
        store.settle_now(taken, 2, seconds(1)).expect("an answer");
    }
    assert!(admits(&store, &[(ids[0], "another", 3)], seconds(1)));
    assert!(!admits(&store, &[(ids[0], "resident", 1)], seconds(1)));
}

#[test]
fn a_key_that_is_given_back_makes_room() {
    let (store, ids) = store(&[fixed(5, 60)], 1);
    let outcome = charge(&store, &[(ids[0], "resident", 5)], seconds(1));
    for _ in 0..6 {
        // The search for room learns that none is free before the window ends.
        admits(&store, &[(ids[0], "newcomer", 1)], seconds(2));
    }
    for taken in outcome.receipt.taken {
        store.settle_now(taken, 0, seconds(3)).expect("an answer");
    }
    assert!(admits(&store, &[(ids[0], "newcomer", 5)], seconds(3)));
    assert_eq!(keys(&store), 1);
}

#[test]
fn classes_share_their_limits_room() {
    let store = MemoryStore::new(MemoryOptions::default());
    let definitions: Vec<_> = ["free", "paid"]
        .into_iter()
        .map(|class| {
            let mut definition = definition("per-user", &fixed(5, 60), 10);
            definition.class = Some(class.into());
            definition
        })
        .collect();
    let ids = store.define(&definitions, seconds(0));
    for key in 0..10 {
        assert!(admits(&store, &[(ids[key % 2], &format!("k{key}"), 1)], seconds(1)));
    }
    assert_eq!(keys(&store), 10);
    // Each class has its own overflow bucket.
    for id in &ids {
        let admitted =
            (0..20).filter(|key| admits(&store, &[(*id, &format!("n{key}"), 1)], seconds(1)));
        assert_eq!(admitted.count(), 5);
    }
    assert_eq!(keys(&store), 10);
}

#[test]
fn a_replay_never_evicts() {
    let store = MemoryStore::new(MemoryOptions::unbounded());
    let ids = store.define(&[definition("l", &fixed(5, 60), 10)], seconds(0));
    for key in 0..5_000 {
        assert!(admits(&store, &[(ids[0], &format!("k{key}"), 5)], seconds(1)));
    }
    assert_eq!(keys(&store), 5_000);
    for key in 0..5_000 {
        assert!(!admits(&store, &[(ids[0], &format!("k{key}"), 1)], seconds(1)));
    }
    assert_eq!(store.usage()[0].overflowed, 0);
}
