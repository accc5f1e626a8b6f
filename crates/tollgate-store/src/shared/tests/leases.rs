//! Units on lease within decisions: all or nothing, waiting, failing, returning.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tollgate_core::{Retry, Rules};

use super::world::{ALLOW, EXACT, LEASED, NODE, REFUSE, World, bucket, count_refused, fixed, run};
use crate::shared::double::{BUDGET, Health};
use crate::{Sharing, Source, SyncMode, Trouble};

/// Units that the store counts as out or spent, of limit 0.
fn charged(world: &World, limit: u64, key: &str) -> u64 {
    let name = crate::shared::Remote::name(&world.nodes[0].remote, world.ids[0], key.as_bytes());
    let now = world.now().as_micros();
    limit - world.central.leased(crate::LimitId(0), name).remaining(now, None)
}

fn in_hand(world: &World, node: usize) -> u64 {
    world.nodes[node].observed().leases.in_hand
}

/// Lets a node borrow: by asking until it has units in hand.
async fn borrows(world: &World, node: usize, key: &str) -> usize {
    let mut admitted = 0;
    while in_hand(world, node) < 4 {
        assert!(world.admits(node, &[(0, key, 1)]).await);
        admitted += 1;
    }
    admitted
}

#[test]
fn most_requests_are_decided_from_what_is_in_hand() {
    run(async {
        let world = World::new(2, &[(fixed(1_000, 60), LEASED)]).await;
        let before = world.central.calls();
        assert_eq!(world.admitted(2_000, "key").await, 1_000);
        let calls = world.central.calls() - before;
        assert!(calls < 100, "2,000 requests took {calls} calls");
        let by_lease: u64 = (0..2).map(|node| world.outcomes(node, Source::Lease)).sum();
        assert_eq!(by_lease, 2_000);
    });
}

#[test]
fn what_remains_and_when_to_come_again_is_told() {
    run(async {
        let world = World::new(1, &[(fixed(100, 60), LEASED)]).await;
        let said = world.charge(0, &[(0, "key", 1)]).await;
        assert_eq!(said.limits[0].outcome.standing.remaining, 99);
        assert_eq!(said.receipt.taken[0].source, Source::Lease);
        for left in (0..99).rev() {
            let said = world.charge(0, &[(0, "key", 1)]).await;
            assert_eq!(said.limits[0].outcome.standing.remaining, left);
        }
        let said = world.charge(0, &[(0, "key", 1)]).await;
        assert!(!said.decision.admitted && said.limits[0].outcome.refused);
        let Retry::After(wait) = said.decision.retry else { panic!("it is not for ever") };
        assert!((59_000_000..=60_000_000).contains(&wait.get()), "{wait:?} until the next window");
    });
}

#[test]
fn a_cost_beyond_the_limit_is_never_admitted_and_none_at_all_is_asked_of_the_store() {
    run(async {
        let world = World::new(1, &[(fixed(10, 60), LEASED)]).await;
        let said = world.charge(0, &[(0, "key", 11)]).await;
        assert_eq!(said.decision.retry, Retry::Never);
        assert!(world.admits(0, &[(0, "key", 0)]).await);
    });
}

#[test]
fn what_another_limit_refuses_goes_back_to_the_wallet() {
    run(async {
        for other in [EXACT, NODE] {
            let world = World::new(1, &[(fixed(1_000, 60), LEASED), (fixed(1, 60), other)]).await;
            borrows(&world, 0, "key").await;
            assert!(world.admits(0, &[(0, "key", 1), (1, "key", 1)]).await);
            let held = in_hand(&world, 0);
            for _ in 0..3 {
                let said = world.charge(0, &[(0, "key", 1), (1, "key", 1)]).await;
                assert!(!said.decision.admitted && !said.limits[0].outcome.refused);
                assert!(said.receipt.taken.is_empty());
                assert_eq!(said.limits[0].outcome.units, 0);
            }
            assert_eq!(in_hand(&world, 0), held);
        }
    });
}

#[test]
fn the_store_is_not_asked_for_units_where_the_node_refuses() {
    run(async {
        let world = World::new(1, &[(fixed(1_000, 60), LEASED), (fixed(1, 60), NODE)]).await;
        assert!(world.admits(0, &[(0, "key", 1), (1, "key", 1)]).await);
        let before = world.central.calls();
        for _ in 0..3 {
            let said = world.charge(0, &[(0, "key", 1), (1, "key", 1)]).await;
            assert!(!said.decision.admitted);
            assert_eq!(said.limits[0].source, Source::Unasked);
        }
        assert_eq!(world.central.calls(), before);
    });
}

#[test]
fn a_refusing_lease_charges_what_counts_refusals_and_nothing_else() {
    run(async {
        let limits = [
            (fixed(1, 60), Rules::default(), LEASED),
            (fixed(10, 60), count_refused(), EXACT),
            (fixed(10, 60), Rules::default(), EXACT),
        ];
        let world = World::with_rules(1, &limits).await;
        for _ in 0..3 {
            world.charge(0, &[(0, "key", 1), (1, "key", 1), (2, "key", 1)]).await;
        }
        assert_eq!(world.central.standing(1, "key").remaining, 7);
        assert_eq!(world.central.standing(2, "key").remaining, 9);
    });
}

#[test]
fn a_shadow_lease_never_decides() {
    run(async {
        let shadow = Rules { shadow: true, ..Rules::default() };
        let limits = [(fixed(5, 60), shadow, LEASED), (fixed(20, 60), Rules::default(), EXACT)];
        let world = World::with_rules(1, &limits).await;
        let mut would = 0;
        for _ in 0..20 {
            let said = world.charge(0, &[(0, "key", 1), (1, "key", 1)]).await;
            assert!(said.decision.admitted);
            would += usize::from(said.limits[0].outcome.refused);
        }
        assert_eq!(would, 15);
    });
}

