//! What differs from what a test expects.

use std::fmt;

use tollgate_policy::file::{Place, TestStep};

use crate::Record;
use crate::format::to_rfc3339;

/// One request, or one whole step, that came out otherwise than expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Where the step stands in its file.
    pub place: Place,
    /// What is spoken of, for a person.
    pub subject: String,
    /// What differs; never empty.
    pub mismatches: Vec<Mismatch>,
}

/// One thing that is otherwise than expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// As the test names it.
    pub what: String,
    /// What the test says.
    pub expected: String,
    /// What came.
    pub found: String,
}

impl Mismatch {
    pub(super) fn new(
        what: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Mismatch {
        Mismatch { what: what.into(), expected: expected.into(), found: found.into() }
    }
}

impl Difference {
    /// Of the step's request `number`, counted from 0; `None` where nothing differs.
    pub(super) fn at(
        step: &TestStep,
        number: u64,
        record: &Record,
        mismatches: Vec<Mismatch>,
    ) -> Option<Difference> {
        let which = if step.repeat > 1 {
            format!("request {} of {}: ", number + 1, step.repeat)
        } else {
            String::new()
        };
        let (method, path) = (record.method(), record.path());
        let from = record.peer.map(|peer| format!(" from {peer}")).unwrap_or_default();
        let subject = format!("{which}{method} {path}{from} at {}", to_rfc3339(record.time));
        Difference::of(step, subject, mismatches)
    }

    /// Of the step as a whole; `None` where nothing differs.
    pub(super) fn after(step: &TestStep, mismatches: Vec<Mismatch>) -> Option<Difference> {
        let plural = if step.repeat == 1 { "" } else { "s" };
        Difference::of(step, format!("after {} request{plural}", step.repeat), mismatches)
    }

    fn of(step: &TestStep, subject: String, mismatches: Vec<Mismatch>) -> Option<Difference> {
        if mismatches.is_empty() {
            return None;
        }
        Some(Difference { place: step.place, subject, mismatches })
    }
}

/// As a diff: what was expected after `-`, what came after `+`.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.subject)?;
        for Mismatch { what, expected, found } in &self.mismatches {
            writeln!(f, "  - {what}: {expected}")?;
            writeln!(f, "  + {what}: {found}")?;
        }
        Ok(())
    }
}
