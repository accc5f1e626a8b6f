//! A few limits, one key each, on a clock that goes forward; and what must hold of them after every step.

use tollgate_core::{
    Algorithm, Asked, Charged, Decision, Limit, Micros, Outcome, Period, Retry, Rules, Standing,
    State, Timestamp, step,
};

use crate::bytes::Bytes;
use crate::limits::limit;

/// A quota's period here: an hour.
const PERIOD: u64 = 3_600_000_000;

/// Charges that can still be settled.
const KEPT: usize = 16;

/// The limits and what is remembered.
pub struct World {
    limits: Vec<Limit>,
    states: Vec<State>,
    now: Timestamp,
    ticket: u64,
    charges: Vec<(usize, Charged)>,
}

/// What one step asked and got.
struct Step {
    costs: Vec<u64>,
    outcomes: Vec<Outcome>,
    decision: Decision,
}

impl World {
    /// One to four limits at some moment; `None` where core refuses one of them.
    pub fn new(bytes: &mut Bytes<'_>) -> Option<World> {
        let now = Timestamp::from_micros(bytes.number() % (1 << 51));
        let count = 1 + bytes.below(4);
        let limits = (0..count).map(|_| limit(bytes, now)).collect::<Option<Vec<_>>>()?;
        let states = vec![State::Fresh; limits.len()];
        Some(World { limits, states, now, ticket: 0, charges: Vec::new() })
    }

    /// One operation out of the bytes.
    pub fn act(&mut self, bytes: &mut Bytes<'_>) {
        let later = self.now.as_micros().saturating_add(bytes.number());
        // The last tenth of time is left to what the checks ask about.
        if later < Timestamp::MAX.as_micros() / 10 * 9 {
            self.now = Timestamp::from_micros(later);
        }
        match bytes.below(8) {
            0 => self.settle(bytes),
            1 => self.release(bytes),
            _ => self.ask(bytes),
        }
    }

    fn settle(&mut self, bytes: &mut Bytes<'_>) {
        let Some((place, charged)) = self.charge(bytes) else { return };
        let units = if bytes.flag() { 0 } else { bytes.number() };
        let before = self.standing(place, self.now);
        let (limit, now) = (&self.limits[place], self.now);
        limit.settle(&mut self.states[place], &charged, units, period(now), now);
        let after = self.standing(place, self.now);
        if units <= charged.units {
            assert!(
                after.remaining >= before.remaining,
                "giving back takes nothing: {before:?} {after:?}"
            );
        }
        self.is_bounded(place, &after);
    }

    fn release(&mut self, bytes: &mut Bytes<'_>) {
        let Some((place, charged)) = self.charge(bytes) else { return };
        let before = self.standing(place, self.now);
        self.limits[place].release(&mut self.states[place], &charged, self.now);
        let after = self.standing(place, self.now);
        assert!(
            after.remaining >= before.remaining,
            "a release takes nothing: {before:?} {after:?}"
        );
        self.is_bounded(place, &after);
    }

    /// Each charge is settled or released once.
    fn charge(&mut self, bytes: &mut Bytes<'_>) -> Option<(usize, Charged)> {
        let place = usize::from(bytes.byte());
        (!self.charges.is_empty()).then(|| self.charges.swap_remove(place % self.charges.len()))
    }

    fn ask(&mut self, bytes: &mut Bytes<'_>) {
        let same = bytes.number();
        let costs: Vec<u64> =
            self.limits.iter().map(|_| if bytes.flag() { bytes.number() } else { same }).collect();
        let hold = bytes.flag().then(|| Micros::new(bytes.number()));
        let before = self.states.clone();
        self.ticket += 1;
        let mut states = std::mem::take(&mut self.states);
        let done = self.step(&mut states, costs, self.now, hold);
        self.states = states;
        for (place, before) in before.iter().enumerate() {
            self.is_lawful(place, before, &done);
            let outcome = &done.outcomes[place];
            self.charges.extend(outcome.charged(self.ticket).map(|charged| (place, charged)));
        }
        self.charges.drain(..self.charges.len().saturating_sub(KEPT));
        let refused = self
            .limits
            .iter()
            .zip(&done.outcomes)
            .any(|(limit, out)| out.refused && !limit.rules().shadow);
        assert_eq!(done.decision.admitted, !refused, "only enforced limits decide");
    }

    fn step(
        &self,
        states: &mut [State],
        costs: Vec<u64>,
        now: Timestamp,
        hold: Option<Micros>,
    ) -> Step {
        let mut outcomes = vec![nothing(); costs.len()];
        let limits = self.limits.iter().zip(states).zip(&costs);
        let mut asked: Vec<Asked<'_>> = limits
            .map(|((limit, state), &cost)| Asked { limit, state, cost, period: period(now) })
            .collect();
        let decision = step(&mut asked, now, self.ticket, hold, &mut outcomes);
        Step { costs, outcomes, decision }
    }