#[test]
fn many_at_once_take_few_requests() {
    run(async {
        let world = Arc::new(World::new(1, &[(fixed(30, 60), LEASED)]).await);
        let before = world.central.calls();
        let ask = |_| {
            let world = world.clone();
            tokio::spawn(async move { world.admits(0, &[(0, "key", 1)]).await })
        };
        let mut admitted = 0;
        for task in (0..50).map(ask).collect::<Vec<_>>() {
            admitted += usize::from(task.await.expect("no panic"));
        }
        assert_eq!(admitted, 30);
        let calls = world.central.calls() - before;
        assert!(calls <= 10, "50 requests took {calls} calls");
    });
}

#[test]
fn a_caller_that_goes_leaves_the_units_to_others() {
    run(async {
        let world = Arc::new(World::new(1, &[(fixed(100, 60), LEASED)]).await);
        borrows(&world, 0, "key").await;
        while in_hand(&world, 0) > 0 {
            world.charge(0, &[(0, "key", 1)]).await;
        }
        world.central.becomes(Health::Slow);
        let gone = {
            let world = world.clone();
            tokio::spawn(async move { world.admits(0, &[(0, "key", 1)]).await })
        };
        tokio::task::yield_now().await;
        gone.abort();
        assert!(gone.await.is_err(), "it was on its way");
        let admitted = world.admitted(200, "key").await as u64;
        // At most what was taken for the one who has gone is lost.
        let spent = charged(&world, 100, "key");
        assert_eq!(spent, 100);
        assert!(admitted > 0);
    });
}

#[test]
fn leases_go_on_while_the_store_is_away_and_then_the_limit_says_what_holds() {
    run(async {
        for (sharing, passes) in [(ALLOW, true), (REFUSE, false)] {
            let sharing = Sharing { sync: SyncMode::Leased, ..sharing };
            let world = World::new(1, &[(fixed(1_000, 60), sharing)]).await;
            borrows(&world, 0, "key").await;
            let held = in_hand(&world, 0);
            world.breaks(Trouble::Disconnected).await;
            for _ in 0..held {
                let said = world.charge(0, &[(0, "key", 1)]).await;
                assert_eq!((said.decision.admitted, said.limits[0].source), (true, Source::Lease));
            }
            let said = world.charge(0, &[(0, "key", 1)]).await;
            assert_eq!((said.decision.admitted, said.limits[0].source), (passes, Source::Failure));
        }
    });
}

#[test]
fn nobody_waits_longer_than_the_budget() {
    run(async {
        let world = World::new(1, &[(fixed(1_000, 60), LEASED), (fixed(9, 60), EXACT)]).await;
        world.central.becomes(Health::Hangs);
        let begun = tokio::time::Instant::now();
        let said = world.charge(0, &[(0, "key", 1), (1, "key", 1)]).await;
        assert!(begun.elapsed() <= BUDGET * 5 / 4);
        assert!(said.limits.iter().all(|one| one.source == Source::Failure));
    });
}

#[test]
fn a_node_that_leaves_returns_what_it_holds_and_counts_exactly_from_then_on() {
    run(async {
        let world = World::new(2, &[(fixed(1_000, 60), LEASED)]).await;
        let admitted = borrows(&world, 0, "key").await as u64;
        assert!(charged(&world, 1_000, "key") > admitted);
        world.nodes[0].leave().await;
        assert_eq!(charged(&world, 1_000, "key"), admitted);
        assert_eq!(in_hand(&world, 0), 0);
        let said = world.charge(0, &[(0, "key", 1)]).await;
        assert_eq!(said.limits[0].source, Source::Store);
    });
}

#[test]
fn a_reload_that_changes_a_limit_returns_its_leases() {
    run(async {
        let mut world = World::new(1, &[(fixed(1_000, 60), LEASED)]).await;
        borrows(&world, 0, "key").await;
        let held = in_hand(&world, 0);
        world.reload(&[(fixed(1_000, 60), LEASED)]);
        assert_eq!(in_hand(&world, 0), held, "nothing has changed");
        world.reload(&[(fixed(500, 60), LEASED)]);
        assert_eq!(in_hand(&world, 0), 0);
        let returned = world.nodes[0].observed().leases.returned;
        tokio::task::yield_now().await;
        assert!(world.nodes[0].observed().leases.returned >= returned);
    });
}

#[test]
fn wallets_are_bounded_and_others_are_counted_exactly() {
    run(async {
        let mut world = World::new(1, &[(bucket(1, 50), LEASED)]).await;
        world.limit_keys(3);
        for key in 0..10 {
            let said = world.charge(0, &[(0, &format!("key {key}"), 1)]).await;
            let source = if key < 3 { Source::Lease } else { Source::Store };
            assert_eq!((said.decision.admitted, said.limits[0].source), (true, source), "{key}");
        }
    });
}

#[test]
fn a_lost_answer_is_nobodys() {
    run(async {
        let world = World::new(1, &[(fixed(100, 60), LEASED)]).await;
        borrows(&world, 0, "key").await;
        world.central.becomes(Health::LosesReplies);
        for _ in 0..20 {
            world.charge(0, &[(0, "key", 1)]).await;
        }
        tokio::time::sleep(BUDGET).await;
        let leases = world.nodes[0].observed().leases;
        assert!(leases.unanswered > 0, "{leases:?}");
        assert!(charged(&world, 100, "key") <= 100);
        assert!(!world.nodes[0].left.load(Ordering::Relaxed));
    });
}
