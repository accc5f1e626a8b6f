//! Rates as people write them: `10/s`, `100/minute`, `5 per 10s`. A whole number over a span, exact.

use tollgate_core::{Burst, Micros, Rate};

use super::duration::{DurationError, format_duration, parse_duration, parse_unit};

/// Why a text is no rate, and what would be right.
pub type RateError = DurationError;

const FORM: &str = "write a whole number over a unit or a span, such as `10/s` or `5 per 10s`";

fn error(message: String, help: impl Into<String>) -> RateError {
    RateError { message, help: help.into() }
}

/// Reads a rate: a whole number, `/` or `per`, and a unit (`s`, `minute`) or a span (`10s`).
///
/// # Errors
/// [`RateError`] where it is none: no span, a span of zero, a fraction, or more than 2^64 - 1.
pub fn parse_rate(text: &str) -> Result<Rate, RateError> {
    let text = text.trim();
    let Some((count, per)) = split(text) else {
        let help = match text.parse::<u64>() {
            Ok(count) => format!("say over which time: `{count}/s`, `{count} per 10s`"),
            Err(_) => FORM.to_owned(),
        };
        return Err(error(format!("`{text}` is no rate"), help));
    };
    let per = if per.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        parse_duration(per)?
    } else {
        parse_unit(per)?
    };
    if per == Micros::ZERO {
        return Err(error(format!("`{text}` is a rate over no time at all"), FORM));
    }
    Ok(Rate { count: parse_count(text, count, per)?, per })
}

/// The parts around `/` or `per`.
fn split(text: &str) -> Option<(&str, &str)> {
    let (count, per) = text.split_once('/').or_else(|| text.split_once(" per "))?;
    Some((count.trim(), per.trim()))
}

fn parse_count(text: &str, count: &str, per: Micros) -> Result<u64, RateError> {
    if !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit()) {
        return count
            .parse()
            .map_err(|_| error(format!("`{text}` is too high"), format!("at most {}", u64::MAX)));
    }
    if let Some(count) = powers_of_ten(count) {
        return Ok(count);
    }
    if count.starts_with('-') {
        return Err(error(format!("`{text}` is negative"), "a rate is zero or more"));
    }
    Err(match whole(count, per) {
        Some(rate) => error(
            format!("`{text}` has a fraction"),
            format!("write it in whole numbers: `{}`", format_rate(rate)),
        ),
        None => error(format!("`{text}` is no rate"), FORM),
    })
}

/// A whole number as people write large ones: `1e9`.
fn powers_of_ten(count: &str) -> Option<u64> {
    let (digits, exponent) = count.split_once(['e', 'E'])?;
    let plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !plain(digits) || !plain(exponent) {
        return None;
    }
    let scale = 10u64.checked_pow(exponent.parse().ok()?)?;
    digits.parse::<u64>().ok()?.checked_mul(scale)
}

/// The same rate in whole numbers for a decimal fraction: 0.5 a second is 1 per 2 seconds.
fn whole(count: &str, per: Micros) -> Option<Rate> {
    let (whole, fraction) = count.split_once('.')?;
    let scale = 10u64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let count = format!("{whole}{fraction}").parse::<u64>().ok()?;
    let shared = gcd(count, scale);
    if count == 0 || shared == 0 {
        return None;
    }
    Some(Rate { count: count / shared, per: Micros::new(per.get().checked_mul(scale / shared)?) })
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Reads a token bucket's burst: units (`20`) or what the rate brings in a span (`2s`).
///
/// # Errors
/// [`RateError`] where it is neither.
pub fn parse_burst(text: &str) -> Result<Burst, RateError> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return match text.parse() {
            Ok(units) => Ok(Burst::Units(units)),
            Err(_) => Err(error(format!("`{text}` is too high"), format!("at most {}", u64::MAX))),
        };
    }
    parse_duration(text).map(Burst::Span).map_err(|wrong| {
        error(wrong.message, "write whole units, such as `20`, or a span of the rate, such as `2s`")
    })
}

/// Writes a rate so that [`parse_rate`] reads the same: `10/s`, `5 per 10s`.
#[must_use]
pub fn format_rate(rate: Rate) -> String {
    let per = format_duration(rate.per);
    match per.strip_prefix('1') {
        Some(unit) if !unit.is_empty() && unit.bytes().all(|b| b.is_ascii_alphabetic()) => {
            format!("{}/{unit}", rate.count)
        }
        _ => format!("{} per {per}", rate.count),
    }
}
