//! Calendar periods: field cases, and a comparison with a naive walk over the minutes of odd zones.

use super::*;

fn periods(every: Every, zone: &str, starts: u8) -> Periods {
    Periods::new(&Calendar { every, time_zone: zone.into(), starts }).expect("a calendar")
}

fn at(text: &str) -> Timestamp {
    let moment: jiff::Timestamp = text.parse().expect("an RFC 3339 moment");
    timestamp(moment.as_microsecond())
}

fn show(period: Period) -> (String, String) {
    let text = |t: Timestamp| {
        jiff::Timestamp::from_microsecond(t.as_micros() as i64).expect("in range").to_string()
    };
    (text(period.start), text(period.end))
}

fn bounds(every: Every, zone: &str, starts: u8, now: &str) -> (String, String) {
    show(periods(every, zone, starts).around(at(now)))
}

fn pair(start: &str, end: &str) -> (String, String) {
    (start.into(), end.into())
}

#[test]
fn cal_02_days_of_23_and_25_hours() {
    let short = bounds(Every::Day, "America/New_York", 1, "2026-03-08T05:30:00Z");
    assert_eq!(short, pair("2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"));
    let long = bounds(Every::Day, "America/New_York", 1, "2026-11-01T04:00:00Z");
    assert_eq!(long, pair("2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"));
}

#[test]
fn cal_04_a_midnight_that_does_not_exist() {
    let zone = "America/Santiago";
    let before = bounds(Every::Day, zone, 1, "2026-09-06T03:59:59.999999Z");
    assert_eq!(before, pair("2026-09-05T04:00:00Z", "2026-09-06T04:00:00Z"));
    let after = bounds(Every::Day, zone, 1, "2026-09-06T04:00:00Z");
    assert_eq!(after, pair("2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"));
}

#[test]
fn cal_06_one_period_all_day() {
    let periods = periods(Every::Day, "UTC", 1);
    let first = periods.around(at("2026-09-09T00:05:00Z"));
    assert_eq!(show(first), pair("2026-09-09T00:00:00Z", "2026-09-10T00:00:00Z"));
    assert_eq!(periods.around(at("2026-09-09T00:10:00Z")), first);
    assert_eq!(periods.around(at("2026-09-09T23:59:59.999999Z")), first);
}

#[test]
fn cal_08_bounds_of_one_moment_belong_together() {
    let periods = periods(Every::Month, "UTC", 1);
    let march = periods.around(at("2026-03-31T23:59:59.999Z"));
    assert_eq!(show(march), pair("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"));
    let april = periods.around(at("2026-04-01T00:00:00.001Z"));
    assert_eq!(show(april), pair("2026-04-01T00:00:00Z", "2026-05-01T00:00:00Z"));
}

#[test]
fn a_day_never_reopens_when_clocks_go_back_over_midnight() {
    // America/Sao_Paulo, 2018-02-18: at 00:00 clocks went back to 23:00, so the 18th began an hour later.
    let zone = "America/Sao_Paulo";
    let second = bounds(Every::Day, zone, 1, "2018-02-18T02:30:00Z");
    assert_eq!(second, pair("2018-02-17T02:00:00Z", "2018-02-18T03:00:00Z"));
    // Asia/Beirut goes back at 00:00 as well; America/Havana at 01:00, over no midnight. Atlantic/Azores in 1992 and
    // Canada's Newfoundland until 2011 at 00:01: the new day had begun for a minute, and stays.
    let reopened = bounds(Every::Day, "America/St_Johns", 1, "2010-11-07T02:45:00Z");
    assert_eq!(reopened, pair("2010-11-07T02:30:00Z", "2010-11-08T03:30:00Z"));
}

#[test]
fn a_skipped_date_is_no_period() {
    // Pacific/Apia had no 2011-12-30.
    let zone = "Pacific/Apia";
    let before = bounds(Every::Day, zone, 1, "2011-12-30T09:59:59Z");
    assert_eq!(before, pair("2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z"));
    let after = bounds(Every::Day, zone, 1, "2011-12-30T10:00:00Z");
    assert_eq!(after, pair("2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"));
}

#[test]
fn hours_are_aligned_to_utc_everywhere() {
    let hour = bounds(Every::Hour, "Asia/Kolkata", 1, "2026-05-05T10:45:00Z");
    assert_eq!(hour, pair("2026-05-05T10:00:00Z", "2026-05-05T11:00:00Z"));
}

#[test]
fn weeks_start_on_monday() {
    let sunday = bounds(Every::Week, "Europe/Berlin", 1, "2026-03-29T21:59:59Z");
    assert_eq!(sunday, pair("2026-03-22T23:00:00Z", "2026-03-29T22:00:00Z"));
    let monday = bounds(Every::Week, "Europe/Berlin", 1, "2026-03-29T22:00:00Z");
    assert_eq!(monday, pair("2026-03-29T22:00:00Z", "2026-04-05T22:00:00Z"));
}

