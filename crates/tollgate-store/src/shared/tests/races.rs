//! Threads on several nodes, all after the same last unit.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::world::{EXACT, NODE, World, fixed, run, slots};

/// Blocks on a decision, as a thread with a runtime of its own does.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime").block_on(future)
}

#[test]
fn of_many_at_once_exactly_one_is_admitted() {
    run(async {
        let limits = [(fixed(1, 86_400), EXACT), (fixed(1, 86_400), NODE), (slots(1), EXACT)];
        let world = Arc::new(World::new(3, &limits).await);
        let admitted = Arc::new(AtomicUsize::new(0));
        const ROUNDS: usize = 3_000;
        let threads: Vec<_> = (0..6)
            .map(|thread| {
                let (world, admitted) = (world.clone(), admitted.clone());
                std::thread::spawn(move || {
                    block_on(async {
                        for round in 0..ROUNDS {
                            let key = format!("{round}");
                            let all = [(0, &*key, 1), (1, &*key, 1), (2, &*key, 1)];
                            if world.admits(thread % 3, &all).await {
                                admitted.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                    });
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("a thread"));
        assert!(admitted.load(Ordering::Relaxed) <= ROUNDS);
        // One that was refused by the node may have been refused for a charge that was then given back.
        for round in 0..ROUNDS {
            let key = format!("{round}");
            let taken = 1 - world.central.standing(0, &key).remaining;
            assert_eq!(taken, 1 - world.central.standing(1, &key).remaining);
        }
    });
}

#[test]
fn what_the_nodes_took_is_what_was_admitted() {
    run(async {
        let world =
            Arc::new(World::new(2, &[(fixed(50, 86_400), EXACT), (fixed(40, 86_400), NODE)]).await);
        const ROUNDS: usize = 200;
        for round in 0..ROUNDS {
            let key = format!("{round}");
            let threads: Vec<_> = (0..4)
                .map(|thread| {
                    let (world, key) = (world.clone(), key.clone());
                    std::thread::spawn(move || {
                        let all = [(0, &*key, 1), (1, &*key, 1)];
                        block_on(async {
                            let mut admitted = 0;
                            for _ in 0..30 {
                                admitted += u64::from(world.admits(thread % 2, &all).await);
                            }
                            (thread % 2, admitted)
                        })
                    })
                })
                .collect();
            let mut by_node = [0, 0];
            for thread in threads {
                let (node, admitted) = thread.join().expect("a thread");
                by_node[node] += admitted;
            }
            assert_eq!(by_node[0] + by_node[1], 50, "all of it was wanted");
            assert_eq!(world.central.standing(0, &key).remaining, 0);
            for (node, admitted) in by_node.into_iter().enumerate() {
                assert_eq!(world.left(node, 1, &key).await, 40 - admitted);
            }
        }
    });
}
