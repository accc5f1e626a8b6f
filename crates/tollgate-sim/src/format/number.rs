//! Exact seconds from decimal text: never through a double.

use tollgate_core::{Micros, Timestamp};

/// Why a text is no number of seconds that Tollgate can take exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecondsError {
    /// It is not a JSON number.
    NotANumber,
    /// It is below zero.
    Negative,
    /// It has more than six decimals, as written (an exponent moves the point).
    TooFine,
    /// It is beyond the last moment that Tollgate knows.
    TooLarge,
}

impl std::fmt::Display for SecondsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            SecondsError::NotANumber => "is no number of seconds, such as 1767225600.25",
            SecondsError::Negative => "is below zero; it must be 0 or more seconds",
            SecondsError::TooFine => "is finer than a microsecond; give at most six decimals",
            SecondsError::TooLarge => {
                "is too large; the last moment is 9007199254.740991 (in the year 2255)"
            }
        })
    }
}

impl std::error::Error for SecondsError {}

/// The most microseconds that a moment or a span may have.
pub(super) const LARGEST: u64 = Timestamp::MAX.as_micros();

/// Reads a JSON number of seconds as whole microseconds, exactly. An exponent is taken at its word: `25e-2` is 0.25.
///
/// # Errors
/// [`SecondsError`]; nothing is ever rounded.
pub fn seconds(text: &str) -> Result<Micros, SecondsError> {
    match plain(text.as_bytes()) {
        Some(micros) => Ok(Micros::new(micros)),
        None => general(text).map(Micros::new),
    }
}

/// The usual form: 1 to 10 digits, then perhaps a point and 1 to 6 digits. `None`: look closer.
fn plain(text: &[u8]) -> Option<u64> {
    let whole = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if whole == 0 || whole > 10 || (whole > 1 && text[0] == b'0') {
        return None;
    }
    let seconds = text[..whole].iter().fold(0u64, |sum, byte| sum * 10 + u64::from(byte - b'0'));
    let decimals = match &text[whole..] {
        [] => 0,
        [b'.', decimals @ ..] if (1..=6).contains(&decimals.len()) => fraction(decimals)?,
        _ => return None,
    };
    let micros = seconds * 1_000_000 + decimals;
    (micros <= LARGEST).then_some(micros)
}

/// 1 to 6 decimals as microseconds.
fn fraction(decimals: &[u8]) -> Option<u64> {
    const SCALE: [u64; 7] = [1_000_000, 100_000, 10_000, 1_000, 100, 10, 1];
    let mut sum = 0;
    for byte in decimals {
        if !byte.is_ascii_digit() {
            return None;
        }
        sum = sum * 10 + u64::from(byte - b'0');
    }
    Some(sum * SCALE[decimals.len()])
}

/// Any JSON number.
fn general(text: &str) -> Result<u64, SecondsError> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, rest) = digits(rest).ok_or(SecondsError::NotANumber)?;
    if whole.len() > 1 && whole.starts_with('0') {
        return Err(SecondsError::NotANumber);
    }
    let (decimals, rest) = match rest.strip_prefix('.') {
        Some(rest) => digits(rest).ok_or(SecondsError::NotANumber)?,
        None => ("", rest),
    };
    let exponent = exponent(rest).ok_or(SecondsError::NotANumber)?;
    let shift = (exponent - decimals.len() as i64) + 6;
    let mut mantissa = whole.bytes().chain(decimals.bytes());
    if negative && mantissa.clone().any(|digit| digit != b'0') {
        return Err(SecondsError::Negative);
    }
    if shift < 0 {
        return Err(SecondsError::TooFine);
    }
    let value = mantissa.try_fold(0u64, |sum, digit| bounded(sum, u64::from(digit - b'0')));
    scaled(value.ok_or(SecondsError::TooLarge)?, shift).ok_or(SecondsError::TooLarge)
}

/// `value * 10^shift`, where it is not beyond the largest.
fn scaled(mut value: u64, shift: i64) -> Option<u64> {
    if value == 0 {
        return Some(0);
    }
    for _ in 0..shift {
        value = bounded(value, 0)?;
    }
    Some(value)
}

