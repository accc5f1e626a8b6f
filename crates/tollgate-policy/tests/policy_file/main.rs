//! The policy file's reader, from outside: what is an error and where, what is a trap, what a file means.

#![allow(clippy::unwrap_used, reason = "a failed test says where")]
mod errors;
mod examples;
mod field_cases;
mod listeners;
mod meaning;
mod memory_store;
mod policy_tests;
mod properties;
mod rates_and_durations;
mod reference;
mod schema;
mod shared_store;
mod snapshots;
mod substitution;
mod upstreams;
mod warnings;

use tollgate_policy::file::{self, Read, Report, Severity, Surroundings};

/// Reads with no environment and no files.
fn read(text: &str) -> Result<Read, Box<Report>> {
    file::read("policy.yaml", text, &Surroundings::new("/nowhere"))
}

/// What a policy means; panics with its errors.
fn meaning(text: &str) -> Read {
    read(text).unwrap_or_else(|report| panic!("{}\n{text}", report.render()))
}

/// The errors of a wrong policy, one line each: `line:column message (help)`.
fn errors(text: &str) -> Vec<String> {
    match read(text) {
        Ok(_) => Vec::new(),
        Err(report) => lines(&report, Severity::Error),
    }
}

/// The warnings of a policy without errors.
fn warnings(text: &str) -> Vec<String> {
    lines(&meaning(text).warnings, Severity::Warning)
}

fn lines(report: &Report, severity: Severity) -> Vec<String> {
    let of = report.diagnostics().iter().filter(|diagnostic| diagnostic.severity == severity);
    of.map(|diagnostic| {
        let help = diagnostic.help.as_deref().map(|help| format!(" ({help})")).unwrap_or_default();
        format!("{}:{} {}{help}", diagnostic.line, diagnostic.column, diagnostic.message)
    })
    .collect()
}

/// A policy with one limit, whose algorithm and rules are given, on every route.
fn with_limit(limit: &str) -> String {
    format!("limits:\n  one:\n    key: [ip]\n    {limit}\nroutes: [{{ limits: [one] }}]\n")
}
