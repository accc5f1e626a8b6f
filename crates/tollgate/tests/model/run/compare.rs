//! Field by field, line by line.

use std::fmt;

use serde_json::Value;

use super::command::replay;
use super::shrink::shortest;
use crate::model::generate::Case;
use crate::model::policy::Policy;
use crate::model::rules::Replay;
use crate::model::trace::Request;
use crate::model::yaml::policy_file;

/// What the model says of a trace.
pub(crate) fn expected(policy: &Policy, requests: &[Request]) -> Vec<Value> {
    let mut model = Replay::new(policy);
    requests
        .iter()
        .enumerate()
        .map(|(place, request)| model.next(request).json(place + 1))
        .collect()
}

/// Where the two sides differ first.
pub(crate) struct Difference {
    pub(crate) line: usize,
    model: String,
    command: String,
}

/// The first difference of a trace, if any.
pub(crate) fn difference(policy: &Policy, requests: &[Request]) -> Option<Difference> {
    let expected = expected(policy, requests);
    let decided = match replay(policy, requests) {
        Ok(decided) => decided,
        Err(said) => {
            return Some(Difference {
                line: 1,
                model: "a decision for every line".to_owned(),
                command: said,
            });
        }
    };
    let place = (0..expected.len().max(decided.len()))
        .find(|&place| expected.get(place) != decided.get(place))?;
    let text =
        |lines: &[Value]| lines.get(place).map_or("no such line".to_owned(), Value::to_string);
    Some(Difference { line: place + 1, model: text(&expected), command: text(&decided) })
}

/// A seed whose case came out differently, made short.
pub(crate) struct Failure {
    seed: u64,
    policy: String,
    requests: Vec<Request>,
    difference: Difference,
}

/// Compares one case.
pub(crate) fn check(case: &Case) -> Result<(), Box<Failure>> {
    let Some(first) = difference(&case.policy, &case.requests) else { return Ok(()) };
    let (requests, difference) = shortest(&case.policy, &case.requests, first);
    Err(Box::new(Failure {
        seed: case.seed,
        policy: policy_file(&case.policy),
        requests,
        difference,
    }))
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {} differs at line {} of:", self.seed, self.difference.line)?;
        writeln!(f, "{}", self.policy)?;
        for request in &self.requests {
            writeln!(f, "{}", request.line())?;
        }
        writeln!(f, "model:   {}", self.difference.model)?;
        writeln!(f, "command: {}", self.difference.command)
    }
}
