//! What is remembered of one key under one limit.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};

use crate::Timestamp;

/// The state of one key. Small ones are values; the larger are behind a box.
///
/// A state belongs to the [`Limit`](crate::Limit) that wrote it; another kind of state counts as [`State::Fresh`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Never charged, or as fresh as that.
    #[default]
    Fresh,
    /// A bucket: the moment when it is full again, in ticks of 1/n microsecond since the epoch (n: the rate's reduced numerator).
    Bucket(u64),
    /// The same where the parameters ask for a wider word.
    WideBucket(u128),
    /// A fixed window or a quota's period, and what it holds.
    Count {
        /// The window's or period's first moment, in microseconds since the epoch.
        start: u64,
        /// Units counted in it.
        count: u64,
    },
    /// A sliding window of one cell.
    Pair {
        /// Index of the current cell since the epoch.
        cell: u64,
        /// Units in the cell before.
        previous: u64,
        /// Units in the current cell.
        current: u64,
    },
    /// A sliding window of several cells.
    Cells(Box<Cells>),
    /// A sliding log's entries.
    Log(Box<Log>),
    /// A concurrency limit's slots.
    Slots(Box<Slots>),
}

/// A sliding window of several cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    /// Index of the newest cell since the epoch.
    pub(crate) cell: u64,
    /// Units of each cell that can still count, oldest first, the newest last: one more than the window has cells.
    pub(crate) counts: Box<[u64]>,
}

impl Cells {
    /// `counts` of the cells up to the one with index `cell` since the epoch, oldest first. A state of any other number than
    /// one more than its limit has cells counts as fresh.
    #[must_use]
    pub fn new(cell: u64, counts: impl Into<Box<[u64]>>) -> Cells {
        Cells { cell, counts: counts.into() }
    }

    /// The newest cell's index since the epoch.
    #[must_use]
    pub fn newest(&self) -> u64 {
        self.cell
    }

    /// Units by cell, oldest first.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}

/// A sliding log: at most `limit` entries, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    pub(crate) entries: VecDeque<Entry>,
    /// The sum of the entries' units.
    pub(crate) total: u64,
}

impl Log {
    /// A log of (moment, units) in the order of their moments, as it was counted elsewhere: standings and retry times come
    /// out of it, but nothing can be given back by its ticket. Where the units are beyond counting, they are together as many
    /// as can be.
    #[must_use]
    pub fn of(entries: impl IntoIterator<Item = (Timestamp, u64)>) -> Log {
        let mut log = Log::default();
        for (at, units) in entries {
            log.entries.push_back(Entry { at: at.as_micros(), units, ticket: NO_TICKET });
            log.total = log.total.saturating_add(units);
        }
        log
    }

    /// The (moment, units) of each entry, oldest first.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (Timestamp, u64)> {
        self.entries.iter().map(|entry| (Timestamp::from_micros(entry.at), entry.units))
    }
}

/// No decision has this ticket: stores count them upwards from 0.
const NO_TICKET: u64 = u64::MAX;

/// One admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) at: u64,
    pub(crate) units: u64,
    pub(crate) ticket: u64,
}

/// Slots held from admission to release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    /// Units by (end in microseconds, ticket): the first to end comes first.
    pub(crate) held: BTreeMap<(u64, u64), u64>,
    /// The sum of the units.
    pub(crate) total: u64,
}

impl Slots {
    /// `units` held until `end`, for a store that counts elsewhere: standings come out of it, but nothing can be released by
    /// its ticket.
    #[must_use]
    pub fn of(end: Timestamp, units: u64) -> Slots {
        Slots { held: BTreeMap::from([((end.as_micros(), 0), units)]), total: units }
    }
}

/// What one request took from one limit: enough to give it back later. See [`Outcome::charged`](crate::Outcome::charged).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charged {
    /// Units taken (after a clamp of debt, what was really taken, rounded down).
    pub units: u64,
    /// What a clamp of a bucket's debt took beyond whole units, in parts of a unit that the limit alone can read.
    pub fraction: u64,
    /// The moment under which it was taken; see [`Outcome::at`](crate::Outcome::at).
    pub at: Timestamp,
    /// The decision's ticket: names the log entry or the slot. Unique among what one key holds.
    pub ticket: u64,
}
