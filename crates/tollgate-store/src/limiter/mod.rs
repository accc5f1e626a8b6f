//! One-limit forms for a Rust service: a limiter for everybody, and one by key.

mod direct;
mod keyed;

use std::fmt;

use tollgate_core::{Algorithm, Limit, Retry};

pub use direct::DirectLimiter;
pub use keyed::KeyedLimiter;

/// A limiter's refusal. Nothing was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// When the same request would be admitted, if nothing else came.
    pub retry: Retry,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.retry {
            Retry::After(span) => write!(f, "over the limit; admitted after {} us", span.get()),
            Retry::Never => write!(f, "over what the limit could ever admit"),
        }
    }
}

impl std::error::Error for Refused {}

/// A limit that a one-limit form cannot serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnsupportedLimit {
    /// Its slots are given back, which needs a [`MemoryStore`](crate::MemoryStore).
    Concurrency,
    /// Its periods come with each request, which needs a [`MemoryStore`](crate::MemoryStore).
    Quota,
}

impl fmt::Display for UnsupportedLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, why) = match self {
            UnsupportedLimit::Concurrency => ("concurrency limit", "gives its slots back"),
            UnsupportedLimit::Quota => ("quota", "needs the calendar's period with each request"),
        };
        write!(f, "a {what} {why}: use it with a MemoryStore")
    }
}

impl std::error::Error for UnsupportedLimit {}

/// Whether a one-limit form can serve `limit`.
fn supported(limit: &Limit) -> Result<(), UnsupportedLimit> {
    match limit.algorithm() {
        Algorithm::Concurrency(_) => Err(UnsupportedLimit::Concurrency),
        Algorithm::Quota(_) => Err(UnsupportedLimit::Quota),
        _ => Ok(()),
    }
}
