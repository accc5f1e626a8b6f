//! What leases did, for metrics.

use std::sync::atomic::{AtomicU64, Ordering};

use super::exchange::{Reports, Request};
use super::purse::Purse;
use crate::Uptime;

/// What a node's leases did since it began, and what it holds now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeasesObserved {
    /// Units that are borrowed and not spent.
    pub in_hand: u64,
    /// Requests to the store, for more or to return.
    pub requests: u64,
    /// Those of them that were not answered: what they asked for is lost until its window or generation ends.
    pub unanswered: u64,
    /// Units that were borrowed.
    pub lent: u64,
    /// Units that went back unspent.
    pub returned: u64,
}

/// What leases did since the node began.
#[derive(Debug, Default)]
pub(super) struct LeaseCounters {
    requests: AtomicU64,
    unanswered: AtomicU64,
    lent: AtomicU64,
    returned: AtomicU64,
}

impl LeaseCounters {
    /// This is sent.
    pub(super) fn asked(&self, request: &Request) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.returned.fetch_add(unspent(&request.reports), Ordering::Relaxed);
    }

    pub(super) fn lent(&self, units: u64) {
        self.lent.fetch_add(units, Ordering::Relaxed);
    }

    pub(super) fn unanswered(&self) {
        self.unanswered.fetch_add(1, Ordering::Relaxed);
    }
}

fn unspent(reports: &Reports) -> u64 {
    reports.iter().map(|report| report.unspent).sum()
}

impl Purse {
    pub(in crate::shared) fn observed(&self) -> LeasesObserved {
        let LeaseCounters { requests, unanswered, lent, returned } = &self.counters;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        LeasesObserved {
            in_hand: self.in_hand(Uptime::now()),
            requests: read(requests),
            unanswered: read(unanswered),
            lent: read(lent),
            returned: read(returned),
        }
    }
}
