//! How nodes count a limit together, and whose word a count is.

use tollgate_core::Micros;

/// How nodes count a limit together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sharing {
    /// How often the shared store is asked.
    pub sync: SyncMode,
    /// What holds while it is away.
    pub on_store_failure: OnStoreFailure,
    /// Whether what is charged may be given back once the outcome is known (`charge_when`): then a key that the store said
    /// is exhausted may not stay so.
    pub given_back: bool,
}

/// How often the shared store is asked. What each promises stands in `docs/distributed.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SyncMode {
    /// For every decision.
    #[default]
    Exact,
    /// For batches of units, which are spent locally.
    Leased,
    /// Once in `every`: nodes count by themselves, report, and fetch the sum.
    Estimate {
        /// The interval.
        every: Micros,
    },
    /// Never: each node takes the limit divided by the number of live nodes.
    Share,
    /// Never: each node applies the whole limit by itself.
    Node,
}

/// What holds for a limit while the shared store is away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnStoreFailure {
    /// Each node goes on by itself with the limit divided by the number of live nodes, rounded up.
    #[default]
    Share,
    /// Every request passes.
    Allow,
    /// No request passes.
    Refuse,
}

/// Whose word an outcome is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Source {
    /// The store that counts for all: the memory store of a single process, or the shared one.
    #[default]
    Store,
    /// Units on lease.
    Lease,
    /// The node's estimate of the sum.
    Estimate,
    /// The node's share.
    Share,
    /// The node alone.
    Node,
    /// The store said before that the key is exhausted until later.
    Exhausted,
    /// `on_store_failure`, while the store is away.
    Failure,
    /// Nobody's: another limit had refused before, and nothing was taken.
    Unasked,
}

impl Source {
    /// Its name as a metric's label.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Source::Store => "store",
            Source::Lease => "lease",
            Source::Estimate => "estimate",
            Source::Share => "share",
            Source::Node => "node",
            Source::Exhausted => "exhausted",
            Source::Failure => "failure",
            Source::Unasked => "unasked",
        }
    }
}
