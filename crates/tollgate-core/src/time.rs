//! Moments and spans, in whole microseconds.

/// A moment: microseconds since the Unix epoch, at most [`Timestamp::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The Unix epoch.
    pub const EPOCH: Timestamp = Timestamp(0);
    /// The last moment that Tollgate knows: 2^53 - 1 microseconds, in the year 2255. Every moment is exact in a double
    /// as well, and times the reduced numerator of a rate up to 2^10 stays below 2^63.
    pub const MAX: Timestamp = Timestamp((1 << 53) - 1);

    /// The moment `micros` microseconds after the epoch, or the last one that there is.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Timestamp {
        if micros > Timestamp::MAX.0 { Timestamp::MAX } else { Timestamp(micros) }
    }

    /// Microseconds since the epoch.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }
}

/// A span of time: whole microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Micros(u64);

impl Micros {
    /// No time at all.
    pub const ZERO: Micros = Micros(0);

    /// A span of `micros` microseconds.
    #[must_use]
    pub const fn new(micros: u64) -> Micros {
        Micros(micros)
    }

    /// A span of `seconds` whole seconds, or the longest there is.
    #[must_use]
    pub const fn from_secs(seconds: u64) -> Micros {
        Micros(seconds.saturating_mul(1_000_000))
    }

    /// The microseconds.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Whole seconds, rounded up: what a client is told to wait.
    #[must_use]
    pub const fn ceil_secs(self) -> u64 {
        self.0.div_ceil(1_000_000)
    }
}

/// The calendar period around now, for a [`Quota`](crate::Quota): from `start` up to but not including `end`.
///
/// Zone arithmetic needs a tz database, so a caller above this crate does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// Its first moment.
    pub start: Timestamp,
    /// The first moment of the next period.
    pub end: Timestamp,
}
