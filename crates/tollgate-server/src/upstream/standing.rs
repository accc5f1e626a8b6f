//! How a server stands: whether it takes connections, answers requests, and passes its health checks. A server that does
//! badly is left out for a while; whether all are, the pool looks at.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use tollgate_policy::settings::{Ejection, HealthCheck};

/// The first rest after a failed connect, in microseconds; each further failure doubles it.
const FIRST_REST: u64 = 100_000;

/// The longest rest, in microseconds.
const LONGEST_REST: u64 = 10_000_000;

/// How one server stands. Times are microseconds of the gateway's own clock.
#[derive(Debug)]
pub(super) struct Standing {
    /// Connections in a row that it did not take.
    refused: AtomicU32,
    rests_until: AtomicU64,
    /// Requests in a row that it failed.
    failures: AtomicU32,
    /// Ejections in a row.
    ejections: AtomicU32,
    ejected_until: AtomicU64,
    /// What its health checks say.
    well: AtomicBool,
    /// Checks in a row that say otherwise.
    doubts: AtomicU32,
}

impl Default for Standing {
    fn default() -> Standing {
        Standing {
            refused: AtomicU32::new(0),
            rests_until: AtomicU64::new(0),
            failures: AtomicU32::new(0),
            ejections: AtomicU32::new(0),
            ejected_until: AtomicU64::new(0),
            // Until a check says otherwise.
            well: AtomicBool::new(true),
            doubts: AtomicU32::new(0),
        }
    }
}

impl Standing {
    /// Whether it is asked at `now`.
    pub(super) fn is_fit(&self, now: u64) -> bool {
        self.well.load(Ordering::Relaxed)
            && self.rests_until.load(Ordering::Relaxed) <= now
            && !self.is_ejected(now)
    }

    /// Whether it did well so far: one that took no connection has yet to take one.
    pub(super) fn does_well(&self, now: u64) -> bool {
        self.is_fit(now) && self.refused.load(Ordering::Relaxed) == 0
    }

    pub(super) fn is_ejected(&self, now: u64) -> bool {
        self.ejected_until.load(Ordering::Relaxed) > now
    }

    /// It took a connection; `true` where it had not before.
    pub(super) fn connected(&self) -> bool {
        if self.refused.load(Ordering::Relaxed) == 0 {
            return false;
        }
        self.rests_until.store(0, Ordering::Relaxed);
        self.refused.swap(0, Ordering::Relaxed) > 0
    }

    /// It took no connection at `now`; answers how often in a row.
    pub(super) fn refused(&self, now: u64) -> u32 {
        let times = self.refused.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let rest = FIRST_REST.saturating_mul(1 << (times - 1).min(16)).min(LONGEST_REST);
        self.rests_until.store(now.saturating_add(rest), Ordering::Relaxed);
        times
    }

    /// Nothing that it did is held against it.
    pub(super) fn is_spotless(&self) -> bool {
        self.failures.load(Ordering::Relaxed) == 0 && self.ejections.load(Ordering::Relaxed) == 0
    }

    /// It answered a request at `now`; `true` where it had been ejected before.
    pub(super) fn answered(&self, now: u64) -> bool {
        if self.failures.load(Ordering::Relaxed) != 0 {
            self.failures.store(0, Ordering::Relaxed);
        }
        if self.ejections.load(Ordering::Relaxed) == 0 || self.is_ejected(now) {
            return false;
        }
        self.ejections.swap(0, Ordering::Relaxed) > 0
    }

    /// It failed a request at `now`. Whether that is once too often: then [`Standing::eject`] is next. One that comes back from an ejection is
    /// ejected again by the first failure.
    pub(super) fn failed(&self, now: u64, ejection: &Ejection) -> bool {
        if self.is_ejected(now) {
            // It was on its way when the server was ejected.
            return false;
        }
        let failures = self.failures.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        failures >= ejection.failures || self.ejections.load(Ordering::Relaxed) > 0
    }

    /// Leaves it out from `now` on, each time in a row for twice as long. Answers for how many microseconds; `None` where
    /// another thread just did.
    pub(super) fn eject(&self, now: u64, ejection: &Ejection) -> Option<u64> {
        let before = self.ejected_until.load(Ordering::Relaxed);
        if before > now {
            return None;
        }
        let times = self.ejections.load(Ordering::Relaxed).min(32);
        let span = ejection.first.get().saturating_mul(1 << times).min(ejection.longest.get());
        let until = now.saturating_add(span);
        let order = Ordering::Relaxed;
        self.ejected_until.compare_exchange(before, until, order, order).ok()?;
        self.ejections.fetch_add(1, Ordering::Relaxed);
        self.failures.store(0, Ordering::Relaxed);
        Some(span)
    }

