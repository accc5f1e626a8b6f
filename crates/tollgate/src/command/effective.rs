//! What the limits of a policy come to: how much at once, in which span, and how soon a unit is there again.

use tollgate_core::{Algorithm, Burst, Micros, Rate};
use tollgate_policy::settings::{Calendar, Class, Every, LimitSettings, Settings};
use tollgate_store::SyncMode;

/// One row of the table.
type Row = [String; 5];

/// A table of all limits, by class; nothing where there are none.
pub(crate) fn limits(settings: &Settings) -> String {
    let classes = settings
        .limits
        .iter()
        .flat_map(|limit| limit.classes.iter().map(move |class| (limit, class)));
    let row = |(limit, class): (&LimitSettings, &Class)| {
        let sync = settings.store.is_shared().then(|| sync(limit)).flatten();
        row(limit, class, sync.as_deref())
    };
    let mut rows: Vec<Row> = classes.map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    rows.insert(
        0,
        ["limit (class)", "algorithm", "at once", "window", "a unit returns"].map(str::to_owned),
    );
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 5] = std::array::from_fn(width);
    rows.iter().map(|row| line(row, &widths)).collect::<String>() + "\n"
}

fn line(row: &Row, widths: &[usize; 5]) -> String {
    let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
    format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
}

/// How nodes count a limit together, where that is not exactly.
fn sync(limit: &LimitSettings) -> Option<String> {
    Some(match limit.sync {
        SyncMode::Exact => return None,
        SyncMode::Leased => "leased".to_owned(),
        SyncMode::Estimate { every } => format!("estimate every {}", span(every)),
        SyncMode::Share => "share".to_owned(),
        SyncMode::Node => "node".to_owned(),
    })
}

fn row(limit: &LimitSettings, class: &Class, sync: Option<&str>) -> Row {
    let name = match &class.name {
        Some(class) => format!("{} ({class})", limit.name),
        None => limit.name.to_string(),
    };
    let Some(algorithm) = &class.algorithm else {
        return [name, "unlimited".to_owned(), "any".to_owned(), String::new(), String::new()];
    };
    let [kind, at_once, window, unit] = meaning(algorithm, class.calendar.as_ref());
    let kind = if limit.rules.shadow { format!("{kind}, shadow") } else { kind };
    let kind = match sync {
        Some(word) => format!("{kind}, {word}"),
        None => kind,
    };
    [name, kind, at_once, window, unit]
}

/// Algorithm, capacity, window, and when a unit is there again.
fn meaning(algorithm: &Algorithm, calendar: Option<&Calendar>) -> [String; 4] {
    let cells = |kind: &str, limit: u64, window: String, unit: String| {
        [kind.to_owned(), limit.to_string(), window, unit]
    };
    match algorithm {
        Algorithm::TokenBucket(bucket) => {
            let full = match bucket.burst {
                Burst::Units(units) => filling(bucket.rate, units),
                Burst::Span(time) => span(time),
            };
            let burst = match bucket.burst {
                Burst::Units(units) => units.to_string(),
                Burst::Span(time) => brought(bucket.rate, time),
            };
            ["token_bucket".to_owned(), burst, format!("full in {full}"), unit(bucket.rate)]
        }
        Algorithm::LeakyBucket(bucket) => {
            let kind =
                if bucket.nodelay { "leaky_bucket, nodelay" } else { "leaky_bucket, delays" };
            let wait = bucket
                .max_wait
                .map_or_else(String::new, |wait| format!("waits up to {}", span(wait)));
            cells(kind, bucket.burst.saturating_add(1), wait, unit(bucket.rate))
        }
        Algorithm::FixedWindow(fixed) => {
            cells("fixed_window", fixed.limit, span(fixed.window), "at the window's end".to_owned())
        }
        Algorithm::SlidingWindow(sliding) => {
            let kind = format!("sliding_window, {} cells", sliding.cells);
            let kind = if sliding.cells == 1 { "sliding_window".to_owned() } else { kind };
            cells(&kind, sliding.limit, span(sliding.window), "as its cell leaves".to_owned())
        }
        Algorithm::SlidingLog(log) => {
            let window = span(log.window);
            cells("sliding_log", log.limit, window.clone(), format!("after {window}"))
        }
        Algorithm::Quota(quota) => {
            let period = calendar.map_or_else(String::new, period);
            cells("quota", quota.limit, period, "with the next period".to_owned())
        }
        Algorithm::Concurrency(slots) => {
            let ttl = format!("at its end, {} at the latest", span(slots.ttl));
            cells("concurrency", slots.limit, String::new(), ttl)
        }
    }
}

/// How long one unit takes to come.
fn unit(rate: Rate) -> String {
    if rate.count == 0 { "never".to_owned() } else { format!("in {}", filling(rate, 1)) }
}

/// How long `units` take to come, rounded up to the microsecond.
fn filling(rate: Rate, units: u64) -> String {
    let micros = (u128::from(units) * u128::from(rate.per.get()))
        .checked_add(u128::from(rate.count).saturating_sub(1));
    let micros = micros.and_then(|micros| micros.checked_div(u128::from(rate.count)));
    match micros.map(u64::try_from) {
        Some(Ok(micros)) => span(Micros::new(micros)),
        Some(Err(_)) => "longer than anybody waits".to_owned(),
        None => "never".to_owned(),
    }
}

/// How many whole units come in `time`.
fn brought(rate: Rate, time: Micros) -> String {
    let units = u128::from(rate.count) * u128::from(time.get()) / u128::from(rate.per.get().max(1));
    units.to_string()
}

fn period(calendar: &Calendar) -> String {
    let zone = &calendar.time_zone;
    match calendar.every {
        Every::Hour => "hour".to_owned(),
        Every::Day => format!("day in {zone}"),
        Every::Week => format!("week in {zone}"),
        Every::Month => format!("month from day {} in {zone}", calendar.starts),
    }
}

/// A span in the units of the policy file, such as `1h30m`.
fn span(span: Micros) -> String {
    const UNITS: [(u64, &str); 6] = [
        (86_400_000_000, "d"),
        (3_600_000_000, "h"),
        (60_000_000, "m"),
        (1_000_000, "s"),
        (1_000, "ms"),
        (1, "us"),
    ];
    let mut rest = span.get();
    let mut text = String::new();
    for (size, unit) in UNITS {
        if rest >= size {
            text += &format!("{}{unit}", rest / size);
            rest %= size;
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_written_as_in_a_policy() {
        for (micros, text) in
            [(0, "0s"), (90_000_000, "1m30s"), (1, "1us"), (86_400_000_001, "1d1us")]
        {
            assert_eq!(span(Micros::new(micros)), text);
        }
    }

    #[test]
    fn a_unit_returns_after_the_rates_share() {
        let rate = |count, seconds| Rate { count, per: Micros::from_secs(seconds) };
        assert_eq!(unit(rate(50, 1)), "in 20ms");
        assert_eq!(unit(rate(3, 1)), "in 333ms334us", "rounded up");
        assert_eq!(unit(rate(0, 1)), "never");
        assert_eq!(filling(rate(50, 1), 100), "2s");
        assert_eq!(brought(rate(1, 3), Micros::from_secs(10)), "3");
    }
}
