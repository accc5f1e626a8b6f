//! The store is away: each limit does as it says, within the budget, and nothing is charged twice.

use std::sync::Arc;
use std::time::Duration;

use tollgate_core::Rules;

use super::world::{ALLOW, EXACT, NODE, REFUSE, World, bucket, count_refused, fixed, run, slots};
use crate::shared::breaker::BreakerState;
use crate::shared::double::{BUDGET, Health};
use crate::{Source, Trouble};

#[test]
fn red_17_a_full_store_is_an_error_and_the_node_goes_on() {
    run(async {
        let world = World::new(1, &[(bucket(10, 10), EXACT)]).await;
        world.central.becomes(Health::Fails(Trouble::Full));
        assert_eq!(world.admitted(50, "key").await, 10);
        for other in 0..4 {
            assert!(world.admits(0, &[(0, &format!("other {other}"), 1)]).await);
        }
        assert!(world.nodes[0].observed().degraded);
        assert_eq!(world.errors(0, Trouble::Full), 5);
        assert_eq!(world.outcomes(0, Source::Failure), 54);
        world.recovers().await;
        let said = world.charge(0, &[(0, "new", 1)]).await;
        assert_eq!(said.limits[0].source, Source::Store);
        assert!(!world.nodes[0].observed().degraded);
    });
}

#[test]
fn red_19_a_hung_store_costs_a_few_calls_their_budget_and_the_others_nothing() {
    run(async {
        let world = Arc::new(World::new(1, &[(bucket(1_000_000, 1_000_000), EXACT)]).await);
        world.central.becomes(Health::Hangs);
        let before = world.central.calls();
        let mut waited = Vec::new();
        for _ in 0..10_000 {
            let asking = world.clone();
            waited.push(tokio::spawn(async move {
                let began = tokio::time::Instant::now();
                assert!(asking.admits(0, &[(0, "key", 1)]).await);
                began.elapsed()
            }));
            tokio::time::sleep(Duration::from_millis(1)).await;
            world.passes_millis(1);
        }
        let mut late = 0;
        for waited in waited {
            let waited = waited.await.expect("an answer");
            assert!(waited <= BUDGET + Duration::from_millis(5), "{waited:?}");
            late += usize::from(waited > Duration::ZERO);
        }
        // Those before it opened, and a probe now and then.
        assert!(late < 60, "{late} calls waited");
        assert!(world.central.calls() - before < 60);
        assert!(world.central.most_waiting() < 40, "{} at a time", world.central.most_waiting());
    });
}

#[test]
fn red_13_a_call_that_timed_out_is_not_repeated() {
    run(async {
        let world = World::new(1, &[(fixed(10, 60), EXACT)]).await;
        world.central.becomes(Health::LosesReplies);
        let said = world.charge(0, &[(0, "key", 1)]).await;
        assert!(said.decision.admitted);
        assert_eq!(said.limits[0].source, Source::Failure);
        world.central.becomes(Health::Well);
        world.nodes[0].reconcile().await;
        let said = world.charge(0, &[(0, "key", 1)]).await;
        assert_eq!(said.limits[0].outcome.standing.remaining, 8);
        assert_eq!(world.errors(0, Trouble::TimedOut), 1);
    });
}

#[test]
fn each_limit_does_as_it_says() {
    run(async {
        let limits = [(fixed(1, 60), EXACT), (fixed(1, 60), ALLOW), (fixed(1, 60), REFUSE)];
        let world = World::new(1, &limits).await;
        world.breaks(Trouble::Disconnected).await;
        for (limit, admitted) in [(0, 1), (1, 5), (2, 0)] {
            let mut count = 0;
            for _ in 0..5 {
                count += usize::from(world.admits(0, &[(limit, "key", 1)]).await);
            }
            assert_eq!(count, admitted, "limit {limit}");
        }
    });
}