    /// What must hold of one limit after a step.
    fn is_lawful(&self, place: usize, before: &State, done: &Step) {
        let (limit, cost, outcome) =
            (&self.limits[place], done.costs[place], &done.outcomes[place]);
        let Rules { count_refused, overdraw, .. } = *limit.rules();
        let may_charge = done.decision.admitted && !outcome.refused
            || count_refused
            || overdraw && outcome.refused;
        if !may_charge {
            assert_eq!((outcome.units, outcome.fraction), (0, 0), "a refusal takes nothing");
            let was = limit.standing(before, period(self.now), self.now);
            assert_eq!(was, outcome.standing, "a refusal changes nothing");
        }
        assert!(outcome.units <= cost, "no more is taken than was asked");
        self.is_bounded(place, &outcome.standing);
        self.remaining_is_true(place, &outcome.standing);
        self.reset_is_true(place, &outcome.standing);
        let asked_again = outcome.refused || !done.decision.admitted && count_refused;
        if let (true, Retry::After(wait)) = (asked_again, outcome.retry) {
            self.retry_is_true(place, cost, wait);
        }
    }

    /// Nobody ever has more than a fresh key has.
    fn is_bounded(&self, place: usize, standing: &Standing) {
        let limit = &self.limits[place];
        let most = match limit.algorithm() {
            // Level and capacity may be fractions: what a full one says.
            Algorithm::TokenBucket(_) => {
                limit.standing(&State::Fresh, period(self.now), Timestamp::MAX).remaining
            }
            Algorithm::LeakyBucket(leaky) => leaky.burst.saturating_add(1),
            Algorithm::FixedWindow(window) => window.limit,
            Algorithm::SlidingWindow(window) => window.limit,
            Algorithm::SlidingLog(log) => log.limit,
            Algorithm::Quota(quota) => quota.limit,
            Algorithm::Concurrency(slots) => slots.limit,
        };
        assert!(standing.remaining <= most, "{standing:?} of {most}");
    }

    /// `remaining` passes, one more does not.
    fn remaining_is_true(&self, place: usize, standing: &Standing) {
        let limit = &self.limits[place];
        if limit.rules().overdraw {
            return;
        }
        if standing.remaining > 0 {
            assert!(self.passes(place, standing.remaining, self.now), "{standing:?}");
        }
        if let Some(more) = standing.remaining.checked_add(1) {
            assert!(!self.passes(place, more, self.now), "{standing:?}");
        }
    }

    /// After `reset` nothing is counted any more, and one microsecond before it something is.
    fn reset_is_true(&self, place: usize, standing: &Standing) {
        let Some(end) = self.after(standing.reset) else { return };
        let is_quota = matches!(self.limits[place].algorithm(), Algorithm::Quota(_));
        assert_eq!(self.standing(place, end).reset, Micros::ZERO, "{standing:?}");
        if standing.reset > Micros::ZERO && !is_quota {
            let early = Timestamp::from_micros(end.as_micros() - 1);
            assert_eq!(self.standing(place, early).reset, Micros::new(1), "{standing:?}");
        }
    }

    /// Refused one microsecond before it, admitted at it.
    fn retry_is_true(&self, place: usize, cost: u64, wait: Micros) {
        let Some(end) = self.after(wait).filter(|_| wait > Micros::ZERO) else { return };
        assert!(self.passes(place, cost, end), "promised after {wait:?}");
        let early = Timestamp::from_micros(end.as_micros() - 1);
        assert!(!self.passes(place, cost, early), "passes before {wait:?}");
    }

    fn after(&self, wait: Micros) -> Option<Timestamp> {
        let end = self.now.as_micros().checked_add(wait.get())?;
        (end <= Timestamp::MAX.as_micros()).then(|| Timestamp::from_micros(end))
    }

    fn standing(&self, place: usize, now: Timestamp) -> Standing {
        self.limits[place].standing(&self.states[place], period(now), now)
    }

    /// Whether one limit alone would admit.
    fn passes(&self, place: usize, cost: u64, now: Timestamp) -> bool {
        let mut state = self.states[place].clone();
        let mut outcomes = [nothing()];
        let limit = &self.limits[place];
        let mut asked = [Asked { limit, state: &mut state, cost, period: period(now) }];
        step(&mut asked, now, self.ticket + 1, None, &mut outcomes);
        !outcomes[0].refused
    }
}

fn period(now: Timestamp) -> Option<Period> {
    let start = now.as_micros() / PERIOD * PERIOD;
    Some(Period {
        start: Timestamp::from_micros(start),
        end: Timestamp::from_micros(start + PERIOD),
    })
}

fn nothing() -> Outcome {
    Outcome {
        refused: false,
        wait: Micros::ZERO,
        retry: Retry::Never,
        units: 0,
        fraction: 0,
        at: Timestamp::EPOCH,
        changed: false,
        standing: Standing::default(),
    }
}
