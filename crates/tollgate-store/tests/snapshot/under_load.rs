//! Snapshots while others decide and reload: what was there before is in it, and nothing that was not taken.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use tollgate_core::Algorithm;
use tollgate_store::{Definition, Store};

use super::world::{DAY, World, definition, fixed, log, read, seconds, sliding};

const MOST: u64 = 9_000;

fn limits(extra: u64) -> Vec<Definition> {
    let named = |name, algorithm: Algorithm| Definition {
        max_keys: 1_000_000,
        ..definition(name, algorithm)
    };
    vec![
        named("table", fixed(MOST + extra, DAY)),
        named("cells", sliding(MOST + extra, DAY, 24)),
        named("log", log(MOST + extra, DAY)),
    ]
}

/// Each key is charged once a round; snapshots are taken meanwhile, and read.
#[test]
fn every_snapshot_has_what_was_counted_before_it_and_nothing_more() {
    const KEYS: u64 = 300;
    let world = World::new(limits(0));
    let round = |number: u64| {
        for limit in 0..3 {
            for key in 0..KEYS {
                assert!(world.admits(limit, &format!("k{key}"), 1, seconds(number)));
            }
        }
    };
    round(1);
    let (done, begun, ended) = (AtomicBool::new(false), AtomicU64::new(1), AtomicU64::new(1));
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 2..60 {
                begun.store(number, Ordering::SeqCst);
                round(number);
                ended.store(number, Ordering::SeqCst);
                // Newcomers have the shards rebuilt meanwhile.
                for key in 0..KEYS {
                    world.charge(0, &format!("new {number} {key}"), 1, seconds(number));
                }
            }
            done.store(true, Ordering::SeqCst);
        });
        loop {
            let last = done.load(Ordering::SeqCst);
            let least = ended.load(Ordering::SeqCst);
            let bytes = world.written(seconds(100));
            let most = begun.load(Ordering::SeqCst);
            let (next, _) = read(&bytes, limits(0), seconds(100)).expect("it is whole");
            for limit in 0..3 {
                for key in 0..KEYS {
                    let used = MOST - next.remaining(limit, &format!("k{key}"), seconds(100));
                    assert!((least..=most).contains(&used), "{used} of {limit}, {least} to {most}");
                }
            }
            if last {
                break;
            }
        }
    });
}

#[test]
fn a_reload_in_between_is_an_error_and_never_half_a_snapshot() {
    let world = World::new(limits(0));
    for key in 0..300 {
        for limit in 0..3 {
            assert!(world.admits(limit, &format!("k{key}"), 1, seconds(1)));
        }
    }
    let mut spoilt = 0;
    // A reload after each piece in turn, until there is no such piece.
    loop {
        let (mut bytes, mut pieces, mut reloaded) = (Vec::new(), 0, false);
        let written = world.store.snapshot(&mut bytes, seconds(3), || {
            pieces += 1;
            if pieces == spoilt + 1 {
                reloaded = true;
                world.store.define(&limits(1 + spoilt % 2), seconds(2));
            }
        });
        let Ok(written) = written else {
            assert!(reloaded);
            spoilt += 1;
            continue;
        };
        assert_eq!(written.keys, 900);
        let (next, restored) = read(&bytes, limits(0), seconds(3)).expect("it is whole");
        assert_eq!(restored.keys, 900);
        assert_eq!(next.remaining(2, "k7", seconds(3)), MOST - 1);
        if !reloaded || spoilt > 0 {
            break;
        }
        panic!("a reload spoils what is left to write");
    }
    assert!(spoilt >= 3, "{spoilt}");
}