#[test]
fn months_begin_on_the_day_or_the_last_one() {
    let short = bounds(Every::Month, "UTC", 31, "2026-02-28T12:00:00Z");
    assert_eq!(short, pair("2026-02-28T00:00:00Z", "2026-03-31T00:00:00Z"));
    let before = bounds(Every::Month, "UTC", 31, "2026-02-27T12:00:00Z");
    assert_eq!(before, pair("2026-01-31T00:00:00Z", "2026-02-28T00:00:00Z"));
    let leap = bounds(Every::Month, "UTC", 30, "2028-02-29T00:00:00Z");
    assert_eq!(leap, pair("2028-02-29T00:00:00Z", "2028-03-30T00:00:00Z"));
    let year = bounds(Every::Month, "UTC", 15, "2026-01-01T00:00:00Z");
    assert_eq!(year, pair("2025-12-15T00:00:00Z", "2026-01-15T00:00:00Z"));
}

#[test]
fn what_is_no_calendar() {
    let calendar =
        |zone: &str, starts| Calendar { every: Every::Month, time_zone: zone.into(), starts };
    assert!(
        Periods::new(&calendar("Europe/Atlantis", 1)).expect_err("no zone").contains("Atlantis")
    );
    assert!(Periods::new(&calendar("UTC", 0)).is_err());
    assert!(Periods::new(&calendar("UTC", 32)).is_err());
}

#[test]
fn the_ends_of_time_end() {
    for every in [Every::Hour, Every::Day, Every::Week, Every::Month] {
        let periods = periods(every, "Pacific/Kiritimati", 1);
        assert_eq!(periods.around(Timestamp::EPOCH).start, Timestamp::EPOCH);
        let last = periods.around(Timestamp::MAX);
        assert!(last.start < last.end);
    }
}

/// The period by walking: every minute's local date, remembering the latest that was seen.
fn walk(zone: &str, from: &str, days: i64) {
    let day = periods(Every::Day, zone, 1);
    let week = periods(Every::Week, zone, 1);
    let tz = TimeZone::get(zone).expect("a zone");
    let start: jiff::Timestamp = from.parse().expect("a moment");
    let (mut latest, mut began) = (Date::MIN, 0);
    let mut known = None;
    for minute in 0..days * 1440 {
        let seconds = start.as_second() + minute * 60;
        let local = tz.to_datetime(jiff::Timestamp::from_second(seconds).expect("in range")).date();
        if local > latest {
            if minute > 0 {
                let period = day.around(timestamp((seconds - 60) * 1_000_000));
                assert_eq!(
                    period.end,
                    timestamp(seconds * 1_000_000),
                    "{zone}: the end of {latest}"
                );
                known = Some(seconds);
            }
            (latest, began) = (local, seconds);
        }
        if known.is_some() && minute % 30 == 0 {
            let now = timestamp(seconds * 1_000_000);
            assert_eq!(
                day.around(now).start,
                timestamp(began * 1_000_000),
                "{zone}: the start of {latest}"
            );
            let week = week.around(now);
            assert!(week.start <= now && now < week.end, "{zone}: {now:?} in {week:?}");
        }
    }
}

#[test]
fn days_equal_a_walk_over_the_minutes() {
    // Around every change of the clocks that is odd in some way; a few weeks each.
    let cases = [
        ("America/Santiago", "2026-03-25T00:00:00Z"),
        ("America/Santiago", "2026-08-25T00:00:00Z"),
        ("Africa/Cairo", "2026-04-15T00:00:00Z"),
        ("Africa/Cairo", "2026-10-20T00:00:00Z"),
        ("Asia/Beirut", "2026-03-20T00:00:00Z"),
        ("Asia/Beirut", "2026-10-15T00:00:00Z"),
        ("Pacific/Apia", "2011-12-20T00:00:00Z"),
        ("America/Sao_Paulo", "2018-02-10T00:00:00Z"),
        ("America/Sao_Paulo", "2018-10-28T00:00:00Z"),
        ("Antarctica/Troll", "2026-03-20T00:00:00Z"),
        ("Antarctica/Troll", "2026-10-15T00:00:00Z"),
        ("Australia/Lord_Howe", "2026-03-28T00:00:00Z"),
        ("Australia/Lord_Howe", "2026-09-28T00:00:00Z"),
        ("America/Asuncion", "2024-03-15T00:00:00Z"),
        ("America/Asuncion", "2024-09-28T00:00:00Z"),
        ("Europe/Dublin", "2026-10-18T00:00:00Z"),
        ("Asia/Gaza", "2026-03-20T00:00:00Z"),
        ("Asia/Gaza", "2022-10-20T00:00:00Z"),
        ("America/St_Johns", "2010-10-30T00:00:00Z"),
        ("America/Havana", "2026-03-01T00:00:00Z"),
        ("Atlantic/Azores", "2026-10-18T00:00:00Z"),
        ("Pacific/Kwajalein", "1993-08-10T00:00:00Z"),
        ("Asia/Pyongyang", "2015-08-05T00:00:00Z"),
        ("America/Caracas", "2016-04-25T00:00:00Z"),
    ];
    for (zone, from) in cases {
        walk(zone, from, 24);
    }
}
