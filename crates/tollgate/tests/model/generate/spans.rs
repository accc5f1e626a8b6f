//! Durations and rates as a policy file spells them.

use super::Random;
use crate::model::policy::{Rate, Span};

/// A duration's spelling and its microseconds.
type Spelt = (&'static str, i64);

/// From short to long.
const SPANS: [Spelt; 24] = [
    ("1ms", 1_000),
    ("500us", 500),
    ("7ms", 7_000),
    ("250ms", 250_000),
    ("100ms", 100_000),
    ("1s", 1_000_000),
    ("3s", 3_000_000),
    ("7s", 7_000_000),
    ("10s", 10_000_000),
    ("11s", 11_000_000),
    ("1m", 60_000_000),
    ("60s", 60_000_000),
    ("1m30s", 90_000_000),
    ("10m", 600_000_000),
    ("1h", 3_600_000_000),
    ("1h30m", 5_400_000_000),
    ("7h", 25_200_000_000),
    ("1d", 86_400_000_000),
    ("36h", 129_600_000_000),
    ("1w", 604_800_000_000),
    ("10d", 864_000_000_000),
    ("30d", 2_592_000_000_000),
    ("365d", 31_536_000_000_000),
    ("1y", 31_536_000_000_000),
];

const UNITS: [Spelt; 16] = [
    ("s", 1_000_000),
    ("sec", 1_000_000),
    ("second", 1_000_000),
    ("m", 60_000_000),
    ("min", 60_000_000),
    ("minute", 60_000_000),
    ("h", 3_600_000_000),
    ("hour", 3_600_000_000),
    ("d", 86_400_000_000),
    ("day", 86_400_000_000),
    ("w", 604_800_000_000),
    ("week", 604_800_000_000),
    ("y", 31_536_000_000_000),
    ("year", 31_536_000_000_000),
    ("s", 1_000_000),
    ("m", 60_000_000),
];

/// Rates whose steps are no whole number of microseconds, or less than one.
const UGLY: [(u64, Spelt); 12] = [
    (7, ("11s", 11_000_000)),
    (16_411, UNITS[0]),
    (999_999_937, UNITS[0]),
    (1_000_000_000, UNITS[0]),
    (700, UNITS[5]),
    (120_000, UNITS[5]),
    (1, UNITS[12]),
    (1, UNITS[9]),
    (3, UNITS[0]),
    (65_537, UNITS[7]),
    (1_000_003, ("1y", 31_536_000_000_000)),
    (997, ("1h30m", 5_400_000_000)),
];

/// What the limits of one policy have in common: about how long their spans are.
#[derive(Clone, Copy)]
pub(crate) struct Theme(usize);

impl Theme {
    /// Any.
    pub(crate) fn any(random: &mut Random) -> Self {
        Self(random.within(0, SPANS.len() as u64 - 1) as usize)
    }

    /// A span near it, sometimes any.
    pub(crate) fn span(self, random: &mut Random) -> Span {
        let far = if random.chance(10) { SPANS.len() } else { 3 };
        let (low, high) = (self.0.saturating_sub(far), (self.0 + far).min(SPANS.len() - 1));
        let (text, micros) = SPANS[random.within(low as u64, high as u64) as usize];
        Span { micros, text: text.to_owned() }
    }

    /// A rate near it, sometimes any.
    pub(crate) fn rate(self, random: &mut Random) -> Rate {
        if random.chance(25) {
            let (count, per) = random.pick(&UGLY);
            return rate(count, per);
        }
        if random.chance(20) {
            let unit = random.pick(&UNITS);
            return rate(small_or_large(random), unit);
        }
        let span = self.span(random);
        let count = small_or_large(random);
        Rate { count, per_micros: span.micros, text: format!("{count} per {}", span.text) }
    }
}

fn rate(count: u64, (unit, per_micros): Spelt) -> Rate {
    let counted = unit.starts_with(|c: char| c.is_ascii_digit());
    let text = if counted { format!("{count} per {unit}") } else { format!("{count}/{unit}") };
    Rate { count, per_micros, text }
}

fn small_or_large(random: &mut Random) -> u64 {
    if random.chance(80) { random.within(1, 12) } else { random.within(13, 1_500) }
}
