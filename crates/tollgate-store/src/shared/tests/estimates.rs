//! `sync: estimate`: nodes decide by their copies of the sum.

use super::world::{ESTIMATE, EXACT, World, bucket, fixed, run};
use crate::{Source, Trouble};

impl World {
    /// Every node reports.
    async fn report(&self) {
        for node in &self.nodes {
            let held = node.limits.load().get(self.ids[0]).expect("a limit").clone();
            node.report(&held).await;
        }
    }
}

#[test]
fn lea_04_strict_admits_exactly_one_of_thirty() {
    run(async {
        let world = World::new(2, &[(fixed(1, 30), EXACT)]).await;
        let mut admitted = 0;
        for turn in 0..30 {
            admitted += usize::from(world.admits(turn % 2, &[(0, "key", 1)]).await);
            world.passes_millis(100);
        }
        assert_eq!(admitted, 1);
    });
}

#[test]
fn lea_04_an_estimate_admits_at_most_one_a_node() {
    run(async {
        let world = World::new(2, &[(fixed(1, 30), ESTIMATE)]).await;
        let mut admitted = 0;
        for turn in 0..30 {
            admitted += usize::from(world.admits(turn % 2, &[(0, "key", 1)]).await);
            world.passes_millis(100);
            world.report().await;
        }
        assert!((1..=2).contains(&admitted), "{admitted}");
        let overshoot: u64 = world.nodes.iter().map(|node| node.observed().overshoot).sum();
        assert_eq!(overshoot, admitted as u64 - 1);
    });
}

#[test]
fn the_overshoot_is_at_most_what_comes_in_an_interval() {
    run(async {
        let world = World::new(4, &[(fixed(1_000, 60), ESTIMATE)]).await;
        let mut admitted = 0;
        for _ in 0..100 {
            admitted += world.admitted(40, "key").await;
            world.passes_millis(100);
            world.report().await;
        }
        assert!((1_000..=1_040).contains(&admitted), "{admitted}");
        let overshoot: u64 = world.nodes.iter().map(|node| node.observed().overshoot).sum();
        assert_eq!(overshoot, admitted as u64 - 1_000);
    });
}

#[test]
fn an_idle_node_learns_of_the_others_with_its_first_report() {
    run(async {
        let world = World::new(2, &[(bucket(1, 10), ESTIMATE)]).await;
        for _ in 0..10 {
            assert!(world.admits(0, &[(0, "key", 1)]).await);
        }
        world.report().await;
        assert!(world.admits(1, &[(0, "key", 1)]).await);
        world.report().await;
        assert!(!world.admits(1, &[(0, "key", 1)]).await);
        assert!(!world.admits(0, &[(0, "key", 1)]).await);
    });
}

#[test]
fn no_decision_waits_for_the_store() {
    run(async {
        let world = World::new(1, &[(fixed(10, 60), ESTIMATE)]).await;
        let before = world.central.calls();
        let said = world.charge(0, &[(0, "key", 3)]).await;
        assert_eq!(said.limits[0].source, Source::Estimate);
        assert_eq!(said.limits[0].outcome.standing.remaining, 7);
        assert_eq!(world.central.calls(), before);
        world.report().await;
        assert_eq!(world.central.standing(0, "key").remaining, 7);
        world.report().await;
        assert_eq!(world.central.calls(), before + 1, "there was nothing to report");
    });
}

#[test]
fn what_is_given_back_is_not_reported() {
    run(async {
        let world = World::new(1, &[(fixed(10, 60), ESTIMATE)]).await;
        let said = world.charge(0, &[(0, "key", 3)]).await;
        world.settle(0, said.receipt, 1).await;
        assert_eq!(world.left(0, 0, "key").await, 9);
        world.report().await;
        assert_eq!(world.central.standing(0, "key").remaining, 9);
        assert_eq!(world.left(0, 0, "key").await, 9);
    });
}

#[test]
fn without_the_store_each_node_goes_on_with_its_part() {
    run(async {
        let world = World::new(2, &[(fixed(100, 600), ESTIMATE)]).await;
        assert_eq!(world.admitted(40, "key").await, 40);
        world.report().await;
        world.report().await;
        world.breaks(Trouble::Loading).await;
        let meanwhile = world.admitted(200, "key").await;
        // The first report of a node did not know of the other's units.
        assert!((60..=71).contains(&meanwhile), "{meanwhile}");
        world.recovers().await;
        for node in &world.nodes {
            node.reconcile().await;
        }
        // One of them does not know yet what the other was told of after it.
        assert!(world.admitted(50, "key").await <= 20);
        world.report().await;
        assert_eq!(world.admitted(50, "key").await, 0);
    });
}

#[test]
fn a_store_whose_clock_is_ahead_is_followed() {
    run(async {
        let world = World::new(2, &[(fixed(10, 60), ESTIMATE)]).await;
        world.central.ahead.store(45_000_000, std::sync::atomic::Ordering::Relaxed);
        world.beat().await;
        assert_eq!(world.admitted(10, "key").await, 10);
        world.report().await;
        assert_eq!(world.admitted(10, "key").await, 5, "the first to report knew of its own");
        world.report().await;
        assert_eq!(world.admitted(10, "key").await, 0);
        // Its window ends in 15 s.
        world.passes_millis(14_999);
        assert_eq!(world.admitted(2, "key").await, 0);
        world.passes_millis(1);
        assert_eq!(world.admitted(2, "key").await, 2);
    });
}
