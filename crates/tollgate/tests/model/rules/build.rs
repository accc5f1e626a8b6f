//! Parameters to the state of a key that was never seen.

use crate::model::counters::{
    Calendar, Cells, Counter, LeakyBucket, Periods, SlidingLog, Slots, TokenBucket,
};
use crate::model::policy::{Algorithm, Burst, MaxWait, Rate};
use crate::model::rational::{Rat, ratio, whole};

/// Units a microsecond.
fn per_micro(rate: &Rate) -> Rat {
    ratio(rate.count, rate.per_micros)
}

/// A new key's state at `now`, in a trace whose first request was at `first`.
pub(crate) fn counter(
    algorithm: &Algorithm,
    calendar: Option<&Calendar>,
    first: i64,
    now: i64,
) -> Box<dyn Counter> {
    match algorithm {
        Algorithm::TokenBucket { rate, burst, starts_empty } => {
            let capacity = match burst {
                Burst::Default => whole(rate.count),
                Burst::Units(units) => whole(*units),
                Burst::Span(span) => per_micro(rate) * whole(span.micros),
            };
            let (level, at) =
                if *starts_empty { (whole(0), first) } else { (capacity.clone(), now) };
            Box::new(TokenBucket::new(per_micro(rate), capacity, level, at))
        }
        Algorithm::LeakyBucket { rate, burst, nodelay, max_wait } => {
            let step = (rate.count > 0).then(|| per_micro(rate).recip());
            let max_wait = match max_wait {
                MaxWait::None | MaxWait::Unlimited => None,
                MaxWait::At(span) => Some(whole(span.micros)),
            };
            Box::new(LeakyBucket::new(step, *burst, *nodelay, max_wait, now))
        }
        Algorithm::FixedWindow { limit, window } => Box::new(Cells::fixed(*limit, window.micros)),
        Algorithm::SlidingWindow { limit, window, cells } => {
            let cells = i64::try_from(*cells).expect("100 at most");
            Box::new(Cells::sliding(*limit, window.micros, cells))
        }
        Algorithm::SlidingLog { limit, window } => Box::new(SlidingLog::new(*limit, window.micros)),
        Algorithm::Quota { limit, .. } => {
            Box::new(Periods::new(*limit, calendar.expect("a quota has a calendar").clone()))
        }
        Algorithm::Concurrency { limit, .. } => Box::new(Slots::new(*limit)),
    }
}

/// The calendar of a quota.
pub(crate) fn calendar(algorithm: &Algorithm) -> Option<Calendar> {
    match algorithm {
        Algorithm::Quota { every, zone, starts, .. } => {
            Some(Calendar::new(*every, zone.unwrap_or("UTC"), starts.unwrap_or(1)))
        }
        _ => None,
    }
}
