//! The token bucket: a level that grows by a rate up to a burst, and is taken from.

use crate::plan::Plan;
use crate::ticks::{Manner, Size, Ticks};
use crate::{Burst, Micros, Rules, SpecError, TokenBucket};

pub(crate) fn compile(spec: &TokenBucket, rules: &Rules) -> Result<Plan, SpecError> {
    if spec.rate.per == Micros::ZERO {
        return Err(SpecError::ZeroSpan { parameter: "per" });
    }
    if spec.rate.count == 0 {
        return Ok(Plan::Closed);
    }
    let ticks = Ticks::of(spec.rate);
    let capacity = match spec.burst {
        Burst::Units(units) => ticks.units(units),
        Burst::Span(span) => ticks.micros(span.get()),
    };
    let manner = Manner { empty_at: spec.empty_at, overdraw: rules.overdraw, ..Manner::default() };
    Ok(Size::new(ticks, capacity, rules)?.plan(&manner))
}
