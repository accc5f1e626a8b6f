//! `sync: share` and `sync: node`: no round trip.

use super::world::{NODE, SHARE, World, bucket, fixed, run};
use crate::Source;

#[test]
fn shares_add_up_to_the_limit() {
    run(async {
        for nodes in 1..=5 {
            let world = World::new(nodes, &[(fixed(12, 60), SHARE)]).await;
            let before = world.central.calls();
            assert_eq!(world.admitted(100, "key").await, 12, "{nodes} nodes");
            assert_eq!(world.central.calls(), before);
            assert_eq!(world.outcomes(0, Source::Share), 100_u64.div_ceil(nodes as u64));
        }
    });
}

#[test]
fn each_node_applies_the_whole() {
    run(async {
        let world = World::new(3, &[(fixed(12, 60), NODE)]).await;
        assert_eq!(world.admitted(100, "key").await, 36);
    });
}

#[test]
fn while_membership_is_stable_no_second_sees_more_than_the_limit() {
    run(async {
        let world = World::new(3, &[(bucket(10, 10), SHARE)]).await;
        let mut admitted = world.admitted(60, "key").await;
        assert_eq!(admitted, 10);
        for _ in 0..100 {
            world.passes_millis(100);
            admitted += world.admitted(6, "key").await;
        }
        assert!((107..=110).contains(&admitted), "{admitted}");
    });
}

#[test]
fn a_node_that_joins_takes_at_most_one_share_more() {
    run(async {
        let mut world = World::new(2, &[(fixed(12, 60), SHARE)]).await;
        assert_eq!(world.admitted(100, "key").await, 12);
        world.join();
        world.beat().await;
        assert_eq!(world.nodes[0].observed().live_nodes, 3);
        // The two have had more than their shares are now.
        assert_eq!(world.admitted(100, "key").await, 4);
        world.passes_millis(60_000);
        assert_eq!(world.admitted(100, "key").await, 12);
    });
}

#[test]
fn when_a_node_dies_the_others_take_its_share() {
    run(async {
        let mut world = World::new(3, &[(fixed(12, 60), SHARE)]).await;
        assert_eq!(world.admitted(100, "key").await, 12);
        world.nodes.pop();
        world.central.dies(2);
        world.beat().await;
        // The dead one's were spent, which nobody knows: at most its share more, in this window.
        assert_eq!(world.admitted(100, "key").await, 4);
        world.passes_millis(60_000);
        assert_eq!(world.admitted(100, "key").await, 12);
    });
}

#[test]
fn a_node_that_leaves_is_not_waited_for() {
    run(async {
        let world = World::new(2, &[(fixed(12, 60), SHARE)]).await;
        world.nodes[1].leave().await;
        world.nodes[0].beat().await;
        assert_eq!(world.nodes[0].observed().live_nodes, 1);
        assert_eq!(world.left(0, 0, "key").await, 12);
    });
}

#[test]
fn a_request_on_its_way_outlives_a_reload_and_a_new_node() {
    run(async {
        let mut world = World::new(1, &[(fixed(12, 60), SHARE), (fixed(5, 60), NODE)]).await;
        let said = world.charge(0, &[(1, "key", 2)]).await;
        world.reload(&[(fixed(12, 60), SHARE)]);
        world.central.joins(77);
        world.beat().await;
        world.central.dies(77);
        world.beat().await;
        world.settle(0, said.receipt, 0).await;
    });
}
