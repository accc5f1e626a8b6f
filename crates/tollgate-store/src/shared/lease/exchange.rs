//! What a node and the store say to each other about a leased key: one request, one answer, never twice.

use smallvec::SmallVec;
use tollgate_core::{Micros, State, Timestamp};

/// How one term's units were used since the last report. Told once: the node has forgotten them by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// The term that they were lent for; see [`Answer::term`].
    pub(crate) term: u64,
    /// Units that come back and will not be spent.
    pub(crate) unspent: u64,
    /// Units that were spent.
    pub(crate) spent: u64,
}

/// Reports of one request; [`MOST_REPORTS`] at most.
pub(crate) type Reports = SmallVec<[Report; 2]>;

/// Terms that one request tells of. What is beyond counts as spent, as a dead node's units do.
pub(crate) const MOST_REPORTS: usize = 4;

/// What a node asks: first it reports, then it takes for those who wait, then it borrows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// What was lent before.
    pub(crate) reports: Reports,
    /// What each of those who wait costs.
    pub(crate) cost: u64,
    /// How many wait: as many as fit are taken for, at once and as exactly as without leases.
    pub(crate) times: u64,
    /// Units that the node would borrow beyond that.
    pub(crate) want: u64,
    /// Of what remains, at most one part in so many is lent.
    pub(crate) parts: u64,
}

impl Request {
    /// A request for nothing.
    pub(crate) fn nothing() -> Request {
        Request::of(Reports::new())
    }

    /// A request that only reports.
    pub(crate) fn of(reports: Reports) -> Request {
        Request { reports, cost: 0, times: 0, want: 0, parts: 1 }
    }
}

/// What the store answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The store's moment.
    pub(crate) now: Timestamp,
    /// How many of [`Request::times`] were taken for.
    pub(crate) taken: u64,
    /// Units lent.
    pub(crate) lent: u64,
    /// What they were lent for: a window's or cell's first moment, or the end of a bucket's generation.
    pub(crate) term: u64,
    /// From `now` to the end of that.
    pub(crate) lasts: Micros,
    /// Units are out on lease, this node's or another's, so that some may come back.
    pub(crate) out: bool,
    /// The key's state after all that, as an exact charge reads it: what is out counts as used.
    pub(crate) state: State,
}