#[test]
fn one_that_refuses_takes_nothing_from_the_others() {
    run(async {
        let limits = [
            (fixed(5, 60), Rules::default(), NODE),
            (fixed(5, 60), Rules::default(), EXACT),
            (fixed(5, 60), count_refused(), NODE),
            (fixed(5, 60), Rules::default(), REFUSE),
        ];
        let world = World::with_rules(1, &limits).await;
        world.breaks(Trouble::Disconnected).await;
        let all = [(0, "key", 1), (1, "key", 1), (2, "key", 1), (3, "key", 1)];
        let said = world.charge(0, &all).await;
        let refused: Vec<_> = said.limits.iter().map(|said| said.outcome.refused).collect();
        assert_eq!(refused, [false, false, false, true]);
        assert_eq!(world.left(0, 0, "key").await, 5);
        assert_eq!(world.left(0, 2, "key").await, 4, "what counts refusals counted this one");
    });
}

#[test]
fn the_node_goes_on_from_what_it_knew() {
    run(async {
        let world = World::new(2, &[(fixed(100, 60), EXACT)]).await;
        // 90 are taken; the last word to each node says what is left.
        assert_eq!(world.admitted(90, "key").await, 90);
        world.breaks(Trouble::Disconnected).await;
        // 10 and 11 were left: half of that each, rounded up.
        assert_eq!(world.admitted(100, "key").await, 11);
        // A key that nobody knew has a half of the limit at each.
        assert_eq!(world.admitted(200, "new").await, 100);
    });
}

#[test]
fn a_bucket_goes_on_from_what_it_knew() {
    run(async {
        let world = World::new(1, &[(bucket(10, 20), EXACT)]).await;
        assert_eq!(world.admitted(15, "key").await, 15);
        world.breaks(Trouble::Loading).await;
        assert_eq!(world.admitted(20, "key").await, 5);
        world.passes_millis(1_000);
        assert_eq!(world.admitted(20, "key").await, 10);
    });
}

#[test]
fn slots_are_held_and_freed_while_the_store_is_away() {
    run(async {
        let world = World::new(1, &[(slots(2), EXACT)]).await;
        world.breaks(Trouble::Disconnected).await;
        let first = world.charge(0, &[(0, "key", 1)]).await;
        assert!(world.admits(0, &[(0, "key", 1)]).await);
        assert!(!world.admits(0, &[(0, "key", 1)]).await);
        for taken in first.receipt.taken {
            world.nodes[0].release_one(taken, world.now()).await.expect("released");
        }
        assert!(world.admits(0, &[(0, "key", 1)]).await);
    });
}

#[test]
fn a_reload_while_the_store_is_away_keeps_what_was_counted() {
    run(async {
        let mut world = World::new(1, &[(fixed(10, 60), EXACT)]).await;
        world.breaks(Trouble::Disconnected).await;
        assert_eq!(world.admitted(8, "key").await, 8);
        world.reload(&[(fixed(9, 60), EXACT)]);
        assert_eq!(world.admitted(8, "key").await, 1);
        world.recovers().await;
        world.nodes[0].reconcile().await;
        let said = world.charge(0, &[(0, "key", 1)]).await;
        assert_eq!(said.limits[0].source, Source::Store);
        assert!(!said.decision.admitted, "the store knows of the 9");
    });
}

#[test]
fn clk_a_clock_that_leaps_gives_no_more_than_its_windows() {
    run(async {
        let world = World::new(1, &[(fixed(10, 60), EXACT)]).await;
        world.breaks(Trouble::Disconnected).await;
        assert_eq!(world.admitted(20, "key").await, 10);
        world.passes_millis(3_600_000);
        assert_eq!(world.nodes[0].observed().breaker, BreakerState::HalfOpen);
        assert_eq!(world.admitted(20, "key").await, 10);
        // A door whose clock stands behind.
        let charge = crate::Charge { limit: world.ids[0], key: b"key", cost: 1, period: None };
        let now = tollgate_core::Timestamp::from_micros(world.now().as_micros() - 3_500_000_000);
        let call = crate::Call { charges: &[charge], now, hold: None };
        assert!(!world.nodes[0].decide(&call).await.expect("an answer").decision.admitted);
    });
}
