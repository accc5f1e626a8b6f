//! What the scripts can compute exactly. Lua's numbers are doubles: whole numbers up to 2^53.

use std::fmt;

use tollgate_core::{Algorithm, Burst, Limit, Rate};

/// Spans in microseconds, moments, counts and numerators stay below 2^52, so that any two of them add up exactly. Moments
/// are below that until the year 2112.
pub(crate) const MOST: u64 = 1 << 52;

/// Why a limit cannot be counted in the shared store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    what: &'static str,
    value: u128,
    instead: &'static str,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unsupported { what, value, instead } = self;
        write!(
            f,
            "{what} is {value}, and scripts of the shared store are exact below {MOST} (2^52) only; {instead}, or count it \
             with `sync: node` or in a memory store"
        )
    }
}

impl std::error::Error for Unsupported {}

/// A bucket in ticks of 1/n microsecond, where n/P is its rate in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticks {
    /// n.
    pub(crate) per_micro: u64,
    /// P: ticks in a unit.
    pub(crate) unit: u64,
    /// What it holds.
    pub(crate) capacity: u128,
    /// What it holds and the deepest debt.
    pub(crate) ceiling: u128,
}

impl Ticks {
    /// The ticks of a bucket; `None` where `limit` is none, or holds nothing.
    pub(crate) fn of(limit: &Limit) -> Option<Ticks> {
        let (rate, burst) = match limit.algorithm() {
            Algorithm::TokenBucket(spec) => (spec.rate, spec.burst),
            // Core has checked that this one more is no overflow of ticks; beyond 64 bits it has refused the limit.
            Algorithm::LeakyBucket(spec) => (spec.rate, Burst::Units(spec.burst.saturating_add(1))),
            _ => return None,
        };
        if rate.count == 0 {
            return None;
        }
        let (per_micro, unit) = lowest_terms(rate);
        let capacity = match burst {
            Burst::Units(units) => u128::from(units) * u128::from(unit),
            Burst::Span(span) => u128::from(span.get()) * u128::from(per_micro),
        };
        let debt = match limit.rules().max_debt {
            Some(units) => u128::from(units) * u128::from(unit),
            None => capacity,
        };
        let ceiling = capacity.saturating_add(debt);
        (capacity > 0).then_some(Ticks { per_micro, unit, capacity, ceiling })
    }

    /// Whole microseconds, and the ticks beyond.
    pub(crate) fn split(&self, ticks: u128) -> [f64; 2] {
        let n = u128::from(self.per_micro);
        [(ticks / n) as f64, (ticks % n) as f64]
    }

    fn check(&self) -> Result<(), Unsupported> {
        let numerator = "the rate's count in lowest terms with its span in microseconds";
        within(
            numerator,
            self.per_micro.into(),
            "write a rate of fewer units over a shorter span",
        )?;
        let span = "the time in microseconds in which the burst and the deepest debt refill";
        within(span, self.ceiling / u128::from(self.per_micro), "use a smaller burst or max_debt")
    }
}

/// Whether the scripts count `limit` exactly.
pub(crate) fn check(limit: &Limit) -> Result<(), Unsupported> {
    let (units, span) = match limit.algorithm() {
        Algorithm::TokenBucket(_) | Algorithm::LeakyBucket(_) => {
            return Ticks::of(limit).map_or(Ok(()), |ticks| ticks.check());
        }
        Algorithm::FixedWindow(spec) => (spec.limit, spec.window.get()),
        Algorithm::SlidingWindow(spec) => (spec.limit, spec.window.get()),
        Algorithm::SlidingLog(spec) => (spec.limit, spec.window.get()),
        Algorithm::Quota(spec) => (spec.limit, 0),
        Algorithm::Concurrency(spec) => (spec.limit, spec.ttl.get().saturating_mul(2)),
    };
    within("the limit and its deepest debt", most(limit, units).into(), "use a lower limit")?;
    within("the span in microseconds", span.into(), "use a shorter one")
}

/// The most units that a counting limit of `units` can have counted.
pub(crate) fn most(limit: &Limit, units: u64) -> u64 {
    let debt = if units == 0 { 0 } else { limit.rules().max_debt.unwrap_or(units) };
    units.saturating_add(debt)
}

fn within(what: &'static str, value: u128, instead: &'static str) -> Result<(), Unsupported> {
    if value < u128::from(MOST) { Ok(()) } else { Err(Unsupported { what, value, instead }) }
}

fn lowest_terms(rate: Rate) -> (u64, u64) {
    let (mut a, mut b) = (rate.count, rate.per.get());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    let divisor = a.max(1);
    (rate.count / divisor, rate.per.get() / divisor)
}
