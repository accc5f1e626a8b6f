//! What comes after a decision.

use super::world::{World, bucket, every_kind, fixed, quota, seconds};
use tollgate_core::{Algorithm, Burst, Limit, Micros, Rate, Rules, TokenBucket};
use tollgate_store::Store;

pub(crate) async fn a_settle_gives_back_in_its_own_window(store: impl Store) {
    let mut world = World::new(store, &[("l", fixed(10, 60))]);
    world.now = seconds(59);
    let first = world.charge(&[(0, "k", 10)]).await;
    world.now = seconds(61);
    let second = world.charge(&[(0, "k", 10)]).await;
    world.settle(first.receipt, 0).await;
    assert_eq!(world.remaining(0, "k").await, 0, "the window before has gone");
    world.settle(second.receipt, 4).await;
    assert_eq!(world.remaining(0, "k").await, 6);
}

pub(crate) async fn a_settle_upwards_charges_into_debt(store: impl Store) {
    let rules = Rules { overdraw: true, ..Rules::default() };
    let rate = Rate { count: 1, per: Micros::from_secs(1) };
    let spec = TokenBucket { rate, burst: Burst::Units(10), empty_at: None };
    let limit = Limit::new(Algorithm::TokenBucket(spec), rules).expect("a limit");
    let mut world = World::new(store, &[("l", limit)]);
    let outcome = world.charge(&[(0, "k", 1)]).await;
    world.settle(outcome.receipt, 15).await;
    assert_eq!(world.remaining(0, "k").await, 0);
    // Fifteen of ten were taken: five in debt, so that the level is above zero just after the fifth second.
    world.now = seconds(5);
    assert!(!world.admits(&[(0, "k", 0)]).await || world.remaining(0, "k").await == 0);
    world.now = seconds(6);
    assert!(world.admits(&[(0, "k", 1)]).await);
}

pub(crate) async fn a_bucket_gets_back_less_its_refill(store: impl Store) {
    let mut world = World::new(store, &[("l", bucket(1, 1, 10))]);
    let outcome = world.charge(&[(0, "k", 10)]).await;
    world.now = seconds(4);
    world.settle(outcome.receipt, 0).await;
    // Four of the ten came back by themselves, six were given back less those four seconds.
    assert_eq!(world.remaining(0, "k").await, 6);
}

pub(crate) async fn a_quota_gives_back_in_its_own_period(store: impl Store) {
    let mut world = World::new(store, &[("l", quota(10))]);
    let today = world.charge(&[(0, "k", 10)]).await;
    world.now = seconds(86_400);
    let tomorrow = world.charge(&[(0, "k", 10)]).await;
    world.settle(today.receipt, 0).await;
    assert_eq!(world.remaining(0, "k").await, 0);
    world.settle(tomorrow.receipt, 3).await;
    assert_eq!(world.remaining(0, "k").await, 7);
}

pub(crate) async fn peeking_takes_nothing(store: impl Store) {
    let kinds = every_kind(5);
    let world = World::new(store, &kinds);
    for (index, (kind, _)) in kinds.iter().enumerate() {
        for _ in 0..20 {
            assert_eq!(world.remaining(index, "k").await, 5, "{kind}");
        }
        world.charge(&[(index, "k", 2)]).await;
        for _ in 0..20 {
            assert_eq!(world.remaining(index, "k").await, 3, "{kind}");
            // Cost 0 asks without taking.
            assert!(world.admits(&[(index, "k", 0)]).await, "{kind}");
        }
    }
}

pub(crate) async fn a_reset_forgets_one_key(store: impl Store) {
    let kinds = every_kind(5);
    let world = World::new(store, &kinds);
    for (index, (kind, _)) in kinds.iter().enumerate() {
        for key in ["a", "b"] {
            world.charge(&[(index, key, 5)]).await;
        }
        world.store.reset(world.ids[index], b"a").await.expect("an answer");
        world.store.reset(world.ids[index], b"never seen").await.expect("an answer");
        assert_eq!(world.remaining(index, "a").await, 5, "{kind}");
        assert_eq!(world.remaining(index, "b").await, 0, "{kind}");
    }
}
