//! How many of a step's requests passed.

use tollgate_policy::Ruling;
use tollgate_policy::file::{Expect, ExpectedDecision};

use super::{Mismatch, compare};

/// Counts of one step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Passed, now or later.
    admitted: u64,
    /// Passed later.
    delayed: u64,
    /// Did not pass.
    refused: u64,
}

impl Tally {
    pub(super) fn note(&mut self, ruling: &Ruling) {
        match compare::word(ruling) {
            ExpectedDecision::Admit => self.admitted += 1,
            ExpectedDecision::Delay => {
                self.admitted += 1;
                self.delayed += 1;
            }
            ExpectedDecision::Refuse => self.refused += 1,
        }
    }

    pub(super) fn compare(&self, expect: &Expect) -> Vec<Mismatch> {
        let counts = [
            ("admitted", expect.admitted, self.admitted),
            ("delayed", expect.delayed, self.delayed),
            ("refused", expect.refused, self.refused),
        ];
        let differs = counts.into_iter().filter_map(|(what, expected, found)| {
            let expected = expected.filter(|expected| *expected != found)?;
            Some(Mismatch::new(what, expected.to_string(), found.to_string()))
        });
        differs.collect()
    }
}
