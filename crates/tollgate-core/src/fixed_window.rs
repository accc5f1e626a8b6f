//! Fixed windows, aligned to the epoch.
//!
//! Up to twice the limit passes around a boundary: one limit just before it and one just after.

use crate::allowance::Allowance;
use crate::counter::{Counter, Frame};
use crate::moment::Moment;
use crate::spec_error::checked_span;
use crate::{FixedWindow, Period, Rules, SpecError, Timestamp};

/// Windows of the same length from the epoch on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Aligned {
    pub(crate) window: u64,
}

impl Frame for Aligned {
    #[inline]
    fn around(&self, at: Moment<'_>) -> Period {
        let start = at.now - at.now % self.window;
        let end = Timestamp::from_micros(start + self.window);
        Period { start: Timestamp::from_micros(start), end }
    }

    #[inline]
    fn end(&self, start: u64, _: Moment<'_>) -> u64 {
        start + self.window
    }
}

pub(crate) fn compile(spec: &FixedWindow, rules: &Rules) -> Result<Counter<Aligned>, SpecError> {
    let window = checked_span("window", spec.window)?;
    Ok(Counter { frame: Aligned { window }, allowance: Allowance::new(spec.limit, rules)? })
}
