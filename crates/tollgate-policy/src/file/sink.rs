//! Where every part of the reader says what it found, so that all errors come in one go.

use super::diagnostic::{Report, Severity, Span};
use super::surroundings::Surroundings;

/// Collects diagnostics while the file is read.
pub(crate) struct Sink<'s> {
    report: Report,
    /// What the file may ask of the world.
    pub(crate) surroundings: &'s Surroundings,
    /// Bytes that environment names brought in so far.
    pub(crate) substituted: usize,
}

impl<'s> Sink<'s> {
    pub(crate) fn new(source_name: &str, text: &str, surroundings: &'s Surroundings) -> Sink<'s> {
        Sink { report: Report::new(source_name, text), surroundings, substituted: 0 }
    }

    /// Something keeps the policy from running.
    pub(crate) fn error(&mut self, at: Span, message: String, help: impl Into<Option<String>>) {
        self.report.push(Severity::Error, at, message, help.into());
    }

    /// A trap.
    pub(crate) fn warn(&mut self, at: Span, message: String, help: &str) {
        self.report.push(Severity::Warning, at, message, Some(help.to_owned()));
    }

    /// What stands at `span` is shown to nobody.
    pub(crate) fn hide(&mut self, span: Span) {
        self.report.hide(span);
    }

    /// Whether nothing more is kept, so that it need not be worked out.
    pub(crate) fn full(&self) -> bool {
        self.report.is_full()
    }

    /// Whether an error was said so far.
    pub(crate) fn failed(&self) -> bool {
        self.report.has_errors()
    }

    pub(crate) fn line_and_column(&self, offset: usize) -> (usize, usize) {
        self.report.line_and_column(offset)
    }

    /// All that was said, in the file's order.
    pub(crate) fn into_report(mut self) -> Report {
        self.report.sort();
        self.report
    }
}
