//! The leaky bucket: nginx's `limit_req`, in exact arithmetic. Requests leave at a rate; `burst` of them may wait behind
//! the one that is being served.

use crate::plan::Plan;
use crate::ticks::{Manner, Size, Ticks};
use crate::{LeakyBucket, Micros, Rules, SpecError};

pub(crate) fn compile(spec: &LeakyBucket, rules: &Rules) -> Result<Plan, SpecError> {
    if spec.rate.per == Micros::ZERO {
        return Err(SpecError::ZeroSpan { parameter: "per" });
    }
    if spec.rate.count == 0 {
        return Ok(Plan::Closed);
    }
    let ticks = Ticks::of(spec.rate);
    // The burst and the one being served: below 2^128, since each factor is at most 2^64 and one of them less.
    let capacity = ticks.units(spec.burst) + ticks.units(1);
    let max_wait = spec.max_wait.filter(|_| !spec.nodelay).map(|wait| ticks.micros(wait.get()));
    let manner = Manner { max_wait, delays: !spec.nodelay, ..Manner::default() };
    Ok(Size::new(ticks, capacity, rules)?.plan(&manner))
}
