//! The store's side of a leased key, as pure arithmetic over the core's states: what the scripts must equal.

use tollgate_core::{
    Algorithm, Asked, Charged, Limit, Micros, Outcome, Period, Rate, Standing, State, Timestamp,
    step,
};

use super::super::exchange::{Answer, Report, Request};

/// What is left out of the algorithm, to see the simulation notice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fault {
    #[default]
    None,
    /// A bucket's capacity is not counted smaller by what is out.
    CapacityNotReduced,
    /// A generation that ended is forgotten as if its units had never been out.
    EndWithoutClamp,
    /// A report of a generation that ended gives units back.
    LateCredit,
    /// A generation is forgotten one generation early.
    DroppedEarly,
}

/// One key of a leased limit in the store.
#[derive(Clone, Debug)]
pub(crate) struct LeasedKey {
    limit: Limit,
    fault: Fault,
    /// What an exact limit would keep.
    pub(crate) state: State,
    /// Units out on lease by term; a window has its current cell's alone.
    pub(crate) out: Vec<(u64, u64)>,
    generation: u64,
}

/// n and P of a rate n/P in lowest terms: ticks in a microsecond, ticks in a unit.
fn ticks(rate: Rate) -> (u128, u128) {
    let (mut a, mut b) = (rate.count, rate.per.get());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    (u128::from(rate.count / a), u128::from(rate.per.get() / a))
}

impl LeasedKey {
    pub(crate) fn new(limit: Limit, generation: Micros, fault: Fault) -> LeasedKey {
        LeasedKey {
            limit,
            fault,
            state: State::Fresh,
            out: Vec::new(),
            generation: generation.get(),
        }
    }

    fn rate(&self) -> Option<(u128, u128)> {
        match self.limit.algorithm() {
            Algorithm::TokenBucket(bucket) => Some(ticks(bucket.rate)),
            Algorithm::LeakyBucket(bucket) => Some(ticks(bucket.rate)),
            _ => None,
        }
    }

    pub(crate) fn units_out(&self) -> u64 {
        self.out.iter().map(|(_, units)| units).sum()
    }

    /// The first moment of the cell around `now`.
    fn cell(&self, now: u64, period: Option<Period>) -> (u64, u64) {
        let aligned = |length: u64| (now - now % length, now - now % length + length);
        match self.limit.algorithm() {
            Algorithm::FixedWindow(spec) => aligned(spec.window.get()),
            Algorithm::SlidingWindow(spec) => aligned(spec.window.get() / u64::from(spec.cells)),
            _ => {
                let period = period.expect("a quota has a period");
                (period.start.as_micros(), period.end.as_micros())
            }
        }
    }

    /// A bucket's state as if its capacity were smaller by `out` at `at`: it is full again no earlier than what is out takes.
    fn hold_back(&mut self, at: u64, out: u64) {
        let Some((per_micro, unit)) = self.rate() else { return };
        if self.fault == Fault::CapacityNotReduced || out == 0 {
            return;
        }
        let least = u128::from(at) * per_micro + u128::from(out) * unit;
        self.set_full(self.full().max(least));
    }

    /// When a bucket is full again, in ticks.
    fn full(&self) -> u128 {
        match &self.state {
            State::Bucket(word) => u128::from(*word),
            State::WideBucket(word) => *word,
            // The state of a key that was never charged, in whichever word.
            _ => match (self.limit.encode(&State::Fresh), self.limit.decode([0, 0])) {
                ([low, high], State::WideBucket(_)) => u128::from(low) | u128::from(high) << 64,
                ([word, _], _) => u128::from(word),
            },
        }
    }

    fn set_full(&mut self, full: u128) {
        self.state = match self.limit.decode([0, 0]) {
            State::WideBucket(_) => State::WideBucket(full),
            _ => State::Bucket(u64::try_from(full).expect("a narrow bucket stays narrow")),
        };
    }

    /// Brings the key to `now`: terms that ended are forgotten, without credit.
    fn turn_to(&mut self, now: u64, period: Option<Period>) {
        if self.rate().is_none() {
            let (start, _) = self.cell(now, period);
            self.out.retain(|(term, _)| *term == start);
            return;
        }
        let early = if self.fault == Fault::DroppedEarly { self.generation } else { 0 };
        while let Some((end, _)) = self.out.first().copied() {
            if end - early > now {
                break;
            }
            if self.fault != Fault::EndWithoutClamp {
                self.hold_back(end - early, self.units_out());
            }
            self.out.remove(0);
        }
        self.hold_back(now, self.units_out());
    }

