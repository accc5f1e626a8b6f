//! The parameters of each algorithm.

use super::Random;
use super::spans::Theme;
use crate::model::policy::{Algorithm, Burst, Every, MaxWait, Rate};

/// Longest time that a bucket may take to fill, with its debt: some three thousand years, in microseconds.
const LONGEST_FILL: i128 = 100_000_000_000_000_000;

/// A leaky bucket that may queue for longer than this must say `max_wait`.
const UNBOUNDED_QUEUE: i128 = 60_000_000;

const ZONES: [&str; 12] = [
    "UTC",
    "America/New_York",
    "America/Santiago",
    "Europe/Berlin",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "America/St_Johns",
    "Africa/Cairo",
    "Asia/Beirut",
    "Pacific/Kiritimati",
    "America/Havana",
];

/// Which algorithm; two sets of parameters of one kind may be classes of one limit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    TokenBucket,
    LeakyBucket,
    FixedWindow,
    SlidingWindow,
    SlidingLog,
    Quota,
    Concurrency,
}

/// All of them.
pub(crate) const KINDS: [Kind; 7] = [
    Kind::TokenBucket,
    Kind::LeakyBucket,
    Kind::FixedWindow,
    Kind::SlidingWindow,
    Kind::SlidingLog,
    Kind::Quota,
    Kind::Concurrency,
];

/// Parameters of that kind.
pub(crate) fn algorithm(kind: Kind, theme: Theme, random: &mut Random) -> Algorithm {
    match kind {
        Kind::TokenBucket => token_bucket(theme, random),
        Kind::LeakyBucket => leaky_bucket(theme, random),
        Kind::FixedWindow => {
            Algorithm::FixedWindow { limit: limit(random), window: theme.span(random) }
        }
        Kind::SlidingWindow => sliding_window(theme, random),
        Kind::SlidingLog => {
            Algorithm::SlidingLog { limit: limit(random).min(10_000), window: theme.span(random) }
        }
        Kind::Quota => quota(random),
        Kind::Concurrency => {
            Algorithm::Concurrency { limit: limit(random).min(1_000), ttl: theme.span(random) }
        }
    }
}

fn limit(random: &mut Random) -> u64 {
    match random.within(0, 99) {
        0..=1 => 0,
        2..=69 => random.within(1, 12),
        70..=89 => random.within(13, 300),
        90..=96 => random.within(301, 1_000_000),
        97..=98 => random.within(1_000_000, 1_000_000_000_000),
        _ => random.within(1, 999_999_999_999_999),
    }
}

fn token_bucket(theme: Theme, random: &mut Random) -> Algorithm {
    if random.chance(3) {
        let rate = Rate { count: 0, per_micros: 1_000_000, text: "0/s".to_owned() };
        return Algorithm::TokenBucket {
            rate,
            burst: Burst::Default,
            starts_empty: random.chance(20),
        };
    }
    let rate = theme.rate(random);
    let burst = match random.within(0, 9) {
        0..=3 => Burst::Default,
        4..=7 => Burst::Units(burst(&rate, random).max(1)),
        _ => span_of_rate(theme, random),
    };
    Algorithm::TokenBucket { rate, burst, starts_empty: random.chance(15) }
}

/// A burst as a time: it may be a fraction of a unit.
fn span_of_rate(theme: Theme, random: &mut Random) -> Burst {
    Burst::Span(theme.span(random))
}

fn leaky_bucket(theme: Theme, random: &mut Random) -> Algorithm {
    if random.chance(3) {
        let rate = Rate { count: 0, per_micros: 1_000_000, text: "0/s".to_owned() };
        return Algorithm::LeakyBucket { rate, burst: 0, nodelay: true, max_wait: MaxWait::None };
    }
    let rate = theme.rate(random);
    let burst = burst(&rate, random);
    let nodelay = random.chance(35);
    let longest = i128::from(burst + 1) * i128::from(rate.per_micros) / i128::from(rate.count);
    let max_wait = match random.within(0, 9) {
        _ if nodelay => MaxWait::None,
        0..=4 if longest < UNBOUNDED_QUEUE => MaxWait::None,
        0..=5 => MaxWait::Unlimited,
        _ => MaxWait::At(theme.span(random)),
    };
    Algorithm::LeakyBucket { rate, burst, nodelay, max_wait }
}

fn burst(rate: &Rate, random: &mut Random) -> u64 {
    let wished = match random.within(0, 9) {
        0 => 0,
        1..=6 => random.within(0, 12),
        7..=8 => random.within(13, 2_000),
        _ => random.within(2_000, 5_000_000_000),
    };
    let fits = LONGEST_FILL / 3 * i128::from(rate.count) / i128::from(rate.per_micros);
    wished.min(u64::try_from(fits).unwrap_or(u64::MAX))
}

fn sliding_window(theme: Theme, random: &mut Random) -> Algorithm {
    let window = theme.span(random);
    let cells = if random.chance(40) { 1 } else { random.within(1, 100) };
    let divides = window.micros % cells as i64 == 0;
    Algorithm::SlidingWindow {
        limit: limit(random),
        window,
        cells: if divides { cells } else { 10 },
    }
}

fn quota(random: &mut Random) -> Algorithm {
    let every = random.pick(&[
        Every::Hour,
        Every::Day,
        Every::Day,
        Every::Week,
        Every::Month,
        Every::Month,
    ]);
    let zone = match every {
        Every::Hour => None,
        _ => random.chance(75).then(|| random.pick(&ZONES)),
    };
    let starts = (every == Every::Month && random.chance(60)).then(|| random.signed(1, 31) as i8);
    Algorithm::Quota { limit: limit(random), every, zone, starts }
}
