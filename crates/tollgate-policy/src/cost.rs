//! What a request costs.

use http::HeaderName;

use crate::Facts;
use crate::identity::{Single, compile_header};
use crate::settings::{self, From};

/// A compiled cost.
#[derive(Debug)]
pub(crate) enum Cost {
    /// Always that.
    Fixed(u64),
    /// What a header says, within bounds.
    Header { name: HeaderName, default: u64, min: u64, max: u64, from: From },
}

impl Cost {
    /// Compiles `cost`.
    ///
    /// # Errors
    /// Text that says what is wrong.
    pub(crate) fn new(cost: &settings::Cost) -> Result<Cost, String> {
        match cost {
            settings::Cost::Fixed(units) => Ok(Cost::Fixed(*units)),
            settings::Cost::Header { name, default, min, max, from } => {
                if min > max {
                    return Err(format!("cost: min {min} is above max {max}"));
                }
                let name = compile_header(name)?;
                Ok(Cost::Header { name, default: *default, min: *min, max: *max, from: *from })
            }
        }
    }

    /// What the request of `facts` costs. Where several header lines differ, or one is no number, nobody knows what was
    /// meant: it costs the maximum, so that a bad word never buys a low price.
    pub(crate) fn of(&self, facts: &Facts<'_>) -> u64 {
        if let Some(cost) = facts.cost {
            return cost;
        }
        match self {
            Cost::Fixed(units) => *units,
            Cost::Header { name, default, min, max, from } => {
                if *from == From::TrustedProxies && !facts.trusted {
                    return *default;
                }
                match facts.headers.single(name) {
                    Single::Absent => *default,
                    Single::Several => *max,
                    Single::One(text) => units(text).map_or(*max, |units| units.clamp(*min, *max)),
                }
            }
        }
    }
}

/// A whole number in decimal digits. One too large for a word is larger than every maximum, as no number is.
fn units(text: &[u8]) -> Option<u64> {
    let digits = text.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(text).ok().filter(|_| digits)?;
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Headers;

    fn cost(from: From, trusted: bool, lines: &[&str]) -> u64 {
        let cost =
            settings::Cost::Header { name: "x-cost".into(), default: 7, min: 2, max: 100, from };
        let pairs: Vec<_> = lines.iter().map(|line| ("x-cost", *line)).collect();
        let facts = Facts { trusted, ..Facts::new("GET", "/", Headers::Pairs(&pairs)) };
        Cost::new(&cost).expect("a cost").of(&facts)
    }

    #[test]
    fn a_header_within_bounds() {
        let cases: [(&[&str], u64); 14] = [
            (&[], 7),
            (&[""], 7),
            (&["5"], 5),
            (&[" 5\t"], 5),
            (&["005"], 5),
            (&["0"], 2),
            (&["100"], 100),
            (&["101"], 100),
            (&["99999999999999999999999"], 100),
            (&["-1"], 100),
            (&["+5"], 100),
            (&["1.5"], 100),
            (&["5", "5"], 5),
            (&["5", "6"], 100),
        ];
        for (lines, wanted) in cases {
            assert_eq!(cost(From::Anyone, false, lines), wanted, "{lines:?}");
        }
    }

    #[test]
    fn only_trusted_words_count() {
        assert_eq!(cost(From::TrustedProxies, false, &["1"]), 7);
        assert_eq!(cost(From::TrustedProxies, true, &["3"]), 3);
    }

    #[test]
    fn a_given_cost_goes_before_all() {
        let facts = Facts { cost: Some(0), ..Facts::new("GET", "/", Headers::Pairs(&[])) };
        assert_eq!(Cost::Fixed(9).of(&facts), 0);
    }

    #[test]
    fn bounds_that_cross_are_refused() {
        let cost = settings::Cost::Header {
            name: "x".into(),
            default: 1,
            min: 5,
            max: 4,
            from: From::Anyone,
        };
        assert!(Cost::new(&cost).is_err());
    }
}
