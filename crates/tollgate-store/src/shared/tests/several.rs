//! Several limits in one decision, over the node and the shared store: all or nothing.

use tollgate_core::{Micros, Retry, Rules};

use super::world::{EXACT, NODE, SHARE, World, bucket, count_refused, fixed, run, slots};
use crate::Source;

#[test]
fn a_refusal_by_the_store_gives_the_nodes_charges_back() {
    run(async {
        let world =
            World::new(1, &[(fixed(1, 60), EXACT), (fixed(9, 60), NODE), (slots(9), SHARE)]).await;
        let all = [(0, "key", 1), (1, "key", 1), (2, "key", 1)];
        assert!(world.admits(0, &all).await);
        let said = world.charge(0, &all).await;
        assert!(!said.decision.admitted);
        assert_eq!(said.limits[0].source, Source::Store);
        assert_eq!(said.decision.retry, Retry::After(Micros::from_secs(60)));
        assert!(said.receipt.taken.is_empty());
        assert_eq!(said.limits[1].outcome.standing.remaining, 8);
        assert_eq!(said.limits[2].outcome.standing.remaining, 8);
        assert_eq!((world.left(0, 1, "key").await, world.left(0, 2, "key").await), (8, 8));
    });
}

#[test]
fn a_refusal_by_the_node_asks_the_store_for_nothing() {
    run(async {
        let world = World::new(1, &[(fixed(9, 60), EXACT), (fixed(1, 60), NODE)]).await;
        let all = [(0, "key", 1), (1, "key", 1)];
        assert!(world.admits(0, &all).await);
        let before = world.central.calls();
        let said = world.charge(0, &all).await;
        assert!(!said.decision.admitted);
        assert_eq!((said.limits[0].source, said.limits[1].source), (Source::Unasked, Source::Node));
        assert_eq!(said.decision.retry, Retry::After(Micros::from_secs(60)));
        assert_eq!(world.central.calls(), before);
        assert_eq!(world.central.standing(0, "key").remaining, 8);
    });
}

#[test]
fn a_refusal_by_the_node_still_charges_what_counts_refusals() {
    run(async {
        let overdraw = Rules { overdraw: true, ..Rules::default() };
        let limits = [
            (fixed(9, 60), count_refused(), EXACT),
            (fixed(9, 60), overdraw, EXACT),
            (fixed(9, 60), Rules::default(), EXACT),
            (fixed(1, 60), Rules::default(), NODE),
        ];
        let world = World::with_rules(1, &limits).await;
        let all = [(0, "key", 1), (1, "key", 1), (2, "key", 1), (3, "key", 1)];
        assert!(world.admits(0, &all).await);
        let said = world.charge(0, &all).await;
        assert!(!said.decision.admitted);
        let left = |place| world.central.standing(place, "key").remaining;
        assert_eq!([left(0), left(1), left(2)], [7, 8, 8]);
        assert_eq!(said.limits[2].source, Source::Unasked);
        assert_eq!(said.receipt.taken.len(), 1);
        assert_eq!(said.receipt.taken[0].place, 0);
    });
}

#[test]
fn a_refusal_by_the_store_still_charges_what_the_node_counts_of_refusals() {
    run(async {
        let limits =
            [(fixed(1, 60), Rules::default(), EXACT), (fixed(3, 60), count_refused(), NODE)];
        let world = World::with_rules(1, &limits).await;
        let all = [(0, "key", 1), (1, "key", 1)];
        for left in [2, 1, 0] {
            world.charge(0, &all).await;
            assert_eq!(world.left(0, 1, "key").await, left);
        }
    });
}

#[test]
fn equal_limit_and_key_are_added_and_settled_where_they_were_taken() {
    run(async {
        let world = World::new(1, &[(fixed(9, 60), EXACT), (bucket(1, 9), NODE)]).await;
        let all = [(0, "key", 2), (1, "key", 1), (0, "key", 3), (1, "other", 4)];
        let said = world.charge(0, &all).await;
        assert!(said.decision.admitted);
        let left: Vec<_> = said.limits.iter().map(|said| said.outcome.standing.remaining).collect();
        assert_eq!(left, [4, 8, 4, 5]);
        let mut places: Vec<_> = said.receipt.taken.iter().map(|taken| taken.place).collect();
        places.sort_unstable();
        assert_eq!(places, [0, 1, 3]);
        world.settle(0, said.receipt, 0).await;
        assert_eq!(world.central.standing(0, "key").remaining, 9);
        assert_eq!((world.left(0, 1, "key").await, world.left(0, 1, "other").await), (9, 9));
    });
}

#[test]
fn slots_are_released_where_they_are_held() {
    run(async {
        let world = World::new(1, &[(slots(1), EXACT), (slots(1), SHARE)]).await;
        let both = [(0, "key", 1), (1, "key", 1)];
        let said = world.charge(0, &both).await;
        assert!(!world.admits(0, &both).await);
        for taken in said.receipt.taken {
            world.nodes[0].release_one(taken, world.now()).await.expect("released");
        }
        assert!(world.admits(0, &both).await);
    });
}

#[test]
fn a_shadow_limit_never_decides() {
    run(async {
        let shadow = Rules { shadow: true, ..Rules::default() };
        let limits = [(fixed(1, 60), shadow.clone(), EXACT), (fixed(1, 60), shadow, NODE)];
        let world = World::with_rules(1, &limits).await;
        let all = [(0, "key", 1), (1, "key", 1)];
        assert!(world.admits(0, &all).await);
        let said = world.charge(0, &all).await;
        assert!(said.decision.admitted);
        assert!(said.limits.iter().all(|said| said.outcome.refused));
    });
}
