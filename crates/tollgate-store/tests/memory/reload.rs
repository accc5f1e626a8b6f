//! Reloads while decisions are made.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use super::world::{admits, definition, fixed, keys, log, remaining, seconds};
use tollgate_core::Limit;
use tollgate_store::{MemoryOptions, MemoryStore, Store};

/// Threads charge while the limit is reloaded with ever other parameters: nothing is lost, nothing counted twice.
fn under_load(limit: impl Fn(u64) -> Limit + Sync) {
    const MOST: u64 = 1_000_000;
    let store = MemoryStore::new(MemoryOptions::default());
    let define =
        |extra: u64| store.define(&[definition("l", &limit(MOST + extra), 100_000)], seconds(0));
    let ids = define(0);
    for key in 0..20_000 {
        assert!(admits(&store, &[(ids[0], &format!("k{key}"), 1)], seconds(1)));
    }
    let (done, taken) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let workers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    for round in 0..10_000 {
                        let key = format!("k{}", round % 50);
                        if admits(&store, &[(ids[0], &key, 1)], seconds(1)) {
                            taken.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            let mut extra = 0;
            while !done.load(Ordering::Relaxed) {
                extra += 1;
                assert_eq!(define(extra), ids);
            }
        });
        workers.into_iter().for_each(|worker| worker.join().expect("a worker"));
        done.store(true, Ordering::Relaxed);
    });
    let ids = define(0);
    let left = |key: u64| MOST - remaining(&store, ids[0], &format!("k{key}"), seconds(1));
    assert_eq!((0..20_000).map(left).sum::<u64>(), taken.load(Ordering::Relaxed) + 20_000);
    assert_eq!(taken.load(Ordering::Relaxed), 30_000);
    assert_eq!(keys(&store), 20_000);
}

#[test]
fn tables_move_under_load() {
    under_load(|most| fixed(most, 3600));
}

#[test]
fn locked_maps_move_under_load() {
    // A log of so many units is refused, so its own limit stays and the window's changes.
    under_load(|most| {
        super::world::limit(tollgate_core::Algorithm::SlidingWindow(tollgate_core::SlidingWindow {
            limit: most,
            window: tollgate_core::Micros::from_secs(3600),
            cells: 4,
        }))
    });
}

#[test]
fn a_retired_class_does_not_fill_the_room_of_the_others() {
    let store = MemoryStore::new(MemoryOptions::default());
    let class = |name: &str, limit: &Limit| {
        let mut definition = definition("l", limit, 10);
        definition.class = Some(name.into());
        definition
    };
    let ids = store.define(&[class("a", &fixed(5, 60)), class("b", &log(5, 60))], seconds(0));
    for key in 0..5 {
        let key = format!("k{key}");
        assert!(admits(&store, &[(ids[0], &key, 5), (ids[1], &key, 5)], seconds(1)));
    }
    assert_eq!(keys(&store), 10);
    let ids = store.define(&[class("b", &log(5, 60))], seconds(1));
    assert_eq!(keys(&store), 5);
    for key in 0..5 {
        assert!(admits(&store, &[(ids[0], &format!("new {key}"), 5)], seconds(1)));
        assert!(!admits(&store, &[(ids[0], &format!("k{key}"), 1)], seconds(1)));
    }
    assert_eq!(keys(&store), 10);
    assert_eq!(store.usage()[0].overflowed, 0);
}

#[test]
fn a_smaller_room_waits_for_its_keys_to_go() {
    let store = MemoryStore::new(MemoryOptions::default());
    let ids = store.define(&[definition("l", &fixed(5, 60), 100)], seconds(0));
    for key in 0..100 {
        assert!(admits(&store, &[(ids[0], &format!("k{key}"), 5)], seconds(1)));
    }
    store.define(&[definition("l", &fixed(5, 60), 10)], seconds(1));
    assert!(!admits(&store, &[(ids[0], "k7", 1)], seconds(1)));
    assert!(admits(&store, &[(ids[0], "new", 5)], seconds(1)), "into the overflow bucket");
    assert!(!admits(&store, &[(ids[0], "newer", 1)], seconds(1)));
    for key in 0..100 {
        admits(&store, &[(ids[0], &format!("late {key}"), 1)], seconds(61));
    }
    assert_eq!(keys(&store), 10);
}

#[test]
fn a_limit_that_was_gone_for_two_sets_begins_fresh() {
    let store = MemoryStore::new(MemoryOptions::default());
    let (gone, other) =
        (definition("gone", &fixed(3, 60), 100), definition("other", &fixed(3, 60), 100));
    let ids = store.define(&[gone.clone(), other.clone()], seconds(0));
    assert!(admits(&store, &[(ids[0], "k", 1)], seconds(1)));
    store.define(std::slice::from_ref(&other), seconds(1));
    store.define(std::slice::from_ref(&other), seconds(1));
    let ids = store.define(&[gone, other], seconds(1));
    assert_eq!(remaining(&store, ids[0], "k", seconds(1)), 3);
}
