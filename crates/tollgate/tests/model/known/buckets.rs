//! Token and leaky buckets.

use super::{
    SECOND, at, limit, passes, passing, rate, remaining, replay, retry, span, token_bucket,
};
use crate::model::policy::{Algorithm, Burst, MaxWait};
use crate::model::trace::Verdict;

fn leaky(count: u64, per: i64, burst: u64, max_wait: MaxWait) -> Algorithm {
    Algorithm::LeakyBucket { rate: rate(count, per), burst, nodelay: false, max_wait }
}

#[test]
fn num_01_frequent_polling_loses_nothing() {
    let mut replay = replay(vec![limit("l", token_bucket(10, SECOND, 10))]);
    assert_eq!(passing(&mut replay, 11, 0), 10);
    let passed: Vec<i64> =
        (1..=1000).filter(|ms| passes(&replay.next(&at(ms * 1000, 1)))).collect();
    assert_eq!(passed, (1..=10).map(|tenth| tenth * 100).collect::<Vec<_>>());
}

#[test]
fn num_03_a_step_that_is_no_whole_number_gives_42000_an_hour() {
    let mut replay = replay(vec![limit("l", token_bucket(700, 60 * SECOND, 700))]);
    assert!(passes(&replay.next(&at(0, 700))));
    let mut units = 0;
    for second in 1..=3600 {
        let left = remaining(&replay.next(&at(second * SECOND, 0)))[0];
        assert!(passes(&replay.next(&at(second * SECOND, left))));
        units += left;
    }
    assert_eq!(units, 42_000);
}

#[test]
fn a_bucket_of_16_bits_of_seconds_does_not_wrap() {
    let mut replay = replay(vec![limit("l", token_bucket(5, 86_400 * SECOND, 5))]);
    assert_eq!(passing(&mut replay, 5, 0), 5);
    assert_eq!(retry(&replay.next(&at(0, 1))), Some(17_280 * SECOND));
}

#[test]
fn an_empty_start_holds_for_later_keys() {
    let algorithm = Algorithm::TokenBucket {
        rate: rate(1, SECOND),
        burst: Burst::Units(5),
        starts_empty: true,
    };
    let mut replay = replay(vec![limit("l", algorithm)]);
    assert_eq!(retry(&replay.next(&at(0, 2))), Some(2 * SECOND));
    assert_eq!(remaining(&replay.next(&at(3 * SECOND, 1))), [2]);
}

#[test]
fn que_07_a_wait_that_is_too_long_is_refused_at_once() {
    let mut replay =
        replay(vec![limit("l", leaky(1, 10 * SECOND, 1, MaxWait::At(span(5 * SECOND))))]);
    assert_eq!(replay.next(&at(0, 1)).verdict, Verdict::Admit);
    assert_eq!(retry(&replay.next(&at(SECOND, 1))), Some(4 * SECOND));
    assert_eq!(replay.next(&at(6 * SECOND, 1)).verdict, Verdict::Delay(4 * SECOND));
}

#[test]
fn que_09_waiters_leave_one_after_another() {
    let mut replay = replay(vec![limit("l", leaky(300, 60 * SECOND, 200, MaxWait::None))]);
    for place in 0..100 {
        let verdict = replay.next(&at(0, 1)).verdict;
        assert_eq!(
            verdict,
            if place == 0 { Verdict::Admit } else { Verdict::Delay(place * 200_000) }
        );
    }
}

#[test]
fn what_could_never_pass_has_no_retry_time() {
    let mut replay = replay(vec![limit("l", leaky(1, SECOND, 2, MaxWait::None))]);
    let decision = replay.next(&at(0, 4));
    assert_eq!((retry(&decision), remaining(&decision)), (None, vec![3]));
}

#[test]
fn a_give_back_is_never_more_than_was_lost() {
    let mut bounded = limit("l", token_bucket(1, SECOND, 3));
    bounded.charge_when = Some(vec![401]);
    let mut replay = replay(vec![bounded]);
    let mut request = at(0, 3);
    request.duration = Some(SECOND / 2);
    assert_eq!(remaining(&replay.next(&request)), [0]);
    // Three units were taken; half a second later the bucket is 2.5 s from full, of which half a second came by itself.
    let decision = replay.next(&at(SECOND / 2, 0));
    assert_eq!((remaining(&decision), decision.limits[0].reset), (vec![2], SECOND / 2));
}