    /// A health check found it well or not. Answers the new state where this changes it.
    pub(super) fn checked(&self, well: bool, check: &HealthCheck) -> Option<bool> {
        if self.well.load(Ordering::Relaxed) == well {
            self.doubts.store(0, Ordering::Relaxed);
            return None;
        }
        let needed = if well { check.successes } else { check.failures };
        if self.doubts.fetch_add(1, Ordering::Relaxed).saturating_add(1) < needed {
            return None;
        }
        self.doubts.store(0, Ordering::Relaxed);
        self.well.store(well, Ordering::Relaxed);
        if well {
            self.refused.store(0, Ordering::Relaxed);
            self.rests_until.store(0, Ordering::Relaxed);
        }
        Some(well)
    }

    /// Nobody checks it any more.
    pub(super) fn unchecked(&self) {
        self.well.store(true, Ordering::Relaxed);
        self.doubts.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use tollgate_core::Micros;
    use tollgate_policy::settings::Probe;

    use super::*;

    fn ejection() -> Ejection {
        Ejection {
            failures: 3,
            first: Micros::new(1_000),
            longest: Micros::new(4_000),
            ..Ejection::default()
        }
    }

    #[test]
    fn failures_in_a_row_eject_and_an_answer_between_them_does_not() {
        let (standing, ejection) = (Standing::default(), ejection());
        for _ in 0..5 {
            assert!(!standing.failed(0, &ejection));
            assert!(!standing.failed(0, &ejection));
            standing.answered(0);
        }
        assert!(!standing.failed(0, &ejection) && !standing.failed(0, &ejection));
        assert!(standing.failed(0, &ejection), "the third in a row");
        assert_eq!(standing.eject(0, &ejection), Some(1_000));
        assert_eq!(standing.eject(0, &ejection), None, "another thread did already");
        assert!(!standing.is_fit(999) && standing.is_fit(1_000));
    }

    #[test]
    fn each_ejection_in_a_row_lasts_twice_as_long() {
        let (standing, ejection) = (Standing::default(), ejection());
        let mut now = 0;
        for span in [1_000, 2_000, 4_000, 4_000] {
            while !standing.failed(now, &ejection) {}
            assert_eq!(standing.eject(now, &ejection), Some(span));
            assert!(!standing.failed(now, &ejection), "late failures do not lengthen it");
            now += span;
            if span < 4_000 {
                assert!(standing.failed(now, &ejection), "one failure on trial is enough");
            }
        }
        assert!(standing.answered(now), "it is back");
        assert!(!standing.failed(now, &ejection), "and counts from nothing");
        while !standing.failed(now, &ejection) {}
        assert_eq!(standing.eject(now, &ejection), Some(1_000));
    }

    #[test]
    fn connects_that_fail_make_it_rest() {
        let standing = Standing::default();
        assert_eq!((standing.refused(0), standing.is_fit(99_999)), (1, false));
        assert!(standing.is_fit(100_000) && !standing.does_well(100_000));
        assert_eq!((standing.refused(0), standing.is_fit(199_999)), (2, false));
        for _ in 0..100 {
            standing.refused(0);
        }
        assert!(standing.is_fit(LONGEST_REST));
        assert!(standing.connected() && !standing.connected() && standing.does_well(0));
    }

    #[test]
    fn checks_in_a_row_change_its_health() {
        let check = HealthCheck {
            probe: Probe::Grpc { service: String::new() },
            every: Micros::from_secs(1),
            timeout: Micros::from_secs(1),
            failures: 3,
            successes: 2,
        };
        let standing = Standing::default();
        let seen: Vec<_> = [false, false, true, false, false, false, true, false, true, true]
            .into_iter()
            .map(|well| standing.checked(well, &check))
            .collect();
        let nothing = None;
        assert_eq!(
            seen,
            [
                nothing,
                nothing,
                nothing,
                nothing,
                nothing,
                Some(false),
                nothing,
                nothing,
                nothing,
                Some(true)
            ]
        );
    }
}
