//! A few limits with one key each, stepped as a store steps them: what is not `changed` is not kept.

use tollgate_core::{
    Algorithm, Asked, Burst, Charged, Concurrency, Decision, FixedWindow, LeakyBucket, Limit,
    Micros, Outcome, Period, Quota, Rate, Retry, Rules, SlidingLog, SlidingWindow, State,
    Timestamp, TokenBucket, step,
};

pub(crate) const SECOND: u64 = 1_000_000;
pub(crate) const MINUTE: u64 = 60 * SECOND;
pub(crate) const HOUR: u64 = 60 * MINUTE;
pub(crate) const DAY: u64 = 24 * HOUR;
pub(crate) const NEVER: Retry = Retry::Never;

pub(crate) const COUNT_REFUSED: Rules =
    Rules { count_refused: true, overdraw: false, max_debt: None, shadow: false };
pub(crate) const OVERDRAW: Rules =
    Rules { count_refused: false, overdraw: true, max_debt: None, shadow: false };
pub(crate) const SHADOW: Rules =
    Rules { count_refused: false, overdraw: false, max_debt: None, shadow: true };

#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) limits: Vec<Limit>,
    pub(crate) states: Vec<State>,
    pub(crate) period: Option<Period>,
    ticket: u64,
}

pub(crate) fn rate(count: u64, per: u64) -> Rate {
    Rate { count, per: Micros::new(per) }
}

pub(crate) fn token(count: u64, per: u64, burst: u64) -> Algorithm {
    let burst = Burst::Units(burst);
    Algorithm::TokenBucket(TokenBucket { rate: rate(count, per), burst, empty_at: None })
}

pub(crate) fn leaky(count: u64, per: u64, burst: u64, max_wait: Option<u64>) -> Algorithm {
    let max_wait = max_wait.map(Micros::new);
    Algorithm::LeakyBucket(LeakyBucket { rate: rate(count, per), burst, nodelay: false, max_wait })
}

pub(crate) fn nodelay(count: u64, per: u64, burst: u64) -> Algorithm {
    Algorithm::LeakyBucket(LeakyBucket {
        rate: rate(count, per),
        burst,
        nodelay: true,
        max_wait: None,
    })
}

pub(crate) fn fixed(limit: u64, window: u64) -> Algorithm {
    Algorithm::FixedWindow(FixedWindow { limit, window: Micros::new(window) })
}

pub(crate) fn sliding(limit: u64, window: u64, cells: u32) -> Algorithm {
    Algorithm::SlidingWindow(SlidingWindow { limit, window: Micros::new(window), cells })
}

pub(crate) fn log(limit: u64, window: u64) -> Algorithm {
    Algorithm::SlidingLog(SlidingLog { limit, window: Micros::new(window) })
}

pub(crate) fn quota(limit: u64) -> Algorithm {
    Algorithm::Quota(Quota { limit })
}

pub(crate) fn slots(limit: u64, ttl: u64) -> Algorithm {
    Algorithm::Concurrency(Concurrency { limit, ttl: Micros::new(ttl) })
}

pub(crate) fn limit(algorithm: Algorithm, rules: Rules) -> Limit {
    Limit::new(algorithm, rules).expect("a limit that tests use is valid")
}

pub(crate) fn after(micros: u64) -> Retry {
    Retry::After(Micros::new(micros))
}

pub(crate) fn at(micros: u64) -> Timestamp {
    Timestamp::from_micros(micros)
}

pub(crate) fn period(start: u64, end: u64) -> Period {
    Period { start: at(start), end: at(end) }
}

impl World {
    pub(crate) fn new(limits: Vec<Limit>) -> World {
        let states = limits.iter().map(|_| State::Fresh).collect();
        World { limits, states, period: None, ticket: 0 }
    }

    /// One limit without rules.
    pub(crate) fn of(algorithm: Algorithm) -> World {
        World::new(vec![limit(algorithm, Rules::default())])
    }

    /// Several limits without rules.
    pub(crate) fn several(algorithms: Vec<Algorithm>) -> World {
        World::new(algorithms.into_iter().map(|one| limit(one, Rules::default())).collect())
    }

    pub(crate) fn ruled(algorithm: Algorithm, rules: Rules) -> World {
        World::new(vec![limit(algorithm, rules)])
    }

    pub(crate) fn ask_held(
        &mut self,
        now: u64,
        costs: &[u64],
        hold: Option<u64>,
    ) -> (Decision, Vec<Outcome>) {
        self.ticket += 1;
        let mut states = self.states.clone();
        let mut outcomes = vec![Outcome::default(); self.limits.len()];
        let asked = self.limits.iter().zip(&mut states).zip(costs);
        let mut asked: Vec<Asked<'_>> = asked
            .map(|((limit, state), cost)| Asked { limit, state, cost: *cost, period: self.period })
            .collect();
        let decision = step(&mut asked, at(now), self.ticket, hold.map(Micros::new), &mut outcomes);
        for ((kept, state), outcome) in self.states.iter_mut().zip(states).zip(&outcomes) {
            if outcome.changed {
                *kept = state;
            }
        }
        (decision, outcomes)
    }

    /// Asks every limit for `cost`.
    pub(crate) fn ask(&mut self, now: u64, cost: u64) -> (Decision, Vec<Outcome>) {
        let costs = vec![cost; self.limits.len()];
        self.ask_held(now, &costs, None)
    }

    pub(crate) fn admits(&mut self, now: u64, cost: u64) -> bool {
        self.ask(now, cost).0.admitted
    }

    /// How many of `count` requests of one unit pass at `now`.
    pub(crate) fn passes(&mut self, now: u64, count: usize) -> usize {
        (0..count).filter(|_| self.admits(now, 1)).count()
    }

    /// The retry time of a request that is refused.
    pub(crate) fn refusal(&mut self, now: u64, cost: u64) -> Retry {
        let (decision, _) = self.ask(now, cost);
        assert!(!decision.admitted, "cost {cost} was admitted at {now}");
        decision.retry
    }

    /// Takes `cost` from the only limit.
    pub(crate) fn charge(&mut self, now: u64, cost: u64) -> Charged {
        let (_, outcomes) = self.ask(now, cost);
        outcomes[0].charged(self.ticket).expect("something was taken")
    }

    /// (remaining, reset, next) of the first limit, without asking.
    pub(crate) fn standing(&self, now: u64) -> (u64, u64, u64) {
        let standing = self.limits[0].standing(&self.states[0], self.period, at(now));
        (standing.remaining, standing.reset.get(), standing.next.get())
    }

    pub(crate) fn remaining(&self, now: u64) -> u64 {
        self.standing(now).0
    }

    pub(crate) fn settle(&mut self, charged: &Charged, units: u64, now: u64) -> bool {
        self.limits[0].settle(&mut self.states[0], charged, units, self.period, at(now))
    }

    pub(crate) fn release(&mut self, charged: &Charged, now: u64) -> bool {
        self.limits[0].release(&mut self.states[0], charged, at(now))
    }
}
