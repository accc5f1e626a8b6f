//! nginx's `limit_req`: requests leave one after another, a step of `1/rate` apart.

use super::{Counter, RequestId};
use crate::model::rational::{Rat, from_zero, whole};

/// A leaky bucket.
pub(crate) struct LeakyBucket {
    /// Microseconds a unit; `None` where the rate is zero.
    step: Option<Rat>,
    /// `burst + 1`.
    capacity: Rat,
    nodelay: bool,
    /// In microseconds; `None` is no bound.
    max_wait: Option<Rat>,
    /// When the next could leave.
    tat: Rat,
    taken: Vec<Taken>,
}

struct Taken {
    request: RequestId,
    at: i64,
    units: Rat,
}

impl LeakyBucket {
    /// A bucket that nobody waits at.
    pub(crate) fn new(
        step: Option<Rat>,
        burst: u64,
        nodelay: bool,
        max_wait: Option<Rat>,
        at: i64,
    ) -> Self {
        let capacity = if step.is_some() { whole(burst) + whole(1) } else { whole(0) };
        Self { step, capacity, nodelay, max_wait, tat: whole(at), taken: Vec::new() }
    }

    /// How long the next would wait, whether it may or not.
    fn queue(&self, now: i64) -> Rat {
        from_zero(&self.tat - whole(now))
    }

    fn waits_too_long(&self, now: i64) -> bool {
        !self.nodelay && self.max_wait.as_ref().is_some_and(|most| self.queue(now) > *most)
    }

    fn units_in(&self, time: Rat) -> Rat {
        self.step.as_ref().map_or(whole(0), |step| time / step)
    }
}

impl Counter for LeakyBucket {
    fn capacity(&self) -> Rat {
        self.capacity.clone()
    }

    fn level(&self, now: i64) -> Rat {
        &self.capacity - self.units_in(self.queue(now))
    }

    fn admits(&self, cost: u64, now: i64) -> bool {
        let Some(step) = &self.step else { return false };
        let fits = self.queue(now) + whole(cost) * step <= &self.capacity * step;
        fits && !self.waits_too_long(now)
    }

    fn wait(&self, now: i64) -> Rat {
        if self.nodelay { whole(0) } else { self.queue(now) }
    }

    fn take(&mut self, request: RequestId, units: &Rat, now: i64) {
        let Some(step) = &self.step else { return };
        self.tat = self.tat.clone().max(whole(now)) + units * step;
        self.taken.push(Taken { request, at: now, units: units.clone() });
    }

    fn give_back(&mut self, request: RequestId, now: i64) {
        let (Some(step), Some(place)) =
            (&self.step, self.taken.iter().position(|taken| taken.request == request))
        else {
            return;
        };
        let taken = self.taken.remove(place);
        let lost = (taken.units * step).min(self.queue(now));
        self.tat -= from_zero(lost - whole(now - taken.at));
    }

    fn reset(&self, now: i64) -> Rat {
        self.queue(now)
    }

    fn counts_whole_units(&self) -> bool {
        false
    }
}
