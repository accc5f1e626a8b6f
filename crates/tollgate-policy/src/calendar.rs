//! Calendar periods in IANA zones: the bounds of the period around a moment.

use std::sync::Arc;

use arc_swap::ArcSwap;
use jiff::civil::{Date, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, ToSpan};
use tollgate_core::{Period, Timestamp};

use crate::settings::{Calendar, Every};

const HOUR: u64 = 3_600_000_000;

/// A calendar and its zone. It remembers the period around now, so that zone arithmetic is done once a period.
#[derive(Debug)]
pub(crate) struct Periods {
    every: Every,
    starts: u8,
    zone: TimeZone,
    current: ArcSwap<Period>,
}

impl Periods {
    /// Periods of `calendar`.
    ///
    /// # Errors
    /// Text that says what is wrong: an unknown zone, or a month that starts on no day.
    pub(crate) fn new(calendar: &Calendar) -> Result<Periods, String> {
        if !(1..=31).contains(&calendar.starts) {
            return Err(format!("starts: {} is no day of a month; 1 to 31 are", calendar.starts));
        }
        let zone = TimeZone::get(&calendar.time_zone).map_err(|_| {
            format!(
                "time_zone: {} is no IANA time zone; write one as Europe/Berlin or UTC",
                calendar.time_zone
            )
        })?;
        let nothing = Period { start: Timestamp::EPOCH, end: Timestamp::EPOCH };
        let current = ArcSwap::from_pointee(nothing);
        Ok(Periods { every: calendar.every, starts: calendar.starts, zone, current })
    }

    /// The period that holds `now`.
    pub(crate) fn around(&self, now: Timestamp) -> Period {
        let current = **self.current.load();
        if current.start <= now && now < current.end {
            return current;
        }
        let period = self.compute(now);
        self.current.store(Arc::new(period));
        period
    }

    fn compute(&self, now: Timestamp) -> Period {
        let (first, next) = match self.every {
            Every::Hour => return hour(now),
            Every::Day => {
                let day = self.day(now);
                (day, tomorrow(day))
            }
            Every::Week => {
                let day = self.day(now);
                let monday =
                    day.saturating_sub(i64::from(day.weekday().to_monday_zero_offset()).days());
                (monday, monday.saturating_add(7.days()))
            }
            Every::Month => self.month(self.day(now)),
        };
        Period {
            start: timestamp(self.first_instant(first)),
            end: timestamp(self.first_instant(next)),
        }
    }

    /// The latest day that has begun by `now`. Where clocks go back over midnight, the local date steps back as well, but a
    /// day that has begun stays; where a date was skipped, it and the next begin together, and the next counts.
    fn day(&self, now: Timestamp) -> Date {
        let micros = now.as_micros() as i64;
        let moment = jiff::Timestamp::from_microsecond(micros);
        let mut day = self.zone.to_datetime(moment.unwrap_or(jiff::Timestamp::MAX)).date();
        while self.first_instant(tomorrow(day)) <= micros {
            day = tomorrow(day);
        }
        day
    }

    /// The month's period that holds `day`, as its first day and the next period's.
    fn month(&self, day: Date) -> (Date, Date) {
        let this = self.begin(day);
        if day >= this {
            (this, self.begin(day.first_of_month().saturating_add(1.month())))
        } else {
            (self.begin(day.first_of_month().saturating_sub(1.month())), this)
        }
    }

    /// The day on which the period that begins in `day`'s month begins.
    fn begin(&self, day: Date) -> Date {
        let last = day.last_of_month();
        let first = day.first_of_month();
        let wanted = first.saturating_add((i64::from(self.starts) - 1).days());
        wanted.min(last)
    }

    /// The first moment at which the local date is `day` or a later one, in microseconds since the epoch.
    fn first_instant(&self, day: Date) -> i64 {
        let midnight = self.zone.to_ambiguous_timestamp(day.to_datetime(Time::midnight()));
        let gap = matches!(midnight.offset(), AmbiguousOffset::Gap { .. });
        let instant = if gap {
            // Midnight does not exist; the clocks' jump over it is the day's first instant. `later` reads midnight by the
            // offset before the jump, which is a moment at or after the jump and before any other.
            midnight.later().ok().and_then(|after| self.jump_before(after))
        } else {
            // Where midnight comes twice, the day begins with the first.
            midnight.earlier().ok()
        };
        instant.map_or(i64::MAX, jiff::Timestamp::as_microsecond)
    }

    /// The last jump of the clocks at or before `moment`.
    fn jump_before(&self, moment: jiff::Timestamp) -> Option<jiff::Timestamp> {
        let after = moment.saturating_add(SignedDuration::from_nanos(1)).ok()?;
        self.zone.preceding(after).next().map(|jump| jump.timestamp())
    }
}

fn hour(now: Timestamp) -> Period {
    let start = now.as_micros() / HOUR * HOUR;
    Period { start: Timestamp::from_micros(start), end: Timestamp::from_micros(start + HOUR) }
}

/// Moments before the epoch are the epoch.
fn timestamp(micros: i64) -> Timestamp {
    Timestamp::from_micros(u64::try_from(micros).unwrap_or(0))
}

fn tomorrow(day: Date) -> Date {
    day.saturating_add(1.day())
}

#[cfg(test)]
mod tests;
