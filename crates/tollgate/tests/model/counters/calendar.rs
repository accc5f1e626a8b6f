//! Where a quota's periods begin, found by walking the local clock minute by minute.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use crate::model::policy::Every;

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

/// No zone is further ahead of UTC.
const EARLIEST: i64 = 15 * HOUR;

/// A quota's calendar. Copies share what was walked before.
#[derive(Clone)]
pub(crate) struct Calendar {
    every: Every,
    zone: TimeZone,
    starts: i8,
    walked: Rc<RefCell<BTreeMap<Date, i64>>>,
}

impl Calendar {
    /// Periods of that length in that zone; months begin on day `starts`.
    pub(crate) fn new(every: Every, zone: &str, starts: i8) -> Self {
        let zone = TimeZone::get(zone).expect("the generator's zones exist");
        Self { every, zone, starts, walked: Rc::default() }
    }

    /// The period that `now` lies in: its first microsecond, and the first after it.
    pub(crate) fn period(&self, now: i64) -> (i64, i64) {
        if self.every == Every::Hour {
            let start = now.div_euclid(HOUR) * HOUR;
            return (start, start + HOUR);
        }
        // The local date may step back after a period has begun, and a begun period never reopens the one before it: so
        // the period is the last that begins at or before now.
        let today = self.local_date(now);
        let mut start = self.first_day(today.saturating_sub(2.days()));
        loop {
            let next = self.day_after_period(start);
            if self.first_instant(next) > now {
                return (self.first_instant(start), self.first_instant(next));
            }
            start = next;
        }
    }

    fn local_date(&self, micros: i64) -> Date {
        let time = Timestamp::from_microsecond(micros)
            .expect("the generator stays within years 1 to 9999");
        self.zone.to_datetime(time).date()
    }

    /// The local day with which the period of a local day begins.
    fn first_day(&self, day: Date) -> Date {
        let mut first = day;
        while !self.begins_period(first) {
            first = first.yesterday().expect("the generator stays within years 1 to 9999");
        }
        first
    }

    /// The local day with which the next period begins.
    fn day_after_period(&self, first: Date) -> Date {
        let mut next = first.tomorrow().expect("the generator stays within years 1 to 9999");
        while !self.begins_period(next) {
            next = next.tomorrow().expect("the generator stays within years 1 to 9999");
        }
        next
    }

    fn begins_period(&self, day: Date) -> bool {
        match self.every {
            Every::Hour | Every::Day => true,
            Every::Week => day.weekday() == Weekday::Monday,
            Every::Month => day.day() == self.starts.min(day.days_in_month()),
        }
    }

    /// The first instant at which the local date is that day, or a later one where there is no such day.
    fn first_instant(&self, day: Date) -> i64 {
        if let Some(&known) = self.walked.borrow().get(&day) {
            return known;
        }
        let midnight =
            TimeZone::UTC.to_timestamp(day.at(0, 0, 0, 0)).expect("within years 1 to 9999");
        let mut at = midnight.as_microsecond() - EARLIEST;
        while self.local_date(at) < day {
            at += MINUTE;
        }
        at -= MINUTE;
        while self.local_date(at) < day {
            at += SECOND;
        }
        self.walked.borrow_mut().insert(day, at);
        at
    }
}
