//! A key that the store said is exhausted costs it a handful of calls.

use tollgate_core::{Micros, Retry};

use super::world::{EXACT, NODE, World, bucket, count_refused, fixed, run};
use crate::{Sharing, Source};

#[test]
fn red_23_a_hot_exhausted_key_costs_a_handful_of_calls_a_window() {
    run(async {
        let world = World::new(1, &[(fixed(10, 60), EXACT)]).await;
        world.passes_millis(1_000);
        assert_eq!(world.admitted(10, "hot").await, 10);
        let before = world.central.calls();
        for call in 0..590_000_u64 {
            let said = world.charge(0, &[(0, "hot", 1)]).await;
            let now = 1_000_000 + call * 100;
            assert!(!said.decision.admitted);
            assert_eq!(said.decision.retry, Retry::After(Micros::new(60_000_000 - now)));
            assert_eq!(said.limits[0].outcome.standing.reset.get(), 60_000_000 - now);
            world.passes(100);
        }
        let calls = world.central.calls() - before;
        assert!(calls <= 8, "{calls} calls");
        assert!(world.admits(0, &[(0, "hot", 1)]).await, "the window is over");
        assert_eq!(world.central.calls(), before + calls + 1);
    });
}

#[test]
fn a_key_that_is_known_to_be_exhausted_refuses_for_all_and_takes_nothing() {
    run(async {
        let world = World::new(1, &[(fixed(1, 60), EXACT), (bucket(10, 10), NODE)]).await;
        assert!(world.admits(0, &[(0, "user", 1), (1, "all", 1)]).await);
        assert!(!world.admits(0, &[(0, "user", 1), (1, "all", 1)]).await);
        assert_eq!(world.left(0, 1, "all").await, 9);
        let before = world.central.calls();
        let said = world.charge(0, &[(0, "user", 1), (1, "all", 1)]).await;
        assert_eq!(said.limits[0].source, Source::Exhausted);
        assert!(said.limits[0].outcome.refused && !said.limits[1].outcome.refused);
        assert!(said.receipt.taken.is_empty());
        assert_eq!((world.central.calls(), world.left(0, 1, "all").await), (before, 9));
    });
}

#[test]
fn limits_that_charge_refusals_or_give_back_always_ask() {
    let given_back = Sharing { given_back: true, ..EXACT };
    run(async {
        let limits = [
            (fixed(1, 60), count_refused(), EXACT),
            (fixed(1, 60), Default::default(), given_back),
            (fixed(1, 60), Default::default(), EXACT),
        ];
        let world = World::with_rules(1, &limits).await;
        for charges in [&[(0, "a", 1)][..], &[(1, "a", 1)], &[(0, "b", 1), (2, "b", 1)]] {
            world.charge(0, charges).await;
            let before = world.central.calls();
            for _ in 0..10 {
                assert!(!world.admits(0, charges).await);
            }
            assert_eq!(world.central.calls(), before + 10);
        }
    });
}

#[test]
fn a_reload_or_a_reset_asks_again() {
    run(async {
        let mut world = World::new(1, &[(fixed(1, 60), EXACT)]).await;
        assert_eq!(world.admitted(5, "key").await, 1);
        world.reload(&[(fixed(2, 60), EXACT)]);
        assert_eq!(world.admitted(5, "key").await, 1);
        world.nodes[0].forget(world.ids[0], b"key").await.expect("forgotten");
        assert_eq!(world.admitted(5, "key").await, 2);
    });
}

#[test]
fn a_replay_asks_every_time() {
    run(async {
        let world = World::new(1, &[(fixed(1, 60), EXACT)]).await;
        let before = world.central.calls();
        for _ in 0..10 {
            let charge = crate::Charge { limit: world.ids[0], key: b"key", cost: 1, period: None };
            let hold = Some(Micros::ZERO);
            let call = crate::Call { charges: &[charge], now: world.now(), hold };
            world.nodes[0].decide(&call).await.expect("an answer");
        }
        assert_eq!(world.central.calls(), before + 10);
    });
}

#[test]
fn once_something_was_given_back_the_limit_is_asked_every_time() {
    run(async {
        let world = World::new(1, &[(fixed(1, 60), EXACT)]).await;
        let said = world.charge(0, &[(0, "key", 1)]).await;
        assert!(!world.admits(0, &[(0, "key", 1)]).await);
        world.settle(0, said.receipt, 0).await;
        assert!(world.admits(0, &[(0, "key", 1)]).await);
    });
}
