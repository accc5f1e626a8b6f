//! Moments as text: RFC 3339, and the form of nginx's `$time_local`.

use tollgate_core::Timestamp;

use super::number::seconds;

/// Reads a moment as a field of a log: seconds since the epoch as a decimal number, or RFC 3339.
///
/// # Errors
/// What is wrong with it, to be read after the text itself.
pub fn moment(text: &str) -> Result<Timestamp, String> {
    if text.as_bytes().get(4) == Some(&b'-') {
        return rfc3339(text);
    }
    seconds(text)
        .map(|micros| Timestamp::from_micros(micros.get()))
        .map_err(|error| format!("{error}, nor RFC 3339"))
}

/// Reads an RFC 3339 moment: up to six decimals of a second, `Z` or an offset; a leap second is the second after it.
///
/// # Errors
/// What is wrong with it, to be read after the text itself.
pub fn rfc3339(text: &str) -> Result<Timestamp, String> {
    let mut fields = Fields { rest: text.as_bytes() };
    let moment =
        fields.date_and_time().ok_or("is no RFC 3339 time, such as 2026-01-01T00:00:00.25Z")?;
    moment.timestamp()
}

/// Reads nginx's `$time_local`: `10/Oct/2026:13:55:36 +0200`.
///
/// # Errors
/// What is wrong with it, to be read after the text itself.
pub fn time_local(text: &str) -> Result<Timestamp, String> {
    let mut fields = Fields { rest: text.as_bytes() };
    let moment = fields.time_local().ok_or("is no time of the form 10/Oct/2026:13:55:36 +0200")?;
    moment.timestamp()
}

/// A moment in RFC 3339, in UTC; decimals only where they are not all zero.
#[must_use]
pub fn to_rfc3339(moment: Timestamp) -> String {
    let (seconds, micros) = (moment.as_micros() / 1_000_000, moment.as_micros() % 1_000_000);
    let (year, month, day) = date_of((seconds / 86_400) as i64);
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    let decimals = if micros == 0 { String::new() } else { format!(".{micros:06}") };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{decimals}Z")
}

/// A date, a time and an offset, as written.
struct Written {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    /// The decimals of the second, without the point.
    micros: Result<i64, String>,
    /// East of Greenwich, in minutes.
    offset: i64,
}

impl Written {
    fn timestamp(self) -> Result<Timestamp, String> {
        if !(1..=12).contains(&self.month)
            || !(1..=days_in_month(self.year, self.month)).contains(&self.day)
        {
            return Err("names a day that does not exist".to_owned());
        }
        if self.hour > 23 || self.minute > 59 || self.second > 60 {
            return Err("names a time of day that does not exist".to_owned());
        }
        let days = days_since_epoch(self.year, self.month, self.day);
        let seconds =
            days * 86_400 + self.hour * 3_600 + (self.minute - self.offset) * 60 + self.second;
        let micros = u64::try_from(seconds * 1_000_000 + self.micros?)
            .map_err(|_| "is before 1970".to_owned())?;
        if micros > Timestamp::MAX.as_micros() {
            return Err("is too late; the last moment is in the year 2255".to_owned());
        }
        Ok(Timestamp::from_micros(micros))
    }
}

/// What is left of a text that is read field by field.
struct Fields<'a> {
    rest: &'a [u8],
}

