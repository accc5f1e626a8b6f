//! What a script does with one limit: all that its text depends on.

/// How a key's state is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A bucket that holds nothing: it refuses, and keeps nothing.
    Closed,
    Bucket,
    FixedWindow,
    Quota,
    /// Of one cell.
    SlidingWindow,
    /// Of several.
    SlidingCells,
    SlidingLog,
    Concurrency,
}

impl Kind {
    /// Whether the script is told how long its state usually lasts. The others' end with a window or a period.
    pub(crate) const fn tells_lasting(self) -> bool {
        matches!(self, Kind::Bucket | Kind::SlidingLog | Kind::Concurrency)
    }
}

/// One limit's part of a script. Numbers are no part of it: few texts exist in a policy, and the server compiles each once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Part {
    pub(crate) kind: Kind,
    /// Admits while anything is left, and takes what it refuses.
    pub(crate) overdraw: bool,
    /// Takes what anybody refuses.
    pub(crate) counts: bool,
    /// Never decides.
    pub(crate) shadow: bool,
    /// Its products do not fit a double.
    pub(crate) wide: bool,
    /// Those that are admitted wait for their turn.
    pub(crate) waits: bool,
    /// The wait is bounded.
    pub(crate) bounded: bool,
    /// A new key does not begin full.
    pub(crate) empty: bool,
    /// Looks only: writes nothing, not even what a wrong clock's state is cut to.
    pub(crate) looks: bool,
    /// Units of it may be on lease.
    pub(crate) leased: bool,
}

impl Part {
    pub(crate) const fn new(kind: Kind) -> Part {
        Part {
            kind,
            overdraw: false,
            counts: false,
            shadow: false,
            wide: false,
            waits: false,
            bounded: false,
            empty: false,
            looks: false,
            leased: false,
        }
    }

    /// Whether what is taken can go beyond what is allowed.
    pub(crate) const fn owing(&self) -> bool {
        self.overdraw || self.counts
    }
}
