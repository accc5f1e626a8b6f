//! Fixed and sliding windows, and the log.

use super::{SECOND, at, limit, passes, passing, remaining, replay, retry, span, token_bucket};
use crate::model::policy::Algorithm;

fn sliding(limit: u64, seconds: i64) -> Algorithm {
    Algorithm::SlidingWindow { limit, window: span(seconds * SECOND), cells: 1 }
}

#[test]
fn win_01_what_each_algorithm_admits_around_a_boundary() {
    let window = span(60 * SECOND);
    let algorithms = [
        (Algorithm::FixedWindow { limit: 60, window: window.clone() }, 120),
        (Algorithm::SlidingLog { limit: 60, window }, 60),
        (token_bucket(1, SECOND, 60), 61),
    ];
    for (algorithm, admitted) in algorithms {
        let mut replay = replay(vec![limit("l", algorithm)]);
        let passed = passing(&mut replay, 60, 59 * SECOND) + passing(&mut replay, 60, 60 * SECOND);
        assert_eq!(passed, admitted);
    }
}

#[test]
fn win_03_the_weighted_counter_reports_what_it_decides_by() {
    let mut replay = replay(vec![limit("l", sliding(100, 60))]);
    assert!(passes(&replay.next(&at(0, 50))));
    assert_eq!(remaining(&replay.next(&at(66 * SECOND, 10))), [45]);
    assert_eq!(passing(&mut replay, 46, 66 * SECOND), 45);
}

#[test]
fn win_04_the_counter_lets_19_of_10_through_and_the_log_none() {
    let late = |algorithm| {
        let mut replay = replay(vec![limit("l", algorithm)]);
        passing(&mut replay, 10, 9_950_000);
        passing(&mut replay, 10, 19_900_000)
    };
    assert_eq!(late(sliding(10, 10)), 9);
    assert_eq!(late(Algorithm::SlidingLog { limit: 10, window: span(10 * SECOND) }), 0);
}

#[test]
fn win_10_the_estimate_decays_to_the_end_of_the_second_window() {
    let mut replay = replay(vec![limit("l", sliding(10, 60))]);
    passing(&mut replay, 10, 59 * SECOND);
    let decision = replay.next(&at(59 * SECOND, 1));
    assert_eq!((retry(&decision), decision.limits[0].reset), (Some(7 * SECOND), 61 * SECOND));
    let left = [60, 90, 119, 120].map(|second| remaining(&replay.next(&at(second * SECOND, 0)))[0]);
    assert_eq!(left, [0, 5, 9, 10]);
}

#[test]
fn more_cells_forget_in_smaller_steps() {
    let ten = Algorithm::SlidingWindow { limit: 10, window: span(10 * SECOND), cells: 10 };
    let mut replay = replay(vec![limit("l", ten)]);
    passing(&mut replay, 10, 500_000);
    let left = [9_999_999, 10_000_000, 10_500_000, 11_000_000]
        .map(|time| remaining(&replay.next(&at(time, 0)))[0]);
    assert_eq!(left, [0, 0, 5, 10]);
}

#[test]
fn sim_04_a_log_entry_expires_when_its_age_is_the_window() {
    let mut replay =
        replay(vec![limit("l", Algorithm::SlidingLog { limit: 2, window: span(3 * SECOND) })]);
    let passed: Vec<bool> =
        (0..6).map(|second| passes(&replay.next(&at(second * SECOND, 1)))).collect();
    assert_eq!(passed, [true, true, false, true, true, false]);
}
