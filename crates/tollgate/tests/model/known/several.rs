//! Several limits at once, and the rules that stand around one.

use super::{SECOND, at, limit, passes, passing, remaining, replay, retry, span, token_bucket};
use crate::model::policy::{Algorithm, Limit};
use crate::model::trace::Verdict;

fn fixed(units: u64) -> Limit {
    limit("fixed", Algorithm::FixedWindow { limit: units, window: span(60 * SECOND) })
}

#[test]
fn mul_01_either_all_are_charged_or_none() {
    let minute = limit("minute", token_bucket(10, 60 * SECOND, 10));
    let half_hour = limit("half-hour", token_bucket(30, 1800 * SECOND, 30));
    let mut replay = replay(vec![minute, half_hour]);
    assert_eq!(passing(&mut replay, 31, 0), 10);
    assert_eq!(remaining(&replay.next(&at(0, 1))), [0, 20]);
}

#[test]
fn mul_03_a_refusal_takes_nothing() {
    let mut replay = replay(vec![fixed(10)]);
    let left: Vec<_> = [8, 5, 1].map(|cost| remaining(&replay.next(&at(0, cost)))[0]).into();
    assert_eq!(left, [2, 2, 1]);
}

#[test]
fn a_counted_refusal_goes_one_capacity_into_debt() {
    let mut counted = fixed(3);
    counted.count_refused = true;
    let mut replay = replay(vec![
        counted,
        limit("never", Algorithm::FixedWindow { limit: 0, window: span(SECOND) }),
    ]);
    for _ in 0..10 {
        let decision = replay.next(&at(0, 1));
        assert_eq!(retry(&decision), None);
    }
    assert_eq!(replay.next(&at(0, 0)).limits[0].remaining, 0);
    let Verdict::Refuse { by, .. } = replay.next(&at(0, 0)).verdict else { panic!("in debt") };
    assert_eq!(by, ["fixed", "never"]);
}

#[test]
fn an_overdrawn_window_admits_while_anything_is_left() {
    let mut overdrawn = fixed(3);
    overdrawn.overdraw = true;
    let mut replay = replay(vec![overdrawn]);
    assert!(passes(&replay.next(&at(0, 5))));
    assert_eq!(retry(&replay.next(&at(0, 1))), Some(60 * SECOND));
}

#[test]
fn a_shadow_limit_never_decides() {
    let mut shadow = fixed(1);
    shadow.shadow = true;
    let mut replay = replay(vec![shadow]);
    assert_eq!(passing(&mut replay, 3, 0), 3);
    assert_eq!(replay.next(&at(0, 1)).limits[0].would_refuse, Some(true));
}

#[test]
fn a_slot_is_free_at_its_end() {
    let mut replay =
        replay(vec![limit("l", Algorithm::Concurrency { limit: 1, ttl: span(5 * SECOND) })]);
    let mut long = at(0, 1);
    long.duration = Some(2 * SECOND);
    let decision = replay.next(&long);
    assert_eq!((remaining(&decision), decision.limits[0].reset), (vec![0], 2 * SECOND));
    assert_eq!(retry(&replay.next(&at(2 * SECOND - 1, 1))), Some(0));
    assert!(passes(&replay.next(&at(2 * SECOND, 1))));
}
