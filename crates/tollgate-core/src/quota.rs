//! Quotas: counts in calendar periods, whose bounds come with each request.

use crate::allowance::Allowance;
use crate::counter::{Counter, Frame};
use crate::moment::Moment;
use crate::{Period, Quota, Rules, SpecError};

/// Periods that a caller with a tz database works out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Calendar;

impl Frame for Calendar {
    #[inline]
    fn around(&self, at: Moment<'_>) -> Period {
        *at.period.expect("a quota is asked with the period around now")
    }

    /// Where a clock stepped back across a boundary, the later period's end is not known; it is taken to be as long as this one.
    #[inline]
    fn end(&self, start: u64, at: Moment<'_>) -> u64 {
        let around = self.around(at);
        let (first, end) = (around.start.as_micros(), around.end.as_micros());
        start + end.saturating_sub(first)
    }
}

pub(crate) fn compile(spec: &Quota, rules: &Rules) -> Result<Counter<Calendar>, SpecError> {
    Ok(Counter { frame: Calendar, allowance: Allowance::new(spec.limit, rules)? })
}