    fn hear(&mut self, report: Report, now: u64) {
        let told = report.unspent + report.spent;
        if self.rate().is_none() {
            self.give_back_to_cell(report.term, report.unspent);
        } else if !self.out.iter().any(|(term, out)| *term == report.term && *out >= told) {
            if self.fault == Fault::LateCredit {
                self.raise_level(report.unspent, now);
            }
            return;
        } else {
            self.raise_level(report.unspent, now);
        }
        for (_, out) in self.out.iter_mut().filter(|(term, _)| *term == report.term) {
            *out = out.saturating_sub(told);
        }
        self.out.retain(|(_, out)| *out > 0);
    }

    fn raise_level(&mut self, units: u64, now: u64) {
        let (per_micro, unit) = self.rate().expect("a bucket");
        let least = u128::from(now) * per_micro;
        self.set_full(self.full().saturating_sub(u128::from(units) * unit).max(least));
    }

    fn give_back_to_cell(&mut self, start: u64, units: u64) {
        let charged = Charged { units, fraction: 0, at: Timestamp::from_micros(start), ticket: 0 };
        let at = Timestamp::from_micros(start);
        self.limit.settle(&mut self.state, &charged, 0, Some(Period { start: at, end: at }), at);
    }

    /// An exact charge of `cost`.
    pub(crate) fn charge(&mut self, cost: u64, now: u64, period: Option<Period>) -> Outcome {
        self.turn_to(now, period);
        let mut outcomes = [Outcome::default()];
        let asked = Asked { limit: &self.limit, state: &mut self.state, cost, period };
        step(&mut [asked], Timestamp::from_micros(now), 0, None, &mut outcomes);
        outcomes[0]
    }

    /// The largest cost that would be admitted.
    pub(crate) fn remaining(&mut self, now: u64, period: Option<Period>) -> u64 {
        self.standing(now, period).remaining
    }

    /// One exchange: reports are heard, then those who wait are taken for, then units are lent.
    pub(crate) fn exchange(&mut self, ask: &Request, now: u64, period: Option<Period>) -> Answer {
        self.turn_to(now, period);
        for report in &ask.reports {
            self.hear(*report, now);
        }
        let room = self.remaining(now, period);
        let taken = ask.times.min(room.checked_div(ask.cost).unwrap_or(0));
        self.charge(taken * ask.cost, now, period);
        let lent = ask.want.min(self.remaining(now, period) / ask.parts);
        let (term, end) = match self.rate() {
            Some(_) => {
                let end = (now / self.generation + 2) * self.generation;
                (end, end)
            }
            None => self.cell(now, period),
        };
        if lent > 0 {
            self.charge(lent, now, period);
            match self.out.iter_mut().find(|(other, _)| *other == term) {
                Some((_, out)) => *out += lent,
                None => self.out.push((term, lent)),
            }
        }
        Answer {
            now: Timestamp::from_micros(now),
            taken,
            lent,
            term,
            lasts: Micros::new(end - now),
            out: self.units_out() > 0,
            state: self.state.clone(),
        }
    }

    /// Gives back what was charged beyond `keep` units.
    pub(crate) fn settle(
        &mut self,
        charged: &Charged,
        keep: u64,
        now: u64,
        period: Option<Period>,
    ) {
        self.turn_to(now, period);
        let at = Timestamp::from_micros(now);
        self.limit.settle(&mut self.state, charged, keep, period, at);
        self.hold_back(now, self.units_out());
    }

    /// How it stands.
    pub(crate) fn standing(&mut self, now: u64, period: Option<Period>) -> Standing {
        self.turn_to(now, period);
        self.limit.standing(&self.state, period, Timestamp::from_micros(now))
    }

    /// Forgets the key, but for what is out.
    pub(crate) fn reset(&mut self, now: u64, period: Option<Period>) {
        self.turn_to(now, period);
        self.state = State::Fresh;
        let out = self.units_out();
        if self.rate().is_some() {
            self.hold_back(now, out);
        } else if out > 0 {
            self.charge(out, now, period);
        }
    }
}
