//! What is remembered of one key under one limit.

use crate::Timestamp;

/// The state of one key. Small ones are values; the larger are behind a box.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Never charged, or as fresh as that.
    #[default]
    Fresh,
    /// A bucket: the moment when it is full again, in ticks of 1/n microsecond since the epoch (n: the rate's reduced numerator).
    Bucket(u64),
    /// The same where the parameters ask for a wider word.
    WideBucket(u128),
    /// A fixed window (by its index since the epoch) or a quota (by its period's start) and what it holds.
    Count {
        /// Window index, or the period's start in microseconds.
        slot: u64,
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
    // Cells(Box<..>), Log(Box<..>), Slots(Box<..>) follow.
}

/// What one request took from one limit: enough to give it back later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charged {
    /// Units taken (after a clamp of debt, what was really taken).
    pub units: u64,
    /// When.
    pub at: Timestamp,
    /// The decision's ticket: names the log entry or the slot.
    pub ticket: u64,
}
