//! By how much a limit may be exceeded in a window in which the store was away once (`docs/distributed.md`): with r left of it
//! then, r_i when node i heard of the key last, and n nodes, at most the limit and
//!
//! ```text
//! max(0, sum of ceil(r_i / n) - r)  +  units of calls in doubt that the store did not carry out
//! ```
//!
//! Each test reaches its bound, so that it is no smaller.

use super::world::{EXACT, World, fixed, run};
use crate::Trouble;
use crate::shared::double::Health;

/// A window that no test outlasts.
fn limit(units: u64) -> [(tollgate_core::Algorithm, crate::Sharing); 1] {
    [(fixed(units, 86_400), EXACT)]
}

/// How many more pass once the store is back and has heard of everything.
async fn after_recovery(world: &World) -> usize {
    world.recovers().await;
    for node in &world.nodes {
        node.reconcile().await;
    }
    world.admitted(1_000, "key").await
}

/// How many pass while the store is away and all nodes are asked for more than there is.
async fn meanwhile(world: &World) -> usize {
    world.breaks(Trouble::Disconnected).await;
    world.admitted(1_000, "key").await
}

#[test]
fn nodes_that_all_know_how_it_stands_exceed_by_less_than_a_unit_each() {
    for nodes in [1, 2, 3, 8] {
        run(async {
            let world = World::new(nodes, &limit(100)).await;
            let before = world.admitted(37, "key").await;
            for node in 0..nodes {
                // Asking for nothing is enough to hear of it.
                world.charge(node, &[(0, "key", 0)]).await;
            }
            let left = 100 - before;
            let expected = left.div_ceil(nodes) * nodes;
            assert_eq!(meanwhile(&world).await, expected);
            assert!(expected - left < nodes, "less than a unit each");
            assert_eq!(after_recovery(&world).await, 0);
        });
    }
}

#[test]
fn what_others_took_since_a_node_heard_of_the_key_counts_by_its_share() {
    run(async {
        let world = World::new(4, &limit(10)).await;
        // Turns: the nodes heard last that 5, 8, 7 and 6 are left.
        assert_eq!(world.admitted(5, "key").await, 5);
        let expected = [5_usize, 8, 7, 6].map(|left| left.div_ceil(4)).iter().sum::<usize>();
        assert_eq!(meanwhile(&world).await, expected);
        assert_eq!(after_recovery(&world).await, 0);
    });
}

#[test]
fn nodes_that_never_heard_of_a_key_that_is_used_up_have_a_part_of_it_each() {
    run(async {
        let world = World::new(4, &limit(100)).await;
        for _ in 0..100 {
            assert!(world.admits(0, &[(0, "key", 1)]).await);
        }
        assert_eq!(meanwhile(&world).await, 75, "nothing by the first, and 25 by each other one");
        assert_eq!(after_recovery(&world).await, 0);
    });
}

#[test]
fn what_is_left_of_the_parts_is_no_excess() {
    run(async {
        let world = World::new(3, &limit(30)).await;
        assert_eq!(world.admitted(3, "key").await, 3);
        world.breaks(Trouble::Disconnected).await;
        assert_eq!(world.admitted(12, "key").await, 12);
        assert_eq!(after_recovery(&world).await, 15, "thirty in all");
    });
}

/// Calls that were sent and not answered are not sent again, for they may have been carried out: the store never learns of
/// those that were not, as many as it takes for the breaker to open.
#[test]
fn calls_in_doubt_count_beyond_the_limit_where_the_store_did_not_carry_them_out() {
    for (health, beyond) in [(Health::Hangs, 5), (Health::LosesReplies, 0)] {
        run(async {
            let world = World::new(1, &limit(20)).await;
            let mut admitted = world.admitted(3, "key").await;
            world.central.becomes(health);
            admitted += world.admitted(8, "key").await;
            assert_eq!((admitted, world.errors(0, Trouble::TimedOut)), (11, 5), "{health:?}");
            admitted += after_recovery(&world).await;
            assert_eq!(admitted, 20 + beyond, "{health:?}");
        });
    }
}
