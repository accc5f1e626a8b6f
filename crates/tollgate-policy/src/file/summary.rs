//! A policy's limits in words, with what they come to: for `tollgate validate`.

use std::fmt::Write as _;

use tollgate_core::{Algorithm, Burst, Micros, TokenBucket};

use super::duration::format_duration;
use super::rate::format_rate;
use crate::settings::{Calendar, Class, Every, IdentityRef, LimitSettings, Settings};

/// One line a limit and class: name, key, algorithm and effective parameters. Ends with a line break.
pub(crate) fn summary(settings: &Settings) -> String {
    let mut out = String::new();
    for limit in &settings.limits {
        let key: Vec<&str> = limit.key.iter().map(|name| identity(*name, settings)).collect();
        let whom = match key.as_slice() {
            [] => "one bucket for everybody".to_owned(),
            key => format!("for each {}", key.join(" + ")),
        };
        let by = limit.by.map(|by| format!(", by {}", identity(by, settings))).unwrap_or_default();
        let _ = writeln!(out, "{}: {whom}{by}{}", limit.name, rules(limit));
        for class in &limit.classes {
            let name = class.name.as_deref().map(|name| format!("{name}: ")).unwrap_or_default();
            let _ = writeln!(out, "  {name}{}", parameters(class));
        }
    }
    let (limits, routes) = (settings.limits.len(), settings.routes.len());
    let _ = writeln!(out, "{} and {}", counted(limits, "limit"), counted(routes, "route"));
    out
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn identity(of: IdentityRef, settings: &Settings) -> &str {
    match of {
        IdentityRef::Ip => "ip",
        IdentityRef::Declared(place) => settings.identities.get(place).map_or("?", |id| &id.name),
    }
}

fn rules(limit: &LimitSettings) -> String {
    let mut words = String::new();
    for (on, word) in [
        (limit.rules.shadow, "shadow"),
        (limit.rules.count_refused, "counts refused"),
        (limit.rules.overdraw, "overdraws"),
        (limit.charge_when.is_some(), "charged by status"),
    ] {
        if on {
            let _ = write!(words, ", {word}");
        }
    }
    words
}

fn parameters(class: &Class) -> String {
    let span = |span: Micros| format_duration(span);
    match &class.algorithm {
        None => "unlimited".to_owned(),
        Some(Algorithm::TokenBucket(bucket)) => token_bucket(bucket),
        Some(Algorithm::LeakyBucket(bucket)) => {
            let mut words = format!("leaky bucket of {}", format_rate(bucket.rate));
            let _ = match (bucket.nodelay, bucket.burst) {
                (true, burst) => write!(words, ", {} at once, none waits", u128::from(burst) + 1),
                (false, 0) => write!(words, ", none waits"),
                (false, burst) => write!(words, ", {burst} may wait"),
            };
            if let Some(wait) = bucket.max_wait {
                let _ = write!(words, ", at most {}", span(wait));
            }
            words
        }
        Some(Algorithm::FixedWindow(w)) => {
            format!("fixed window of {} per {}", w.limit, span(w.window))
        }
        Some(Algorithm::SlidingWindow(w)) if w.cells > 1 => {
            format!("sliding window of {} per {} in {} cells", w.limit, span(w.window), w.cells)
        }
        Some(Algorithm::SlidingWindow(w)) => {
            format!("sliding window of {} per {}", w.limit, span(w.window))
        }
        Some(Algorithm::SlidingLog(w)) => {
            format!("sliding log of {} per {}", w.limit, span(w.window))
        }
        Some(Algorithm::Quota(quota)) => calendar(quota.limit, class.calendar.as_ref()),
        Some(Algorithm::Concurrency(slots)) => {
            format!("{} at the same time, each for at most {}", slots.limit, span(slots.ttl))
        }
    }
}

fn token_bucket(bucket: &TokenBucket) -> String {
    let capacity = match bucket.burst {
        Burst::Units(units) => units.to_string(),
        Burst::Span(span) => {
            let (count, per) = (u128::from(bucket.rate.count), u128::from(bucket.rate.per.get()));
            let product = u128::from(span.get()) * count;
            let capacity = product.checked_div(per).unwrap_or(0);
            format!("{capacity} ({} of the rate)", format_duration(span))
        }
    };
    let start = if bucket.empty_at.is_some() { ", starts empty" } else { "" };
    format!("token bucket of {}, capacity {capacity}{start}", format_rate(bucket.rate))
}

fn calendar(limit: u64, calendar: Option<&Calendar>) -> String {
    let Some(calendar) = calendar else { return format!("quota of {limit}") };
    let every = match calendar.every {
        Every::Hour => "hour",
        Every::Day => "day",
        Every::Week => "week",
        Every::Month => "month",
    };
    let from = match calendar.starts {
        1 => String::new(),
        day => format!(" from day {day}"),
    };
    format!("quota of {limit} a {every}{from}, {}", calendar.time_zone)
}
