//! Rates and durations: exact, and refused where they would not be.

use proptest::prelude::*;
use tollgate_core::{Burst, Micros, Rate};
use tollgate_policy::file::duration::{format_duration, parse_duration, parse_unit};
use tollgate_policy::file::rate::{format_rate, parse_burst, parse_rate};

const SECOND: u64 = 1_000_000;

#[test]
fn durations() {
    for (text, micros) in [
        ("500us", 500),
        ("250ms", 250_000),
        ("1m", 60 * SECOND),
        ("1h30m", 5_400 * SECOND),
        ("10d", 864_000 * SECOND),
        ("1w", 604_800 * SECOND),
        ("1y", 365 * 86_400 * SECOND),
        ("0s", 0),
        ("0", 0),
        ("1\u{b5}s", 1),
        ("1\u{3bc}s", 1),
        ("2 hours", 7_200 * SECOND),
        ("1day2hours", 93_600 * SECOND),
        (" 30s ", 30 * SECOND),
        ("18446744073709551615us", u64::MAX),
    ] {
        assert_eq!(parse_duration(text), Ok(Micros::new(micros)), "{text}");
    }
}

#[test]
fn what_is_no_duration_says_what_would_be_right() {
    for (text, words) in [
        ("", "`30s`"),
        ("60", "`60s`"),
        ("1.5s", "`1500ms`"),
        ("-5s", "zero or more"),
        ("1month", "every: month"),
        ("1M", "every: month"),
        ("5 fortnights", "us, ms, s, m, h, d, w and y"),
        ("30m1h", "longest first"),
        ("1s1s", "each unit once"),
        ("1h 30m", "`30s` or `1h30m`"),
        ("18446744073709551616us", "584,000 years"),
        ("600000y", "584,000 years"),
        ("s", "whole numbers with units"),
        ("٣s", "whole numbers with units"),
    ] {
        let error = parse_duration(text).expect_err(text);
        assert!(error.to_string().contains(words), "{words:?} not in `{error}` of `{text}`");
    }
    assert!(parse_duration(&"1".repeat(1000)).is_err());
}

#[test]
fn rates() {
    for (text, count, per) in [
        ("10/s", 10, SECOND),
        ("100/minute", 100, 60 * SECOND),
        ("1000/h", 1000, 3_600 * SECOND),
        ("1/day", 1, 86_400 * SECOND),
        ("5 per 10s", 5, 10 * SECOND),
        ("7 per 365d", 7, 365 * 86_400 * SECOND),
        ("6 per 1m", 6, 60 * SECOND),
        ("5/10s", 5, 10 * SECOND),
        ("5 / s", 5, SECOND),
        ("5 per second", 5, SECOND),
        ("0/s", 0, SECOND),
        ("1e9/s", 1_000_000_000, SECOND),
        ("120000/minute", 120_000, 60 * SECOND),
        ("18446744073709551615/h", u64::MAX, 3_600 * SECOND),
    ] {
        assert_eq!(parse_rate(text), Ok(Rate { count, per: Micros::new(per) }), "{text}");
    }
}

#[test]
fn what_is_no_rate_says_what_would_be_right() {
    for (text, words) in [
        ("10", "`10/s`"),
        ("", "`5 per 10s`"),
        ("/s", "`5 per 10s`"),
        ("ten/s", "`5 per 10s`"),
        ("10/", "no unit of time"),
        ("10/month", "every: month"),
        ("1 per 1mo", "every: month"),
        ("5 per 0s", "no time at all"),
        ("-1/s", "zero or more"),
        ("0.5/s", "`1 per 2s`"),
        ("2.5/m", "`5 per 2m`"),
        ("0.0/s", "`5 per 10s`"),
        ("18446744073709551616/s", "at most"),
        ("1e20/s", "`5 per 10s`"),
        ("1e-3/s", "`5 per 10s`"),
        ("1.5e3/s", "`5 per 10s`"),
        ("5/s/s", "no unit"),
    ] {
        let error = parse_rate(text).expect_err(text);
        assert!(error.to_string().contains(words), "{words:?} not in `{error}` of `{text}`");
    }
}

#[test]
fn bursts_are_units_or_spans() {
    assert_eq!(parse_burst("20"), Ok(Burst::Units(20)));
    assert_eq!(parse_burst("2s"), Ok(Burst::Span(Micros::from_secs(2))));
    assert!(parse_burst("2.5").is_err() && parse_burst("").is_err() && parse_burst("-1").is_err());
}

proptest! {
    #[test]
    fn durations_round_trip(micros: u64) {
        let span = Micros::new(micros);
        prop_assert_eq!(parse_duration(&format_duration(span)), Ok(span));
    }

    #[test]
    fn rates_round_trip(count: u64, per in 1u64..) {
        let rate = Rate { count, per: Micros::new(per) };
        prop_assert_eq!(parse_rate(&format_rate(rate)), Ok(rate));
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,40}|[0-9a-z ./-]{0,24}") {
        let _ = (parse_duration(&text), parse_rate(&text), parse_burst(&text), parse_unit(&text));
    }
}