impl Fields<'_> {
    fn date_and_time(&mut self) -> Option<Written> {
        let year = self.digits(4)?;
        let month = self.one_of(b"-").and_then(|_| self.digits(2))?;
        let day = self.one_of(b"-").and_then(|_| self.digits(2))?;
        self.one_of(b"Tt ")?;
        let [hour, minute, second] = self.clock()?;
        let micros = self.decimals()?;
        let offset = match self.one_of(b"Zz") {
            Some(_) => 0,
            None => self.offset(Some(b":"))?,
        };
        self.rest.is_empty().then_some(Written {
            year,
            month,
            day,
            hour,
            minute,
            second,
            micros,
            offset,
        })
    }

    fn time_local(&mut self) -> Option<Written> {
        let day = self.digits(2)?;
        self.one_of(b"/")?;
        let month = self.month()?;
        let year = self.one_of(b"/").and_then(|_| self.digits(4))?;
        self.one_of(b":")?;
        let [hour, minute, second] = self.clock()?;
        self.one_of(b" ")?;
        let offset = self.offset(None)?;
        self.rest.is_empty().then_some(Written {
            year,
            month,
            day,
            hour,
            minute,
            second,
            micros: Ok(0),
            offset,
        })
    }

    fn clock(&mut self) -> Option<[i64; 3]> {
        let hour = self.digits(2)?;
        let minute = self.one_of(b":").and_then(|_| self.digits(2))?;
        let second = self.one_of(b":").and_then(|_| self.digits(2))?;
        Some([hour, minute, second])
    }

    /// Decimals of a second: none, or a point and at least one digit. More than six are found, and refused.
    fn decimals(&mut self) -> Option<Result<i64, String>> {
        if self.one_of(b".").is_none() {
            return Some(Ok(0));
        }
        let count = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count > 6 {
            self.rest = &self.rest[count..];
            return Some(Err("is finer than a microsecond; give at most six decimals".to_owned()));
        }
        let value = self.digits(count).filter(|_| count > 0)?;
        Some(Ok(value * 10_i64.pow(6 - count as u32)))
    }

    fn offset(&mut self, between: Option<&[u8]>) -> Option<i64> {
        let sign = if self.one_of(b"+-")? == b'-' { -1 } else { 1 };
        let hours = self.digits(2)?;
        if let Some(between) = between {
            self.one_of(between)?;
        }
        let minutes = self.digits(2)?;
        (hours <= 23 && minutes <= 59).then_some(sign * (hours * 60 + minutes))
    }

    fn month(&mut self) -> Option<i64> {
        const NAMES: [&[u8; 3]; 12] = [
            b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov",
            b"Dec",
        ];
        let (name, rest) = self.rest.split_first_chunk::<3>()?;
        self.rest = rest;
        NAMES.iter().position(|known| *known == name).map(|place| place as i64 + 1)
    }

    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        digits.iter().try_fold(0, |sum, byte| {
            byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0'))
        })
    }

    fn one_of(&mut self, bytes: &[u8]) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        bytes.contains(first).then(|| {
            self.rest = rest;
            *first
        })
    }
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 in the Gregorian calendar. Years are counted from March, so that a leap day ends one; 400 of them
/// have 146,097 days.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The inverse: year, month and day.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(text: &str) -> Result<u64, String> {
        moment(text).map(Timestamp::as_micros)
    }

    #[test]
    fn moments_are_read_exactly() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-01-01T00:00:00.25Z", 1_767_225_600_250_000),
            ("2026-01-01t01:30:00.000001+01:30", 1_767_225_600_000_001),
            ("2025-12-31 19:00:00-05:00", 1_767_225_600_000_000),
            ("2024-02-29T12:00:00Z", 1_709_208_000_000_000),
            ("2000-03-01T00:00:00Z", 951_868_800_000_000),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000_000),
            ("1767225600.25", 1_767_225_600_250_000),
        ] {
            assert_eq!(micros(text), Ok(expected), "{text}");
        }
        assert_eq!(
            to_rfc3339(Timestamp::from_micros(1_767_225_600_250_000)),
            "2026-01-01T00:00:00.250000Z"
        );
        assert_eq!(
            time_local("01/Jan/2026:02:00:00 +0200").map(Timestamp::as_micros),
            Ok(1_767_225_600_000_000)
        );
    }

    #[test]
    fn what_is_no_moment_says_why() {
        for (text, why) in [
            ("2026-02-29T00:00:00Z", "a day that does not exist"),
            ("2026-13-01T00:00:00Z", "a day that does not exist"),
            ("2026-01-01T24:00:00Z", "a time of day that does not exist"),
            ("2026-01-01T00:00:00", "is no RFC 3339 time"),
            ("2026-01-01T00:00:00.Z", "is no RFC 3339 time"),
            ("2026-01-01T00:00:00+0100", "is no RFC 3339 time"),
            ("2026-01-01", "is no RFC 3339 time"),
            ("2026-01-01T00:00:00.1234567Z", "at most six decimals"),
            ("1969-12-31T23:59:59Z", "before 1970"),
            ("1970-01-01T00:00:00+00:01", "before 1970"),
            ("2300-01-01T00:00:00Z", "too late"),
            ("yesterday", "no number of seconds"),
        ] {
            let error = micros(text).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
        for text in
            ["1/Jan/2026:00:00:00 +0000", "01/jan/2026:00:00:00 +0000", "01/Jan/2026:00:00:00", ""]
        {
            assert!(time_local(text).is_err(), "{text}");
        }
    }

    #[test]
    fn days_follow_each_other() {
        let mut expected = days_since_epoch(1970, 1, 1);
        assert_eq!(expected, 0);
        for year in 1970..2256 {
            for month in 1..=12 {
                for day in 1..=days_in_month(year, month) {
                    assert_eq!(days_since_epoch(year, month, day), expected);
                    assert_eq!(date_of(expected), (year, month, day));
                    expected += 1;
                }
            }
        }
    }
}
