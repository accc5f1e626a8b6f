//! Many threads, one unit.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use super::world::{admits, bucket, charge, fixed, keys, log, remaining, seconds, slots, store};
use tollgate_core::Limit;

/// `threads` threads ask for the same keys at once, thousands of times; each round admits exactly one.
fn one_of(threads: usize, rounds: u64, limits: &[Limit], max_keys: usize) {
    let (store, ids) = store(limits, max_keys);
    let barrier = Barrier::new(threads);
    let admitted: Vec<AtomicU64> = (0..rounds).map(|_| AtomicU64::new(0)).collect();
    thread::scope(|scope| {
        for thread in 0..threads {
            let (store, ids, barrier, admitted) = (&store, &ids, &barrier, &admitted);
            scope.spawn(move || {
                for (round, admitted) in admitted.iter().enumerate() {
                    let key = format!("round {round}");
                    let mut charges: Vec<_> = ids.iter().map(|id| (*id, key.as_str(), 1)).collect();
                    // Every other thread asks the other way round.
                    if thread % 2 == 1 {
                        charges.reverse();
                    }
                    barrier.wait();
                    if admits(store, &charges, seconds(1)) {
                        admitted.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    for (round, admitted) in admitted.iter().enumerate() {
        assert_eq!(admitted.load(Ordering::Relaxed), 1, "round {round}");
    }
    assert_eq!(keys(&store), limits.len() * rounds as usize);
}

/// Two threads meet in a barrier quickly; sixteen on two cores do not.
const ROUNDS: [(usize, u64); 3] = [(2, 10_000), (4, 4_000), (16, 1_500)];

#[test]
fn one_key_admits_one() {
    // The table begins empty and grows all the while.
    for (threads, rounds) in ROUNDS {
        one_of(threads, rounds, &[bucket(1, 3600, 1)], 1_000_000);
    }
}

#[test]
fn one_key_of_two_words_admits_one() {
    for (threads, rounds) in ROUNDS {
        one_of(threads, rounds / 2, &[fixed(1, 3600)], 1_000_000);
    }
}

#[test]
fn one_key_in_a_locked_map_admits_one() {
    for (threads, rounds) in ROUNDS {
        one_of(threads, rounds / 2, &[log(1, 3600)], 1_000_000);
    }
}

#[test]
fn several_keys_in_tables_admit_one() {
    for (threads, rounds) in ROUNDS {
        let limits = [bucket(1, 3600, 1), fixed(1, 3600), bucket(5, 3600, 5)];
        one_of(threads, rounds / 2, &limits, 1_000_000);
    }
}

#[test]
fn several_keys_in_tables_and_maps_admit_one() {
    for (threads, rounds) in ROUNDS {
        let limits = [bucket(1, 3600, 1), log(1, 3600), slots(1, 3600), fixed(1, 3600)];
        one_of(threads, rounds / 4, &limits, 1_000_000);
    }
}

/// Threads charge the keys of two limits crosswise while others fill the table; units are neither lost nor doubled.
#[test]
fn crosswise_charges_add_up_while_the_table_grows() {
    const THREADS: usize = 4;
    const ROUNDS: u64 = 20_000;
    let limits = [bucket(1, 1_000_000, 1_000_000), fixed(1_000_000, 1_000_000)];
    let (store, ids) = store(&limits, 1_000_000);
    let done = AtomicBool::new(false);
    let taken = AtomicU64::new(0);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (store, ids, taken) = (&store, &ids, &taken);
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let (a, b) =
                            if (round + thread as u64).is_multiple_of(2) { (0, 1) } else { (1, 0) };
                        let charges = [(ids[a], "x", 1), (ids[b], "y", 1)];
                        let admitted = admits(store, &charges, seconds(1));
                        taken.fetch_add(u64::from(admitted), Ordering::Relaxed);
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            for key in 0..200_000 {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                let key = format!("filler {key}");
                admits(&store, &[(ids[0], &key, 1), (ids[1], &key, 1)], seconds(1));
            }
        });
        workers.into_iter().for_each(|worker| worker.join().expect("a worker"));
        done.store(true, Ordering::Relaxed);
    });
    let taken = taken.load(Ordering::Relaxed);
    assert_eq!(taken, THREADS as u64 * ROUNDS);
    let left = |limit: usize, key| 1_000_000 - remaining(&store, ids[limit], key, seconds(1));
    assert_eq!(left(0, "x") + left(0, "y"), taken);
    assert_eq!(left(1, "x") + left(1, "y"), taken);
    assert_eq!(left(0, "x"), left(1, "y"), "each charge took both");
}

/// Refused requests of many threads leave no trace, and admitted ones that are given back neither.
#[test]
fn refusals_and_refunds_leave_nothing() {
    let limits = [fixed(10, 3600), log(10, 3600), fixed(1, 3600)];
    let (store, ids) = store(&limits, 1_000_000);
    assert!(admits(&store, &[(ids[2], "k", 1)], seconds(1)));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..3_000 {
                    let all = [(ids[0], "k", 1), (ids[1], "k", 1), (ids[2], "k", 1)];
                    assert!(!admits(&store, &all, seconds(1)));
                    let outcome = charge(&store, &all[..2], seconds(1));
                    for taken in outcome.receipt.taken {
                        store.settle_now(taken, 0, seconds(1)).expect("an answer");
                    }
                }
            });
        }
    });
    for id in &ids[..2] {
        assert_eq!(remaining(&store, *id, "k", seconds(1)), 10);
    }
}

/// Slots taken and given back by many threads: never more than there are, and all there at the end.
#[test]
fn slots_are_never_more_than_there_are() {
    let (store, ids) = store(&[slots(3, 3600)], 1_000_000);
    let held = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..2_000 {
                    let outcome = charge(&store, &[(ids[0], "k", 1)], seconds(1));
                    for taken in outcome.receipt.taken {
                        assert!(held.fetch_add(1, Ordering::SeqCst) < 3);
                        held.fetch_sub(1, Ordering::SeqCst);
                        store.release_now(taken, seconds(1)).expect("an answer");
                    }
                }
            });
        }
    });
    assert_eq!(remaining(&store, ids[0], "k", seconds(1)), 3);
}
