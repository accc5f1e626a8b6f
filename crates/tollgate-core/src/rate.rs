//! Rates and bursts: whole numbers over a span.

use crate::Micros;

/// `count` units per `per`; exact, never a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    /// Units gained every `per`. 0 refuses everything.
    pub count: u64,
    /// The span; not zero.
    pub per: Micros,
}

/// How much a token bucket holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Burst {
    /// That many units.
    Units(u64),
    /// What the rate brings in this span (`burst: 2s` is rate * 2 s; may be a fraction of a unit).
    Span(Micros),
}