/// `value * 10 + digit`, where it is not beyond the largest.
fn bounded(value: u64, digit: u64) -> Option<u64> {
    value.checked_mul(10)?.checked_add(digit).filter(|value| *value <= LARGEST)
}

/// The digits at the start, at least one, and what follows them.
fn digits(text: &str) -> Option<(&str, &str)> {
    let count = text.bytes().take_while(u8::is_ascii_digit).count();
    (count > 0).then(|| text.split_at(count))
}

/// An exponent, or nothing; `None` where neither. One with very many digits is as good as a million.
fn exponent(text: &str) -> Option<i64> {
    let Some(rest) = text.strip_prefix(['e', 'E']) else {
        return text.is_empty().then_some(0);
    };
    let (negative, rest) = match rest.as_bytes().first()? {
        b'-' => (true, &rest[1..]),
        b'+' => (false, &rest[1..]),
        _ => (false, rest),
    };
    let (digits, rest) = digits(rest)?;
    let size =
        digits.bytes().fold(0i64, |sum, digit| (sum * 10 + i64::from(digit - b'0')).min(1_000_000));
    rest.is_empty().then_some(if negative { -size } else { size })
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;
    use num_rational::BigRational;
    use proptest::prelude::*;

    use super::*;

    fn micros(text: &str) -> Result<u64, SecondsError> {
        seconds(text).map(Micros::get)
    }

    #[test]
    fn seconds_are_exact() {
        assert_eq!(micros("1767225600.25"), Ok(1_767_225_600_250_000));
        assert_eq!(micros("0.000001"), Ok(1));
        assert_eq!(micros("0.3"), Ok(300_000), "a double would say 0.29999999999999998");
        assert_eq!(micros("9007199254.740991"), Ok(9_007_199_254_740_991));
        assert_eq!(micros("1e-06"), Ok(1));
        assert_eq!(micros("1.767e9"), Ok(1_767_000_000_000_000));
        assert_eq!(micros("0e999999999999999999999"), Ok(0));
        assert_eq!(micros("-0.0"), Ok(0));
    }

    #[test]
    fn what_is_no_exact_number_of_microseconds_is_refused() {
        for text in [
            "", "-", ".5", "1.", "01", "+1", "1e", "1e+", "0x10", "1 ", "NaN", "1_000", "1.5.5",
            "١",
        ] {
            assert_eq!(micros(text), Err(SecondsError::NotANumber), "{text:?}");
        }
        assert_eq!(micros("1.0000001"), Err(SecondsError::TooFine));
        assert_eq!(micros("1e-7"), Err(SecondsError::TooFine));
        assert_eq!(micros("1e-99999999999999999999"), Err(SecondsError::TooFine));
        assert_eq!(micros("-1"), Err(SecondsError::Negative));
        assert_eq!(micros("9007199254.740992"), Err(SecondsError::TooLarge));
        assert_eq!(micros("1e999999999999"), Err(SecondsError::TooLarge));
    }

    /// The same by schoolbook rationals.
    fn naive(whole: u64, decimals: &str, exponent: i32) -> Option<u64> {
        let digits: BigInt = format!("{whole}{decimals}").parse().expect("digits");
        let shift = exponent - decimals.len() as i32;
        if shift < -6 {
            return None;
        }
        let ten = BigRational::from(BigInt::from(10));
        let value =
            BigRational::from(digits) * ten.pow(shift) * BigRational::from(BigInt::from(1_000_000));
        assert!(value.is_integer());
        u64::try_from(value.to_integer()).ok().filter(|value| *value <= LARGEST)
    }

    proptest! {
        #[test]
        fn every_number_equals_the_schoolbook(whole in 0u64..20_000_000_000, decimals in "[0-9]{0,9}", exponent in -12i32..12) {
            let point = if decimals.is_empty() { String::new() } else { format!(".{decimals}") };
            let power = if exponent == 0 { String::new() } else { format!("e{exponent}") };
            prop_assert_eq!(micros(&format!("{whole}{point}{power}")).ok(), naive(whole, &decimals, exponent));
        }

        #[test]
        fn no_text_panics(text in "[-+0-9.eE x]{0,40}") {
            let _ = seconds(&text);
        }
    }
}
