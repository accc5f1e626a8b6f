//! Two proxies, asked in turn, round by round; the medians are compared.

use super::Plan;
use super::load::{Load, Told};
use super::processor::Reading;
use super::server::Server;

/// A round says less where its proxy was ready to run but kept from it for this share of its time.
const DISTURBED: f64 = 0.03;

/// What one round of one proxy came to.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// Microseconds on the processor a request.
    cpu: f64,
    user_share: f64,
    p99: Option<f64>,
    /// Requests a second.
    rate: f64,
    disturbed: bool,
}

/// What one side came to: medians of its rounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    /// Microseconds on the processor a request, and the share of them in user mode.
    pub(super) cpu: f64,
    pub(super) user_share: f64,
    /// 99 of 100 requests took at most so many microseconds.
    pub(super) p99: Option<f64>,
    pub(super) rate: f64,
    /// Rounds that count, and all.
    pub(super) counted: (usize, usize),
}

/// What is asked of both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    pub(super) load: Load,
    pub(super) path: &'static str,
    /// Every request is to be refused; else none.
    pub(super) refused: bool,
}

impl Question {
    /// Asks both sides in turn; who goes first changes.
    pub(super) fn put(self, ours: &Server, peer: &Server, plan: Plan) -> Result<[Side; 2], String> {
        let mut rounds = [Vec::new(), Vec::new()];
        for server in [ours, peer] {
            self.ask(server, 1)?;
        }
        for number in 0..plan.rounds {
            for place in [number % 2, (number + 1) % 2] {
                let server = if place == 0 { ours } else { peer };
                rounds[place].push(self.ask(server, plan.seconds)?);
            }
        }
        Ok(rounds.map(|rounds| summary(&rounds)))
    }

    fn ask(self, server: &Server, seconds: u32) -> Result<Round, String> {
        let before = Reading::of(server.pid())?;
        let told = self.load.run(server.address, self.path, seconds)?;
        let spent = Reading::of(server.pid())? - before;
        self.check(told)?;
        Ok(Round {
            cpu: spent.micros_each(told.requests),
            user_share: spent.user_share(),
            p99: told.p99,
            rate: told.requests / f64::from(seconds),
            disturbed: spent.disturbance() > DISTURBED,
        })
    }

    /// The first request of a user may pass where all others are refused.
    fn check(self, told: Told) -> Result<(), String> {
        let passed = told.requests - told.refused;
        let right = if self.refused { passed <= 2.0 } else { told.refused == 0.0 };
        if right && told.requests > 10.0 {
            return Ok(());
        }
        Err(format!("{} requests, of which {} were refused", told.requests, told.refused))
    }
}

/// The medians of the undisturbed rounds, or of all where less than two are.
fn summary(rounds: &[Round]) -> Side {
    let calm: Vec<&Round> = rounds.iter().filter(|round| !round.disturbed).collect();
    let counted = if calm.len() >= 2 { calm.clone() } else { rounds.iter().collect() };
    let of = |value: &dyn Fn(&Round) -> f64| median(counted.iter().map(|round| value(round)));
    Side {
        cpu: of(&|round| round.cpu),
        user_share: of(&|round| round.user_share),
        p99: counted
            .iter()
            .all(|round| round.p99.is_some())
            .then(|| of(&|round| round.p99.unwrap_or(0.0))),
        rate: of(&|round| round.rate),
        counted: (calm.len(), rounds.len()),
    }
}

/// The median; of an even number the mean of the middle two.
pub(super) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match (values.len() % 2, values.get(middle)) {
        (_, None) => f64::NAN,
        (0, Some(upper)) => (values[middle - 1] + upper) / 2.0,
        (_, Some(value)) => *value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), 2.5);
        assert!(median(std::iter::empty()).is_nan());
    }

    #[test]
    fn disturbed_rounds_do_not_count() {
        let round =
            |cpu, disturbed| Round { cpu, user_share: 0.2, p99: None, rate: 1.0, disturbed };
        let side = summary(&[round(1.0, false), round(9.0, true), round(1.2, false)]);
        assert!((side.cpu - 1.1).abs() < 1e-9, "{side:?}");
        assert_eq!((side.counted, side.p99), ((2, 3), None));
        let all = summary(&[round(1.0, false), round(9.0, true)]);
        assert!((all.cpu - 5.0).abs() < 1e-9, "one calm round is too few: {all:?}");
    }
}
