//! One set of limits follows another.

use super::world::{
    World, at, bucket, definition, every_kind, fixed, limit, quota, seconds, sliding,
};
use tollgate_core::{Algorithm, Burst, Limit, Micros, Rate, TokenBucket};
use tollgate_store::{Charge, Shape, Store, StoreError};

pub(crate) async fn rel_01_a_reload_of_the_same_refills_nothing(store: impl Store) {
    let limits = [("l", bucket(1, 10, 10))];
    let mut world = World::new(store, &limits);
    assert_eq!(world.admitted(10, &[(0, "k", 1)]).await, 10);
    let first = world.ids.clone();
    for second in [1, 2, 3] {
        world.now = seconds(second);
        world.define(&limits);
        assert_eq!(world.ids, first);
        assert!(!world.admits(&[(0, "k", 1)]).await);
    }
}

pub(crate) async fn rel_03_a_lowered_limit_leaves_nothing(store: impl Store) {
    let mut world = World::new(store, &[("l", quota(5_000_000))]);
    assert_eq!(world.admitted(35, &[(0, "k", 1)]).await, 35);
    world.define(&[("l", quota(10))]);
    let outcome = world.charge(&[(0, "k", 1)]).await;
    assert!(!outcome.decision.admitted);
    assert_eq!(outcome.limits[0].outcome.standing.remaining, 0);
}

pub(crate) async fn mul_05_a_raised_quota_counts_admissions_only(store: impl Store) {
    let mut world = World::new(store, &[("l", quota(10))]);
    assert_eq!(world.admitted(20, &[(0, "k", 1)]).await, 10);
    world.define(&[("l", quota(20))]);
    assert_eq!(world.admitted(20, &[(0, "k", 1)]).await, 10);
}

pub(crate) async fn a_wider_word_takes_the_counts_over(store: impl Store) {
    // From one word to two, from two to a map, and back.
    let wide = |burst| {
        let rate = Rate { count: 999_999_937, per: Micros::from_secs(86_400 * 365) };
        let burst = Burst::Units(burst);
        limit(Algorithm::TokenBucket(TokenBucket { rate, burst, empty_at: None }))
    };
    let mut world = World::new(store, &[("b", bucket(1, 3600, 10)), ("w", sliding(10, 60, 1))]);
    let keys: Vec<String> = (0..500).map(|key| format!("k{key}")).collect();
    for key in &keys {
        assert!(world.admits(&[(0, key, 7), (1, key, 7)]).await);
    }
    world.define(&[("b", wide(10)), ("w", sliding(1 << 40, 60, 1))]);
    for key in &keys {
        assert_eq!(world.remaining(0, key).await, 3);
        assert_eq!(world.remaining(1, key).await, (1 << 40) - 7);
    }
    world.define(&[("b", bucket(1, 3600, 10)), ("w", sliding(10, 60, 1))]);
    for key in &keys {
        assert_eq!(world.remaining(0, key).await, 3);
        assert_eq!(world.remaining(1, key).await, 3);
    }
}

pub(crate) async fn another_shape_begins_fresh(store: impl Store) {
    let kinds = every_kind(5);
    let mut world = World::new(store, &kinds);
    for index in 0..kinds.len() {
        assert!(world.admits(&[(index, "k", 5)]).await);
    }
    let old = world.ids.clone();
    let definitions: Vec<_> = kinds
        .iter()
        .map(|(name, limit)| {
            let mut definition = definition(name, limit);
            definition.shape = Shape("another".into());
            definition
        })
        .collect();
    world.ids = world.store.define(&definitions, world.now);
    for (index, (kind, _)) in kinds.iter().enumerate() {
        assert!(!old.contains(&world.ids[index]), "{kind}");
        assert_eq!(world.remaining(index, "k").await, 5, "{kind}");
    }
}

pub(crate) async fn a_removed_limit_answers_until_the_next_set(store: impl Store) {
    let mut world = World::new(store, &[("a", fixed(3, 60)), ("b", fixed(3, 60))]);
    let before = world.ids.clone();
    assert!(world.admits(&[(0, "k", 1)]).await);
    world.define(&[("b", fixed(3, 60))]);
    assert_eq!(world.ids, [before[1]]);
    let charge = Charge { limit: before[0], key: b"k", cost: 0, period: None };
    let standing = world.store.peek(&charge, world.now).await;
    assert_eq!(standing.map(|standing| standing.remaining), Ok(2));
    world.define(&[("b", fixed(3, 60))]);
    let gone = world.store.peek(&charge, world.now).await;
    assert_eq!(gone, Err(StoreError::UnknownLimit(before[0])));
    world.define(&[("a", fixed(3, 60)), ("b", fixed(3, 60))]);
    assert_ne!(world.ids[0], before[0], "ids are not reused");
    // Whether its counts are still there is the store's own affair: other nodes may count by it all the while.
    assert!(world.admits(&[(0, "k", 1)]).await);
}

pub(crate) async fn a_receipt_outlives_a_reload(store: impl Store) {
    let limits = |allowed| every_kind(allowed);
    let mut world = World::new(store, &limits(10));
    let all: Vec<_> = (0..world.ids.len()).map(|index| (index, "k", 10)).collect();
    let outcome = world.charge(&all).await;
    assert!(outcome.decision.admitted);
    world.define(&limits(20));
    for (index, (kind, _)) in limits(20).iter().enumerate() {
        let expected = if kind.contains("bucket") { 0 } else { 10 };
        assert_eq!(world.remaining(index, "k").await, expected, "{kind}");
    }
    world.settle(outcome.receipt, 4).await;
    for (index, (kind, _)) in limits(20).iter().enumerate() {
        let expected = if kind.contains("bucket") { 6 } else { 16 };
        assert_eq!(world.remaining(index, "k").await, expected, "{kind}");
    }
}

pub(crate) async fn a_bucket_that_starts_empty_is_emptied_once(store: impl Store) {
    let empty = |second, burst| -> Limit {
        let rate = Rate { count: 1, per: Micros::from_secs(1) };
        let burst = Burst::Units(burst);
        let empty_at = Some(seconds(second));
        limit(Algorithm::TokenBucket(TokenBucket { rate, burst, empty_at }))
    };
    let mut world = World::new(store, &[("l", empty(0, 10))]);
    assert!(!world.admits(&[(0, "k", 1)]).await);
    world.now = at(4_500_000);
    world.define(&[("l", empty(4, 20))]);
    for key in ["k", "seen later"] {
        assert_eq!(world.remaining(0, key).await, 4);
    }
}
