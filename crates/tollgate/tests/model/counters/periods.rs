//! A quota: what was taken in the calendar's current period.

use super::{Calendar, Counter, RequestId};
use crate::model::rational::{Rat, whole};

/// A quota.
pub(crate) struct Periods {
    limit: u64,
    calendar: Calendar,
    taken: Vec<Taken>,
}

struct Taken {
    request: RequestId,
    at: i64,
    units: Rat,
}

impl Periods {
    /// A quota of which nothing is used.
    pub(crate) fn new(limit: u64, calendar: Calendar) -> Self {
        Self { limit, calendar, taken: Vec::new() }
    }

    fn counted(&self, now: i64) -> impl Iterator<Item = &Taken> {
        let (start, _) = self.calendar.period(now);
        self.taken.iter().filter(move |taken| taken.at >= start)
    }
}

impl Counter for Periods {
    fn capacity(&self) -> Rat {
        whole(self.limit)
    }

    fn level(&self, now: i64) -> Rat {
        self.counted(now).fold(whole(self.limit), |left, taken| left - &taken.units)
    }

    fn take(&mut self, request: RequestId, units: &Rat, now: i64) {
        if *units > whole(0) {
            self.taken.push(Taken { request, at: now, units: units.clone() });
        }
    }

    fn give_back(&mut self, request: RequestId, _now: i64) {
        self.taken.retain(|taken| taken.request != request);
    }

    fn reset(&self, now: i64) -> Rat {
        let (_, end) = self.calendar.period(now);
        if self.counted(now).next().is_some() { whole(end - now) } else { whole(0) }
    }
}
