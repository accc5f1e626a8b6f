//! What a person may ask for: the algorithms and their parameters, as plain data, not yet checked.

use crate::{Burst, Micros, Rate};

/// One algorithm with its parameters; [`Limit::new`](crate::Limit::new) checks and compiles it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Level grows by a rate, up to a burst.
    TokenBucket(TokenBucket),
    /// nginx's `limit_req` in exact arithmetic.
    LeakyBucket(LeakyBucket),
    /// Counts in windows aligned to the epoch.
    FixedWindow(FixedWindow),
    /// Counts in cells; the oldest weighs by its share still inside.
    SlidingWindow(SlidingWindow),
    /// Remembers every admission of the last window.
    SlidingLog(SlidingLog),
    /// Counts in calendar periods.
    Quota(Quota),
    /// Slots held from admission to release.
    Concurrency(Concurrency),
}

/// Parameters of a token bucket.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TokenBucket {
    /// How fast the level grows.
    pub rate: Rate,
    /// The highest level.
    pub burst: Burst,
    /// `Some(t)`: `initial: empty`, every key's level was 0 at `t`, when the limit was first loaded. `None`: starts full.
    pub empty_at: Option<crate::Timestamp>,
}

/// Parameters of a leaky bucket.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LeakyBucket {
    /// How fast requests leave.
    pub rate: Rate,
    /// How many may wait behind the one being served.
    pub burst: u64,
    /// Waiting ones leave at once.
    pub nodelay: bool,
    /// The longest wait that is admitted; `None` is unlimited.
    pub max_wait: Option<Micros>,
}

/// Parameters of a fixed window.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FixedWindow {
    /// Units a window.
    pub limit: u64,
    /// The window; not zero.
    pub window: Micros,
}

/// Parameters of a sliding window.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SlidingWindow {
    /// Units a window.
    pub limit: u64,
    /// The window; not zero, divisible by `cells`.
    pub window: Micros,
    /// In how many cells the window is cut: 1 to 100.
    pub cells: u32,
}

/// Parameters of a sliding log.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SlidingLog {
    /// Units a window, at most 10,000.
    pub limit: u64,
    /// The window; not zero.
    pub window: Micros,
}

/// Parameters of a quota. The period's bounds come with each request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Quota {
    /// Units a period.
    pub limit: u64,
}

/// Parameters of a concurrency limit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Concurrency {
    /// Slots.
    pub limit: u64,
    /// After this a slot frees itself; not zero.
    pub ttl: Micros,
}
