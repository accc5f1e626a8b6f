//! What the scripts can compute exactly. Lua's numbers are doubles: whole numbers up to 2^53.

use std::fmt;

use tollgate_core::{Algorithm, BucketTicks, Limit};

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

/// Numbers of a bucket as scripts take them.
pub(crate) trait Split {
    /// Whole microseconds, and the ticks beyond.
    fn split(&self, ticks: u128) -> [f64; 2];
}

impl Split for BucketTicks {
    fn split(&self, ticks: u128) -> [f64; 2] {
        let n = u128::from(self.per_micro);
        [(ticks / n) as f64, (ticks % n) as f64]
    }
}

/// Whether the scripts count `limit` exactly.
pub(crate) fn check(limit: &Limit) -> Result<(), Unsupported> {
    let span = match limit.algorithm() {
        Algorithm::TokenBucket(_) | Algorithm::LeakyBucket(_) => {
            return limit.bucket_ticks().map_or(Ok(()), check_bucket);
        }
        Algorithm::FixedWindow(spec) => spec.window.get(),
        Algorithm::SlidingWindow(spec) => spec.window.get(),
        Algorithm::SlidingLog(spec) => spec.window.get(),
        Algorithm::Quota(_) => 0,
        Algorithm::Concurrency(spec) => spec.ttl.get().saturating_mul(2),
    };
    within("the limit and its deepest debt", limit.most().into(), "use a lower limit")?;
    within("the span in microseconds", span.into(), "use a shorter one")
}

fn check_bucket(ticks: BucketTicks) -> Result<(), Unsupported> {
    let numerator = "the rate's count in lowest terms with its span in microseconds";
    let instead = "write a rate of fewer units over a shorter span";
    within(numerator, ticks.per_micro.into(), instead)?;
    let span = "the time in microseconds in which the burst and the deepest debt refill";
    within(span, ticks.ceiling / u128::from(ticks.per_micro), "use a smaller burst or max_debt")
}

fn within(what: &'static str, value: u128, instead: &'static str) -> Result<(), Unsupported> {
    if value < u128::from(MOST) { Ok(()) } else { Err(Unsupported { what, value, instead }) }
}
