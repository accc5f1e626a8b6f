//! What a limit allows, in plain words: for the `detail` of a refusal.

use tollgate_core::{Algorithm, Burst, Micros, Rate};
use tollgate_policy::settings::{Calendar, Class, Every};

/// What `class` allows, to stand after "allows": `30 in any minute`.
pub(crate) fn in_words(class: &Class) -> String {
    let Some(algorithm) = &class.algorithm else { return "any number".to_owned() };
    match algorithm {
        Algorithm::TokenBucket(bucket) => {
            format!("{}, and {} at once", rate(bucket.rate), burst(bucket.burst))
        }
        Algorithm::LeakyBucket(bucket) if bucket.nodelay => {
            format!("{}, and {} at once", rate(bucket.rate), u128::from(bucket.burst) + 1)
        }
        Algorithm::LeakyBucket(bucket) => {
            format!("{}, and {} that wait for their turn", rate(bucket.rate), bucket.burst)
        }
        Algorithm::FixedWindow(fixed) => format!("{} in each {}", fixed.limit, span(fixed.window)),
        Algorithm::SlidingWindow(sliding) => {
            format!("{} in any {}", sliding.limit, span(sliding.window))
        }
        Algorithm::SlidingLog(log) => format!("{} in any {}", log.limit, span(log.window)),
        Algorithm::Quota(quota) => match &class.calendar {
            Some(calendar) => format!("{} {}", quota.limit, period(calendar)),
            None => format!("{} in each period", quota.limit),
        },
        Algorithm::Concurrency(slots) => format!("{} at the same time", slots.limit),
    }
}

fn rate(rate: Rate) -> String {
    format!("{} every {}", rate.count, span(rate.per))
}

fn burst(burst: Burst) -> String {
    match burst {
        Burst::Units(units) => units.to_string(),
        Burst::Span(time) => format!("what {} bring", span(time)),
    }
}

fn period(calendar: &Calendar) -> String {
    match calendar.every {
        Every::Hour => "in each hour".to_owned(),
        Every::Day => format!("a day ({})", calendar.time_zone),
        Every::Week => format!("a week, from Monday ({})", calendar.time_zone),
        Every::Month => format!("a month, from day {} ({})", calendar.starts, calendar.time_zone),
    }
}

/// A span, after "every", in the largest unit of which it is a whole number: `minute`, `90 seconds`.
fn span(span: Micros) -> String {
    const UNITS: [(u64, &str); 6] = [
        (86_400_000_000, "day"),
        (3_600_000_000, "hour"),
        (60_000_000, "minute"),
        (1_000_000, "second"),
        (1_000, "millisecond"),
        (1, "microsecond"),
    ];
    let micros = span.get();
    let (unit, name) = UNITS
        .into_iter()
        .find(|(unit, _)| micros >= *unit && micros.is_multiple_of(*unit))
        .unwrap_or((1, "microsecond"));
    let count = micros / unit;
    if count == 1 { name.to_owned() } else { format!("{count} {name}s") }
}
