//! Keys that count nothing any more go by themselves.

use super::world::{admits, bucket, fixed, keys, log, remaining, seconds, slots, store, sweep};

#[test]
fn mem_02_entries_do_not_outlive_their_meaning() {
    for limit in [bucket(1, 1, 5), fixed(5, 1), log(5, 1), slots(5, 1)] {
        let (store, ids) = store(&[limit], 1_000_000);
        for key in 0..10_000 {
            assert!(admits(&store, &[(ids[0], &format!("k{key}"), 1)], seconds(0)));
        }
        sweep(&store, seconds(0));
        assert_eq!(keys(&store), 10_000);
        for second in [2, 4] {
            sweep(&store, seconds(second));
        }
        assert_eq!(keys(&store), 0);
        assert!(admits(&store, &[(ids[0], "k1", 5)], seconds(4)));
        assert!(!admits(&store, &[(ids[0], "k1", 1)], seconds(4)));
    }
}

#[test]
fn a_sweep_keeps_what_still_counts() {
    let (store, ids) = store(&[fixed(5, 60), log(5, 60)], 1_000_000);
    for key in 0..2_000 {
        let second = if key % 2 == 0 { 1 } else { 61 };
        let key = format!("k{key}");
        assert!(admits(&store, &[(ids[0], &key, 5), (ids[1], &key, 5)], seconds(second)));
    }
    sweep(&store, seconds(70));
    assert_eq!(keys(&store), 2_000);
    for key in 0..2_000 {
        let expected = if key % 2 == 0 { 5 } else { 0 };
        for id in &ids {
            assert_eq!(remaining(&store, *id, &format!("k{key}"), seconds(70)), expected);
        }
    }
}

/// Newcomers drop what they meet: a table whose keys keep changing does not grow for ever, without any sweep.
#[test]
fn a_changing_crowd_needs_no_sweep() {
    for limit in [fixed(5, 1), log(5, 1)] {
        let (store, ids) = store(&[limit], 1_000_000);
        for second in 0..25 {
            for key in 0..10_000 {
                let key = format!("k{second} {key}");
                assert!(admits(&store, &[(ids[0], &key, 1)], seconds(second)));
            }
        }
        assert!(keys(&store) < 100_000, "{} of 250,000 keys are remembered", keys(&store));
    }
}

#[test]
fn a_table_shrinks_and_grows_again() {
    let (store, ids) = store(&[bucket(5, 1, 5)], 1_000_000);
    for round in 0..3 {
        let now = seconds(10 * round);
        for key in 0..50_000 {
            assert!(admits(&store, &[(ids[0], &format!("k{key}"), 5)], now));
        }
        for key in 0..50_000 {
            assert!(!admits(&store, &[(ids[0], &format!("k{key}"), 1)], now));
        }
        sweep(&store, seconds(10 * round + 5));
        assert_eq!(keys(&store), 0);
    }
}
