//! Several charges stand or fall together.

use super::world::{World, bucket, every_kind, fixed, limit, log, retry, sliding, slots};
use tollgate_core::{Algorithm, FixedWindow, Limit, Micros, Rules};
use tollgate_store::Store;

pub(crate) async fn mul_01_refused_by_one_limit_charges_none(store: impl Store) {
    let world =
        World::new(store, &[("minute", bucket(10, 60, 10)), ("half-hour", bucket(30, 1800, 30))]);
    let both = [(0, "u", 1), (1, "u", 1)];
    assert_eq!(world.admitted(31, &both).await, 10);
    assert_eq!(world.remaining(1, "u").await, 20);
}

pub(crate) async fn mul_03_an_oversize_request_takes_nothing(store: impl Store) {
    let kinds = every_kind(10);
    let world = World::new(store, &kinds);
    for (index, (kind, _)) in kinds.iter().enumerate() {
        assert!(world.admits(&[(index, "k", 8)]).await, "{kind}");
        let refused = world.charge(&[(index, "k", 5)]).await;
        assert!(!refused.decision.admitted, "{kind}");
        assert_eq!(refused.limits[0].outcome.standing.remaining, 2, "{kind}");
        let last = world.charge(&[(index, "k", 1)]).await;
        assert!(last.decision.admitted, "{kind}");
        assert_eq!(last.limits[0].outcome.standing.remaining, 1, "{kind}");
        let never = world.charge(&[(index, "k", 11)]).await;
        assert_eq!(retry(&never), None, "{kind}");
    }
}

pub(crate) async fn a_refused_request_takes_nothing_from_any(store: impl Store) {
    let kinds = every_kind(10);
    let world = World::new(store, &kinds);
    let all: Vec<_> = (0..kinds.len()).map(|index| (index, "k", 1)).collect();
    for refusing in 0..kinds.len() {
        // A key of its own in each round, exhausted under one limit only.
        let key = format!("k{refusing}");
        let charges: Vec<_> = all.iter().map(|(index, _, cost)| (*index, &*key, *cost)).collect();
        assert!(world.admits(&[(refusing, &key, 10)]).await);
        assert_eq!(world.admitted(5, &charges).await, 0, "refused by {}", kinds[refusing].0);
        for (index, (kind, _)) in kinds.iter().enumerate().filter(|(at, _)| *at != refusing) {
            let standing = world.standing(index, &key).await;
            assert_eq!((standing.remaining, standing.reset.get()), (10, 0), "{kind}");
        }
    }
}

pub(crate) async fn equal_limit_and_key_are_added_before_the_check(store: impl Store) {
    let kinds = every_kind(10);
    let world = World::new(store, &kinds);
    for (index, (kind, _)) in kinds.iter().enumerate() {
        assert!(!world.admits(&[(index, "k", 6), (index, "k", 5)]).await, "{kind}");
        let outcome = world.charge(&[(index, "k", 4), (index, "other", 1), (index, "k", 5)]).await;
        assert!(outcome.decision.admitted, "{kind}");
        assert_eq!(outcome.limits[0].outcome, outcome.limits[2].outcome, "{kind}");
        assert_eq!(outcome.limits[0].outcome.standing.remaining, 1, "{kind}");
        let places: Vec<_> = outcome.receipt.taken.iter().map(|taken| taken.place).collect();
        assert_eq!(places, [0, 1], "{kind}");
    }
}

pub(crate) async fn keys_and_classes_count_apart(store: impl Store) {
    let world = World::new(store, &[("free", fixed(3, 60)), ("paid", log(4, 60))]);
    for key in ["", "a", "a\0", "b", "a very long key that fits no word of any machine at all"] {
        assert_eq!(world.admitted(9, &[(0, key, 1)]).await, 3);
        assert_eq!(world.admitted(9, &[(1, key, 1)]).await, 4);
    }
}

pub(crate) async fn every_refusing_limit_is_named(store: impl Store) {
    let limits = [("a", fixed(1, 60)), ("b", sliding(5, 60, 6)), ("c", slots(1, 60))];
    let world = World::new(store, &limits);
    let all = [(0, "k", 1), (1, "k", 1), (2, "k", 1)];
    assert!(world.admits(&all).await);
    let refused = world.charge(&all).await;
    let named: Vec<_> = refused.limits.iter().map(|limit| limit.outcome.refused).collect();
    assert_eq!(named, [true, false, true]);
    assert_eq!(retry(&refused), Some(60_000_000));
    assert!(refused.receipt.taken.is_empty());
}

pub(crate) async fn more_charges_than_fit_in_line(store: impl Store) {
    let limits: Vec<_> = (0..20).map(|_| ("l", fixed(2, 60))).collect();
    let names: Vec<_> = (0..20).map(|index| format!("l{index}")).collect();
    let limits: Vec<_> =
        names.iter().zip(limits).map(|(name, (_, limit))| (name.as_str(), limit)).collect();
    let world = World::new(store, &limits);
    let all: Vec<_> = (0..20).map(|index| (index, "k", 1)).collect();
    assert_eq!(world.admitted(5, &all).await, 2);
}

pub(crate) async fn count_refused_charges_though_another_refuses(store: impl Store) {
    let rules = Rules { count_refused: true, ..Rules::default() };
    let window = Micros::from_secs(60);
    let window = Algorithm::FixedWindow(FixedWindow { limit: 3, window });
    let counting = Limit::new(window, rules).expect("a limit");
    let other =
        limit(Algorithm::FixedWindow(FixedWindow { limit: 1, window: Micros::from_secs(60) }));
    let world = World::new(store, &[("counting", counting), ("other", other)]);
    let both = [(0, "k", 1), (1, "k", 1)];
    assert_eq!(world.admitted(3, &both).await, 1);
    assert_eq!(world.remaining(0, "k").await, 0);
    // Two of the three were refused, by the other limit; all three count here.
    assert!(!world.admits(&[(0, "k", 1)]).await);
}
