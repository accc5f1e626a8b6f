//! The latest period that requests brought, from which the store tells whether a quota's count is over.

use std::sync::atomic::{AtomicU64, Ordering};

use tollgate_core::{Period, Timestamp};

/// Its bounds; all zero before the first.
#[derive(Debug, Default)]
pub(crate) struct SeenPeriod {
    start: AtomicU64,
    end: AtomicU64,
}

impl SeenPeriod {
    /// A request brought `period`.
    pub(crate) fn saw(&self, period: Period) {
        // The end first: a start without its end would call a running period over. Both are read before they are
        // written, since nearly always nothing changes.
        if period.end.as_micros() > self.end.load(Ordering::Acquire) {
            self.end.fetch_max(period.end.as_micros(), Ordering::AcqRel);
        }
        if period.start.as_micros() > self.start.load(Ordering::Acquire) {
            self.start.fetch_max(period.start.as_micros(), Ordering::AcqRel);
        }
    }

    /// The latest that was seen, as far as it is known.
    pub(crate) fn seen(&self) -> Option<Period> {
        let start = Timestamp::from_micros(self.start.load(Ordering::Acquire));
        let end = Timestamp::from_micros(self.end.load(Ordering::Acquire));
        (end > Timestamp::EPOCH).then_some(Period { start, end })
    }

    /// Goes on from what `from` saw.
    pub(crate) fn carry(&self, from: &SeenPeriod) {
        self.end.fetch_max(from.end.load(Ordering::Acquire), Ordering::AcqRel);
        self.start.fetch_max(from.start.load(Ordering::Acquire), Ordering::AcqRel);
    }

    /// The period around `now`, as far as it is known.
    pub(crate) fn at(&self, now: Timestamp) -> Option<Period> {
        let start = self.start.load(Ordering::Acquire);
        let end = self.end.load(Ordering::Acquire);
        let period = |start, end| Period { start: Timestamp::from_micros(start), end };
        match end {
            0 => None,
            _ if now.as_micros() >= end => Some(period(end, Timestamp::MAX)),
            _ => Some(period(start, Timestamp::from_micros(end))),
        }
    }
}
