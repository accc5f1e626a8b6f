//! Why parameters are no limit.

use core::fmt;

use crate::{Micros, Timestamp};

/// Why parameters are no limit. Its text says what is wrong and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpecError {
    /// A span of zero.
    ZeroSpan {
        /// The parameter's name.
        parameter: &'static str,
    },
    /// A span longer than the years that Tollgate knows.
    SpanTooLong {
        /// The parameter's name.
        parameter: &'static str,
        /// The longest, in microseconds.
        most: u64,
    },
    /// A number above its range.
    TooLarge {
        /// The parameter's name.
        parameter: &'static str,
        /// What was given.
        value: u64,
        /// The largest that would do.
        most: u64,
        /// Why there is such a bound.
        reason: &'static str,
    },
    /// A number of cells that is no number of cells.
    Cells {
        /// What was given.
        cells: u32,
    },
    /// A window that cannot be cut into equal cells of whole microseconds.
    UnevenCells {
        /// The window, in microseconds.
        window: u64,
        /// Into how many cells.
        cells: u32,
    },
    /// A bucket that takes longer to fill than can be told, or whose products do not fit 128 bits.
    BucketTooLarge {
        /// The parameter to lessen.
        parameter: &'static str,
    },
    /// A rule that does not go with the algorithm.
    Rule {
        /// The rule.
        rule: &'static str,
        /// The algorithm.
        algorithm: &'static str,
        /// With which algorithms it goes.
        goes_with: &'static str,
    },
    /// `max_debt` without `overdraw`.
    DebtWithoutOverdraw,
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecError::ZeroSpan { parameter } => {
                write!(f, "`{parameter}` is zero; give it a span of at least one microsecond")
            }
            SpecError::SpanTooLong { parameter, most } => write!(
                f,
                "`{parameter}` is longer than the {most} microseconds (285 years) that times can hold; give a shorter span"
            ),
            SpecError::TooLarge { parameter, value, most, reason } => {
                write!(f, "`{parameter}` is {value}; {reason}, so at most {most} will do")
            }
            SpecError::Cells { cells } => {
                write!(f, "`cells` is {cells}; a window is cut into 1 to 100 cells")
            }
            SpecError::UnevenCells { window, cells } => write!(
                f,
                "a window of {window} microseconds does not divide into {cells} equal cells; choose `cells` that divide it"
            ),
            SpecError::BucketTooLarge { parameter } => write!(
                f,
                "`{parameter}` is too large: at this rate the bucket would take more than 146,000 years to fill, or hold \
                 more than can be counted; give a smaller one"
            ),
            SpecError::Rule { rule, algorithm, goes_with } => {
                write!(f, "`{rule}` does not go with {algorithm}; it goes with {goes_with}")
            }
            SpecError::DebtWithoutOverdraw => {
                write!(
                    f,
                    "`max_debt` bounds what `overdraw: true` may owe; add that, or leave `max_debt` out"
                )
            }
        }
    }
}

impl core::error::Error for SpecError {}

/// The microseconds of a span that is added to moments.
pub(crate) fn checked_span(parameter: &'static str, span: Micros) -> Result<u64, SpecError> {
    match span.get() {
        0 => Err(SpecError::ZeroSpan { parameter }),
        micros if micros > Timestamp::MAX.as_micros() => {
            Err(SpecError::SpanTooLong { parameter, most: Timestamp::MAX.as_micros() })
        }
        micros => Ok(micros),
    }
}
