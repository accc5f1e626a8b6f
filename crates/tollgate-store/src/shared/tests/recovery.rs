//! The store is back: probes one at a time, and what was admitted meanwhile is charged.

use super::world::{ALLOW, EXACT, World, bucket, fixed, run};
use crate::shared::double::Health;
use crate::{Source, Trouble};

#[test]
fn what_was_admitted_meanwhile_is_charged() {
    run(async {
        let world = World::new(2, &[(fixed(100, 600), EXACT)]).await;
        assert_eq!(world.admitted(20, "key").await, 20);
        world.breaks(Trouble::Disconnected).await;
        let meanwhile = world.admitted(200, "key").await;
        assert!((80..=81).contains(&meanwhile), "{meanwhile}");
        world.recovers().await;
        for node in &world.nodes {
            node.reconcile().await;
            assert_eq!(node.observed().unreconciled_keys, 0);
        }
        assert_eq!(world.central.standing(0, "key").remaining, 0);
        assert_eq!(world.admitted(50, "key").await, 0);
        let reconciled: u64 = world.nodes.iter().map(|node| node.observed().reconciled).sum();
        assert_eq!(reconciled, meanwhile as u64);
    });
}

#[test]
fn until_it_is_charged_the_key_stays_with_the_node() {
    run(async {
        let world = World::new(1, &[(fixed(10, 600), EXACT)]).await;
        world.breaks(Trouble::Disconnected).await;
        assert_eq!(world.admitted(10, "key").await, 10);
        world.recovers().await;
        let said = world.charge(0, &[(0, "key", 1)]).await;
        assert_eq!(said.limits[0].source, Source::Failure);
        assert!(!said.decision.admitted);
        assert!(world.admits(0, &[(0, "other", 1)]).await);
        assert_eq!(world.outcomes(0, Source::Store), 1);
        world.nodes[0].reconcile().await;
        let said = world.charge(0, &[(0, "key", 1)]).await;
        assert_eq!((said.limits[0].source, said.decision.admitted), (Source::Store, false));
    });
}

#[test]
fn a_long_outage_leaves_no_debt_for_what_was_refilled() {
    run(async {
        let world = World::new(1, &[(bucket(10, 10), EXACT)]).await;
        world.breaks(Trouble::Disconnected).await;
        for _ in 0..60 {
            assert_eq!(world.admitted(20, "key").await, 10);
            world.passes_millis(1_000);
        }
        assert_eq!(world.admitted(20, "key").await, 10);
        world.central.becomes(Health::Well);
        // The bucket is empty at both: six seconds later it is full at both.
        world.recovers().await;
        world.nodes[0].reconcile().await;
        assert_eq!(world.admitted(20, "key").await, 10);
    });
}

#[test]
fn a_window_that_is_over_is_not_charged() {
    run(async {
        let world = World::new(1, &[(fixed(10, 60), EXACT)]).await;
        world.breaks(Trouble::Disconnected).await;
        assert_eq!(world.admitted(10, "key").await, 10);
        world.passes_millis(60_000);
        world.recovers().await;
        world.nodes[0].reconcile().await;
        assert_eq!(world.central.standing(0, "key").remaining, 10);
    });
}

#[test]
fn what_allow_let_pass_is_charged_too() {
    run(async {
        let world = World::new(1, &[(fixed(10, 600), ALLOW)]).await;
        world.breaks(Trouble::Disconnected).await;
        assert_eq!(world.admitted(7, "key").await, 7);
        world.recovers().await;
        world.nodes[0].reconcile().await;
        assert_eq!(world.central.standing(0, "key").remaining, 3);
    });
}

#[test]
fn it_is_told_once_even_where_the_answer_is_lost() {
    run(async {
        let world = World::new(1, &[(fixed(10, 600), EXACT)]).await;
        world.breaks(Trouble::Disconnected).await;
        assert_eq!(world.admitted(4, "key").await, 4);
        world.recovers().await;
        world.central.becomes(Health::LosesReplies);
        world.nodes[0].reconcile().await;
        world.central.becomes(Health::Well);
        world.nodes[0].reconcile().await;
        assert_eq!(world.central.standing(0, "key").remaining, 6);
        // Nobody knows whether it was heard: these count as lost.
        assert_eq!(world.nodes[0].observed().unreconciled, 4);
    });
}

#[test]
fn it_is_told_again_where_it_was_certainly_not_heard() {
    run(async {
        let world = World::new(1, &[(fixed(10, 600), EXACT)]).await;
        world.breaks(Trouble::Disconnected).await;
        assert_eq!(world.admitted(4, "key").await, 4);
        world.recovers().await;
        world.central.becomes(Health::Fails(Trouble::Loading));
        world.nodes[0].reconcile().await;
        assert_eq!(world.nodes[0].observed().unreconciled_keys, 1);
        world.central.becomes(Health::Well);
        world.nodes[0].reconcile().await;
        assert_eq!(world.central.standing(0, "key").remaining, 6);
    });
}

#[test]
fn requests_are_probes_one_at_a_time() {
    run(async {
        let world = World::new(1, &[(fixed(1_000, 600), EXACT)]).await;
        world.breaks(Trouble::Disconnected).await;
        world.central.becomes(Health::Slow);
        world.passes_millis(6_000);
        let before = world.central.calls();
        let (first, second) = tokio::join!(world.charge(0, &[(0, "a", 1)]), async {
            tokio::task::yield_now().await;
            world.charge(0, &[(0, "b", 1)]).await
        });
        assert_eq!(first.limits[0].source, Source::Store);
        assert_eq!(second.limits[0].source, Source::Failure);
        assert_eq!(world.central.calls(), before + 1);
    });
}

#[test]
fn what_was_given_back_meanwhile_is_not_charged() {
    run(async {
        let world = World::new(1, &[(fixed(10, 600), EXACT), (bucket(10, 10), EXACT)]).await;
        world.breaks(Trouble::Disconnected).await;
        for limit in [0, 1] {
            world.charge(0, &[(limit, "key", 3)]).await;
            let said = world.charge(0, &[(limit, "key", 4)]).await;
            world.settle(0, said.receipt, 0).await;
        }
        world.recovers().await;
        world.nodes[0].reconcile().await;
        assert_eq!(world.central.standing(0, "key").remaining, 7);
        // Three units of ten a second came back while it was away.
        assert_eq!(world.central.standing(1, "key").remaining, 10);
    });
}
