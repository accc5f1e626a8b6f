//! Single limits: the arithmetic is core's; here is shown that a store hands it states and times as they are.

use super::world::{World, at, bucket, day, every_kind, fixed, quota, retry, seconds, slots};
use tollgate_store::{Call, Charge, Clock, LimitId, ManualClock, Store, StoreError};

pub(crate) async fn every_algorithm_admits_its_limit_and_no_more(store: impl Store) {
    let kinds = every_kind(7);
    let world = World::new(store, &kinds);
    for (index, (kind, _)) in kinds.iter().enumerate() {
        for key in ["a", "b"] {
            assert_eq!(world.admitted(20, &[(index, key, 1)]).await, 7, "{kind}");
        }
    }
}

pub(crate) async fn retry_times_hold_from_both_sides(store: impl Store) {
    let kinds = every_kind(7);
    let mut world = World::new(store, &kinds);
    for (index, (kind, _)) in kinds.iter().enumerate().filter(|(_, (k, _))| *k != "concurrency") {
        world.now = at(123_457);
        world.admitted(7, &[(index, "k", 1)]).await;
        let after = retry(&world.charge(&[(index, "k", 2)]).await).expect("a time");
        let then = world.now.as_micros() + after;
        world.now = tollgate_core::Timestamp::from_micros(then - 1);
        assert!(!world.admits(&[(index, "k", 2)]).await, "{kind}");
        world.now = tollgate_core::Timestamp::from_micros(then);
        assert!(world.admits(&[(index, "k", 2)]).await, "{kind}");
    }
}

pub(crate) async fn clk_01_a_step_back_stands_still(store: impl Store) {
    let mut world = World::new(store, &[("l", bucket(1, 1, 10))]);
    // Every store's time comes from a clock that never goes back; a replay's driver is such a clock.
    let clock = ManualClock::new(seconds(100));
    world.now = clock.now();
    assert_eq!(world.admitted(3, &[(0, "k", 1)]).await, 3);
    for (second, remaining) in [(89, 6), (90, 5)] {
        clock.set(seconds(second));
        world.now = clock.now();
        let outcome = world.charge(&[(0, "k", 1)]).await;
        assert!(outcome.decision.admitted);
        assert_eq!(outcome.limits[0].outcome.standing.remaining, remaining);
    }
}

pub(crate) async fn clk_07_a_late_command_with_an_old_time(store: impl Store) {
    let mut world = World::new(store, &[("l", bucket(150, 1, 150))]);
    let clock = ManualClock::new(seconds(10));
    for (second, cost, remaining) in [(10, 2, 148), (9, 10, 138), (10, 1, 137)] {
        clock.set(seconds(second));
        world.now = clock.now();
        let outcome = world.charge(&[(0, "k", cost)]).await;
        assert!(outcome.decision.admitted);
        assert_eq!(outcome.limits[0].outcome.standing.remaining, remaining);
    }
}

pub(crate) async fn str_03_a_slot_is_given_back_and_its_key_forgotten(store: impl Store) {
    let world = World::new(store, &[("l", slots(5, 3600))]);
    for _ in 0..5 {
        let failed = world.charge(&[(0, "k", 1)]).await;
        assert!(failed.decision.admitted);
        world.release(failed.receipt).await;
    }
    assert_eq!(world.admitted(6, &[(0, "k", 1)]).await, 5);
}

pub(crate) async fn str_01_slots_of_the_dead_free_themselves(store: impl Store) {
    let mut world = World::new(store, &[("l", slots(3, 30))]);
    let first = world.charge(&[(0, "k", 1)]).await;
    assert_eq!(world.admitted(5, &[(0, "k", 1)]).await, 2);
    world.release(first.receipt).await;
    assert_eq!(world.remaining(0, "k").await, 1);
    // The others never say that they have gone.
    world.now = seconds(31);
    assert_eq!(world.admitted(5, &[(0, "k", 1)]).await, 3);
    world.now = seconds(62);
    assert_eq!(world.remaining(0, "k").await, 3);
}

pub(crate) async fn num_18_a_limit_of_zero_refuses_everything(store: impl Store) {
    let world = World::new(store, &[("window", fixed(0, 60)), ("bucket", bucket(0, 60, 0))]);
    for index in 0..2 {
        for cost in [0, 1, u64::MAX] {
            assert_eq!(retry(&world.charge(&[(index, "k", cost)]).await), None);
        }
    }
}

pub(crate) async fn unknown_limits_and_missing_periods_are_errors(store: impl Store) {
    let world = World::new(store, &[("quota", quota(3))]);
    let ask = async |charges: &[Charge<'_>]| {
        let call = Call { charges, now: world.now, hold: None };
        world.store.charge_all(&call).await.map(|outcome| outcome.decision.admitted)
    };
    let good = Charge { limit: world.ids[0], key: b"k", cost: 3, period: day(0) };
    let unknown = LimitId(77);
    assert_eq!(
        ask(&[good, Charge { limit: unknown, ..good }]).await,
        Err(StoreError::UnknownLimit(unknown))
    );
    let missing = Charge { period: None, ..good };
    assert_eq!(ask(&[missing]).await, Err(StoreError::MissingPeriod(good.limit)));
    assert_eq!(ask(&[good]).await, Ok(true), "neither error took anything");
    assert_eq!(ask(&[]).await, Ok(true), "no charges, nothing that refuses");
}
