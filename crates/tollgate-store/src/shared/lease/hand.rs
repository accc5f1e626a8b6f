//! Units in hand, by the term that they were lent for.

use smallvec::SmallVec;

use super::exchange::{MOST_REPORTS, Report, Reports};
use crate::Uptime;

/// What one key's leases hold.
#[derive(Debug, Default)]
pub(crate) struct Hand {
    /// In the order of their ends.
    leases: SmallVec<[Lease; 2]>,
    serial: Serial,
}

/// Units of one term.
#[derive(Clone, Copy, Debug)]
struct Lease {
    term: u64,
    until: Uptime,
    unspent: u64,
    /// Spent and not yet reported.
    spent: u64,
    serial: Serial,
}

/// What was spent between two reports; never the same twice in a hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Serial(pub(crate) u64);

impl Hand {
    /// An empty one whose serials go on behind `serial`.
    pub(crate) fn behind(serial: Serial) -> Hand {
        Hand { leases: SmallVec::new(), serial }
    }

    /// The last serial that was given.
    pub(crate) fn serial(&self) -> Serial {
        self.serial
    }

    /// Units that can be spent at `at`.
    #[inline]
    pub(crate) fn unspent(&self, at: Uptime) -> u64 {
        self.leases.iter().filter(|lease| at < lease.until).map(|lease| lease.unspent).sum()
    }

    /// Nothing to spend and nothing to report.
    pub(crate) fn is_empty(&self) -> bool {
        self.leases.iter().all(|lease| lease.unspent == 0 && lease.spent == 0)
    }

    /// Until when the newest lease can be spent.
    pub(crate) fn until(&self) -> Option<Uptime> {
        self.leases.last().map(|lease| lease.until)
    }

    /// Puts in `units` of `term`. Each `until` is on the safe side of the same end, so the latest holds.
    pub(crate) fn put(&mut self, term: u64, until: Uptime, units: u64) {
        if let Some(lease) = self.leases.iter_mut().find(|lease| lease.term == term) {
            lease.until = lease.until.max(until);
            lease.unspent += units;
        } else {
            let lease = Lease { term, until, unspent: units, spent: 0, serial: self.next_serial() };
            let place = self.leases.partition_point(|other| other.until <= until);
            self.leases.insert(place, lease);
        }
    }

    /// Spends `cost`, all of it from one term: the one that ends first.
    #[inline]
    pub(crate) fn spend(&mut self, cost: u64, at: Uptime) -> Option<Serial> {
        let lease =
            self.leases.iter_mut().find(|lease| at < lease.until && cost <= lease.unspent)?;
        lease.unspent -= cost;
        lease.spent += cost;
        Some(lease.serial)
    }

    /// Takes back what was spent under `serial` for nothing. `false` where the store has been told of it, or has forgotten
    /// it with its term: then it stays spent here.
    pub(crate) fn put_back(&mut self, serial: Serial, units: u64, at: Uptime) -> bool {
        let lease = self.leases.iter_mut().find(|lease| lease.serial == serial);
        let Some(lease) = lease.filter(|lease| at < lease.until && units <= lease.spent) else {
            return false;
        };
        lease.spent -= units;
        lease.unspent += units;
        true
    }

    /// Draws up what there is to tell: all that was spent, and all but `keep` of what was not. Forgets what it tells, and
    /// what has ended; of that it tells where the store `takes_late`.
    pub(crate) fn report(&mut self, keep: u64, takes_late: bool, at: Uptime) -> Reports {
        let mut surplus = self.unspent(at).saturating_sub(keep);
        let mut reports = Reports::new();
        for mut lease in std::mem::take(&mut self.leases) {
            let ended = lease.until <= at;
            let unspent = if ended { lease.unspent } else { surplus.min(lease.unspent) };
            let report = Report { term: lease.term, unspent, spent: lease.spent };
            let told = report.unspent > 0 || (report.spent > 0 && !ended);
            if told && (!ended || takes_late) && reports.len() < MOST_REPORTS {
                reports.push(report);
            }
            if ended {
                continue;
            }
            surplus -= unspent;
            lease.unspent -= unspent;
            if told {
                lease.spent = 0;
                lease.serial = self.next_serial();
            }
            self.leases.push(lease);
        }
        reports
    }

    fn next_serial(&mut self) -> Serial {
        self.serial.0 += 1;
        self.serial
    }
}
