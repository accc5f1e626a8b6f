//! The policy file's reader: YAML text to [`Settings`] and warnings, or all errors at once, each with its place.
//!
//! ```text
//! text -> tree (every value knows its place) -> shape (forms with known fields) -> meaning (Settings) -> warnings
//! ```
//!
//! Each section of the file has a module here, which declares its forms and what they mean. A form's one declaration
//! decodes it, knows its fields and is its part of the JSON Schema.

mod access_log;
mod algorithms;
mod answers;
mod bodies;
mod classes;
mod client_address;
mod collections;
mod diagnostic;
pub mod duration;
mod forwarding;
mod gateway;
mod identity;
mod limits;
mod listener_tls;
mod listeners;
mod mask;
mod memory;
mod names;
mod nearest;
mod node;
mod parameters;
mod paths;
mod places;
mod policy_file;
pub mod rate;
mod render;
mod route_traps;
mod routes;
mod scalars;
mod schema;
mod secrets;
mod shape;
mod sink;
mod sources;
mod store;
mod substitute;
mod surroundings;
mod sync;
mod syntax;
mod tables;
mod test_case;
mod test_forms;
mod tests_section;
mod traps;
mod tree;
mod upstreams;
mod verified;

pub use diagnostic::{Diagnostic, Report, Severity, Span};
pub use schema::json_schema;
pub use surroundings::Surroundings;
pub use test_case::{
    Expect, ExpectedDecision, ExpectedRetry, Place, RequestTemplate, TestCase, TestRequest,
    TestStep,
};
pub use tree::MAX_FILE_BYTES;

use places::Places;
use policy_file::PolicyFile;
use shape::Shape as _;
use sink::Sink;
use test_forms::TestFile;

use crate::Policy;
use crate::settings::Settings;

/// A policy file that may run.
#[derive(Clone, Debug)]
pub struct Read {
    /// What it says.
    pub settings: Settings,
    /// Traps, each with its place; never an error.
    pub warnings: Report,
    /// Its `tests:`.
    pub tests: Vec<TestCase>,
    /// Where what the settings hold is written.
    places: Places,
}

impl Read {
    /// Compiles the settings: reads the files of tables and keys, too.
    ///
    /// # Errors
    /// A [`Report`] of all that is wrong, each thing at the table, identity, limit or route that it concerns.
    pub fn compile(&self) -> Result<Policy, Box<Report>> {
        Policy::compile(self.settings.clone()).map_err(|wrong| {
            let mut report = Report::new(self.warnings.source_name(), self.warnings.text());
            for problem in wrong.problems {
                let place = self.places.of(problem.place);
                report.push(Severity::Error, place, problem.text, None);
            }
            report.sort();
            Box::new(report)
        })
    }
}

/// Reads a policy file. `source_name` is how the file is called in diagnostics.
///
/// # Errors
/// A [`Report`] of everything that is wrong (and the warnings with it), where anything is.
pub fn read(
    source_name: &str,
    text: &str,
    surroundings: &Surroundings,
) -> Result<Read, Box<Report>> {
    let mut sink = Sink::new(source_name, text, surroundings);
    let file = tree::parse(text, &mut sink).and_then(|root| PolicyFile::decode(&root, &mut sink));
    let Some(file) = file else { return Err(Box::new(sink.into_report())) };
    let (settings, tests) = file.meaning(&mut sink);
    if sink.failed() {
        return Err(Box::new(sink.into_report()));
    }
    traps::limits(&file, &settings, &mut sink);
    route_traps::routes(&file, &settings, &mut sink);
    let places = Places::of_file(&file);
    Ok(Read { settings, warnings: sink.into_report(), tests, places })
}

/// Reads a file of tests beside a policy: the same `tests:` section, alone.
///
/// # Errors
/// A [`Report`] of everything that is wrong, where anything is. A limit that `settings` does not have is wrong.
pub fn read_tests(
    source_name: &str,
    text: &str,
    settings: &Settings,
    surroundings: &Surroundings,
) -> Result<Vec<TestCase>, Box<Report>> {
    let mut sink = Sink::new(source_name, text, surroundings);
    let file = tree::parse(text, &mut sink).and_then(|root| TestFile::decode(&root, &mut sink));
    let limits = settings.limits.iter().map(|limit| limit.name.to_string());
    let known = names::Known::new("limit", "limits", limits.collect());
    let tests = file.map(|file| tests_section::tests(file.tests.as_ref(), &known, &mut sink));
    match tests {
        Some(tests) if !sink.failed() => Ok(tests),
        _ => Err(Box::new(sink.into_report())),
    }
}
