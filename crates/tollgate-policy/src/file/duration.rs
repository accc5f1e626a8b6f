//! Spans of time as people write them: `500us`, `250ms`, `1m`, `1h30m`, `10d`, `1w`, `1y`. Exact, in microseconds.

use std::fmt;

use tollgate_core::Micros;

/// Units from long to short: microseconds, the short form, other names. A year is 365 days; months have no fixed length.
const UNITS: [(u64, &str, &[&str]); 8] = [
    (31_536_000_000_000, "y", &["yr", "yrs", "year", "years"]),
    (604_800_000_000, "w", &["week", "weeks"]),
    (86_400_000_000, "d", &["day", "days"]),
    (3_600_000_000, "h", &["hr", "hrs", "hour", "hours"]),
    (60_000_000, "m", &["min", "mins", "minute", "minutes"]),
    (1_000_000, "s", &["sec", "secs", "second", "seconds"]),
    (1_000, "ms", &["millisecond", "milliseconds"]),
    (1, "us", &["\u{b5}s", "\u{3bc}s", "microsecond", "microseconds"]),
];

/// Longest text that is looked at.
const LONGEST: usize = 64;

/// Why a text is no duration, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurationError {
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: String,
}

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.help)
    }
}

impl std::error::Error for DurationError {}

fn error(message: String, help: impl Into<String>) -> DurationError {
    DurationError { message, help: help.into() }
}

/// Reads a span: whole numbers, each with a unit, from long to short (`1h30m`). One blank may stand before a unit, and `0` is
/// no time in any unit.
///
/// # Errors
/// [`DurationError`] where it is none, or longer than 2^64 - 1 microseconds.
pub fn parse_duration(text: &str) -> Result<Micros, DurationError> {
    let text = text.trim();
    if text.is_empty() || text.len() > LONGEST {
        return Err(error(
            "this is no duration".to_owned(),
            "write whole numbers with units, such as `30s` or `1h30m`",
        ));
    }
    if text == "0" {
        return Ok(Micros::ZERO);
    }
    let (mut rest, mut total, mut last) = (text, 0u64, u64::MAX);
    while !rest.is_empty() {
        let (count, unit, after) = part(rest, text)?;
        if unit >= last {
            return Err(error(
                format!("the units of `{text}` do not go from long to short"),
                "write each unit once and the longest first, such as `1h30m`",
            ));
        }
        let span = count.checked_mul(unit).and_then(|span| total.checked_add(span));
        total = span.ok_or_else(|| too_long(text))?;
        (rest, last) = (after, unit);
    }
    Ok(Micros::new(total))
}

fn too_long(text: &str) -> DurationError {
    error(format!("`{text}` is longer than can be counted"), "the longest is about 584,000 years")
}

/// One number with its unit, and what follows.
fn part<'a>(rest: &'a str, whole: &str) -> Result<(u64, u64, &'a str), DurationError> {
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, rest) = rest.split_at(digits);
    if number.is_empty() {
        return Err(no_number(rest, whole));
    }
    if rest.starts_with('.') || rest.starts_with(',') {
        return Err(error(
            format!("`{whole}` has a fraction"),
            "write whole numbers and a smaller unit, such as `1500ms` for 1.5 s",
        ));
    }
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let letters = rest.len() - rest.trim_start_matches(|c: char| c.is_alphabetic()).len();
    let (unit, after) = rest.split_at(letters);
    if unit.is_empty() {
        return Err(error(
            format!("`{whole}` has a number without a unit"),
            format!("write `{number}s` for seconds, or ms, m, h, d, w, y"),
        ));
    }
    let count = number.parse::<u64>().map_err(|_| too_long(whole))?;
    Ok((count, parse_unit(unit)?.get(), after))
}

fn no_number(rest: &str, whole: &str) -> DurationError {
    if rest.starts_with('-') {
        return error(format!("`{whole}` is negative"), "a duration is zero or more");
    }
    error(
        format!("`{whole}` is no duration"),
        "write whole numbers with units, such as `30s` or `1h30m`",
    )
}

/// Reads a unit alone: `s`, `minute`, `days`.
///
/// # Errors
/// [`DurationError`] where it is no unit; a month is none, since its length varies.
pub fn parse_unit(text: &str) -> Result<Micros, DurationError> {
    let known = |(_, short, names): &&(u64, &str, &[&str])| *short == text || names.contains(&text);
    if let Some((micros, ..)) = UNITS.iter().find(known) {
        return Ok(Micros::new(*micros));
    }
    if ["M", "mo", "mon", "month", "months"].contains(&text) {
        return Err(error(
            "a month is no unit, since months differ in length".to_owned(),
            "write `30d`, or use a quota with `every: month`",
        ));
    }
    Err(error(format!("`{text}` is no unit of time"), "the units are us, ms, s, m, h, d, w and y"))
}

/// Writes a span so that [`parse_duration`] reads the same: `1h30m`, `0s`.
#[must_use]
pub fn format_duration(span: Micros) -> String {
    let mut rest = span.get();
    let mut text = String::new();
    // Weeks and years are left to days: `10d` says more than `1w3d`.
    for (micros, short, _) in &UNITS[2..] {
        if rest >= *micros {
            text.push_str(&format!("{}{short}", rest / micros));
            rest %= micros;
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}
