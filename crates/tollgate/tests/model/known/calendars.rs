//! Quotas around changes of the clock.

use super::{SECOND, at, limit, passes, passing, replay, retry};
use crate::model::policy::{Algorithm, Every};

fn quota(limit: u64, every: Every, zone: &'static str, starts: i8) -> Algorithm {
    Algorithm::Quota { limit, every, zone: Some(zone), starts: Some(starts) }
}

fn time(text: &str) -> i64 {
    text.parse::<jiff::Timestamp>().expect("RFC 3339").as_microsecond()
}

#[test]
fn cal_02_a_day_in_new_york_has_23_or_25_hours() {
    for (spent, seconds) in [("2026-03-08T05:30:00Z", 81_000), ("2026-11-01T04:00:00Z", 90_000)] {
        let mut replay = replay(vec![limit("l", quota(1, Every::Day, "America/New_York", 1))]);
        assert!(passes(&replay.next(&at(time(spent), 1))));
        assert_eq!(retry(&replay.next(&at(time(spent), 1))), Some(seconds * SECOND));
    }
}

#[test]
fn cal_04_a_day_in_santiago_may_begin_at_one() {
    let mut replay = replay(vec![limit("l", quota(1, Every::Day, "America/Santiago", 1))]);
    assert!(passes(&replay.next(&at(time("2026-09-06T03:59:58Z"), 1))));
    assert_eq!(retry(&replay.next(&at(time("2026-09-06T03:59:59Z"), 1))), Some(SECOND));
    assert!(passes(&replay.next(&at(time("2026-09-06T04:00:00Z"), 1))));
    assert_eq!(retry(&replay.next(&at(time("2026-09-06T04:00:00Z"), 1))), Some(82_800 * SECOND));
}

#[test]
fn cal_06_a_day_is_used_once() {
    let mut replay = replay(vec![limit("l", quota(10, Every::Day, "UTC", 1))]);
    assert_eq!(passing(&mut replay, 10, time("2026-09-08T18:00:00Z")), 10);
    assert_eq!(passing(&mut replay, 15, time("2026-09-09T00:05:00Z")), 10);
}

#[test]
fn a_day_that_began_never_reopens_the_one_before() {
    // In St John's of 2010 it was 00:01 of the 7th, and then 23:01 of the 6th again.
    let mut replay = replay(vec![limit("l", quota(1, Every::Day, "America/St_Johns", 1))]);
    assert!(passes(&replay.next(&at(time("2010-11-07T02:29:59Z"), 1))));
    assert!(passes(&replay.next(&at(time("2010-11-07T02:30:30Z"), 1))));
    let again = replay.next(&at(time("2010-11-07T02:31:00Z"), 1));
    assert_eq!(retry(&again), Some((24 * 60 + 59) * 60 * SECOND));
}

#[test]
fn a_month_without_the_day_begins_on_its_last() {
    let mut replay = replay(vec![limit("l", quota(1, Every::Month, "UTC", 31))]);
    assert!(passes(&replay.next(&at(time("2026-02-10T00:00:00Z"), 1))));
    let rest = time("2026-02-28T00:00:00Z") - time("2026-02-10T00:00:00Z");
    assert_eq!(retry(&replay.next(&at(time("2026-02-10T00:00:00Z"), 1))), Some(rest));
    let next = time("2026-03-31T00:00:00Z") - time("2026-02-28T00:00:00Z");
    assert!(passes(&replay.next(&at(time("2026-02-28T00:00:00Z"), 1))));
    assert_eq!(retry(&replay.next(&at(time("2026-02-28T00:00:00Z"), 1))), Some(next));
}

#[test]
fn weeks_start_on_monday() {
    let mut replay = replay(vec![limit("l", quota(1, Every::Week, "UTC", 1))]);
    let sunday = time("2026-11-29T23:59:59Z");
    assert!(passes(&replay.next(&at(sunday, 1))));
    assert_eq!(retry(&replay.next(&at(sunday, 1))), Some(SECOND));
}
