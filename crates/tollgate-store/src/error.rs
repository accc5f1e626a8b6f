//! Why a store gave no answer.

use std::fmt;

use tollgate_core::Timestamp;

use crate::LimitId;

/// Why a store gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreError {
    /// The call names a limit that the store does not hold (any more).
    UnknownLimit(LimitId),
    /// A charge names a quota and brings no period.
    MissingPeriod(LimitId),
    /// The shared store's clock is in another calendar period than a quota's charge brought. Nothing was taken: ask again
    /// with the period around this moment.
    OtherPeriod(Timestamp),
    /// The shared store cannot count the limit exactly, so that it does not count it at all.
    Inexact(LimitId),
    /// The call names more distinct limits and keys than one script takes.
    TooMany {
        /// As many.
        limits: usize,
        /// At most as many go.
        most: usize,
    },
    /// A replay's moment is beyond those that scripts tell apart exactly, which end in the year 2112.
    TooLate(Timestamp),
    /// There is no memory for another key, nor for the bucket that stands in for it.
    OutOfMemory(LimitId),
    /// The shared store did not say. What was asked may have happened or not; it is never asked again.
    Unavailable(Trouble),
}

/// Why a shared store did not say: the kinds that an operator tells apart, and the label of its metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Trouble {
    /// No answer within the time budget.
    TimedOut,
    /// No connection, so that nothing was asked.
    Disconnected,
    /// The connection broke before the answer.
    Interrupted,
    /// More calls wait for an answer than are allowed to.
    Crowded,
    /// It reads its data from disk.
    Loading,
    /// It is a replica.
    ReadOnly,
    /// Its memory is full (`OOM`).
    Full,
    /// It does not write, since it could not save (`MISCONF`) or has too few replicas (`NOREPLICAS`).
    NotSaving,
    /// The cluster is down, or moves the key (`CLUSTERDOWN`, `TRYAGAIN`, redirects without end).
    ClusterDown,
    /// It runs somebody's long script (`BUSY`).
    Busy,
    /// It does not let this user in, or not do this (`NOAUTH`, `WRONGPASS`, `NOPERM`).
    Denied,
    /// It answered what nobody asked, or an error that is none of these.
    Unexpected,
    /// Nobody asks it just now: it failed too often a moment ago.
    BreakerOpen,
}

impl Trouble {
    /// Whether what was asked may have been done all the same. Only where it was certainly not done may it be charged later.
    #[must_use]
    pub const fn leaves_doubt(self) -> bool {
        matches!(self, Trouble::TimedOut | Trouble::Interrupted | Trouble::Unexpected)
    }

    /// Its name as a metric's label.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Trouble::TimedOut => "timeout",
            Trouble::Disconnected => "disconnected",
            Trouble::Interrupted => "interrupted",
            Trouble::Crowded => "crowded",
            Trouble::Loading => "loading",
            Trouble::ReadOnly => "read_only",
            Trouble::Full => "oom",
            Trouble::NotSaving => "not_saving",
            Trouble::ClusterDown => "cluster_down",
            Trouble::Busy => "busy",
            Trouble::Denied => "denied",
            Trouble::Unexpected => "unexpected",
            Trouble::BreakerOpen => "breaker_open",
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Trouble::TimedOut => "it did not answer in time",
            Trouble::Disconnected => "there is no connection to it",
            Trouble::Interrupted => "the connection to it broke before the answer",
            Trouble::Crowded => "too many calls wait for it",
            Trouble::Loading => "it is loading its data",
            Trouble::ReadOnly => "it is a replica and does not write",
            Trouble::Full => "its memory is full",
            Trouble::NotSaving => "it does not write, since it cannot save or replicate",
            Trouble::ClusterDown => "the cluster is down or moves the key",
            Trouble::Busy => "it is busy with a long script",
            Trouble::Denied => "it does not let this user do that",
            Trouble::Unexpected => "it answered something unexpected",
            Trouble::BreakerOpen => "it failed too often, so it is left alone for a moment",
        })
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::UnknownLimit(id) => {
                write!(f, "the store holds no limit {}; define it first", id.0)
            }
            StoreError::OutOfMemory(id) => {
                write!(f, "no memory is left for the keys of limit {}; lower its max_keys", id.0)
            }
            StoreError::MissingPeriod(id) => {
                write!(f, "limit {} is a quota; its charge needs the period around now", id.0)
            }
            StoreError::OtherPeriod(now) => write!(
                f,
                "the shared store's clock ({} us since the epoch) is in another period; ask again with the one around it",
                now.as_micros()
            ),
            StoreError::Inexact(id) => {
                write!(
                    f,
                    "the shared store cannot count limit {} exactly; see RedisStore::check",
                    id.0
                )
            }
            StoreError::TooLate(now) => write!(
                f,
                "the shared store's scripts count moments exactly up to the year 2112, and {} microseconds since the epoch \
                 are beyond that; replay it in memory",
                now.as_micros()
            ),
            StoreError::TooMany { limits, most } => {
                write!(f, "one decision asks {limits} limits and keys; at most {most} go")
            }
            StoreError::Unavailable(trouble) => write!(f, "the shared store is away: {trouble}"),
        }
    }
}

impl std::error::Error for StoreError {}

impl From<Trouble> for StoreError {
    fn from(trouble: Trouble) -> StoreError {
        StoreError::Unavailable(trouble)
    }
}
