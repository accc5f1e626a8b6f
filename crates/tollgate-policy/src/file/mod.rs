//! The policy file's reader: YAML text to [`Settings`] and warnings, or all errors at once, each with its place.
//!
//! ```text
//! text -> tree (every value knows its place) -> shape (forms with known fields) -> meaning (Settings) -> warnings
//! ```
//!
//! Each section of the file has a module here, which declares its forms and what they mean. A form's one declaration
//! decodes it, knows its fields and is its part of the JSON Schema.

mod algorithms;
mod answers;
mod classes;
mod client_address;
mod collections;
mod diagnostic;
pub mod duration;
mod gateway;
mod identity;
mod limits;
mod names;
mod nearest;
mod node;
mod paths;
mod policy_file;
pub mod rate;
mod render;
mod routes;
mod scalars;
mod schema;
mod secrets;
mod shape;
mod sink;
mod sources;
mod substitute;
mod surroundings;
mod tables;
mod test_case;
mod test_forms;
mod tests_section;
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

use policy_file::PolicyFile;
use shape::Shape as _;
use sink::Sink;

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
    Ok(Read { settings, warnings: sink.into_report(), tests })
}
