//! What the reader has to say of a policy file: each diagnostic with its place, what is wrong and what would be right.

use std::fmt;

/// How grave a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The policy cannot run.
    Error,
    /// The policy can run, and may not do what its writer expects.
    Warning,
}

/// A range of bytes in the source text, the end not included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One after the last byte.
    pub end: usize,
}

/// One thing that is wrong or risky, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether it keeps the policy from running.
    pub severity: Severity,
    /// What is wrong, without a full stop.
    pub message: String,
    /// Counts from 1.
    pub line: usize,
    /// In characters, counts from 1.
    pub column: usize,
    /// The bytes it is about.
    pub span: Span,
    /// What would be right.
    pub help: Option<String>,
}

/// All that the reader has to say of one file, in the file's order.
///
/// `Display` gives one line a diagnostic, as compilers do, for logs and editors; [`Report::render`] shows the source too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    source_name: String,
    text: String,
    diagnostics: Vec<Diagnostic>,
    /// Where secrets are written.
    hidden: Vec<Span>,
}

/// Most diagnostics that are kept of one file; the rest are counted.
const MAX_DIAGNOSTICS: usize = 200;

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        })
    }
}

impl Span {
    /// The bytes from `start` up to but not including `end`.
    #[must_use]
    pub const fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }
}

impl Report {
    /// An empty report on `text`, called `source_name` in what is shown.
    #[must_use]
    pub fn new(source_name: &str, text: &str) -> Report {
        Report {
            source_name: source_name.to_owned(),
            text: text.to_owned(),
            diagnostics: Vec::new(),
            hidden: Vec::new(),
        }
    }

    /// Adds a diagnostic on `span`. Beyond 200 nothing is added but a last one that says so.
    pub fn push(&mut self, severity: Severity, span: Span, message: String, help: Option<String>) {
        if self.is_full() {
            return;
        }
        let (message, help) = if self.diagnostics.len() == MAX_DIAGNOSTICS {
            ("too much is wrong here: what follows is not shown".to_owned(), None)
        } else {
            (message, help)
        };
        let (message, help) = (printable(&message), help.map(|help| printable(&help)));
        let (line, column) = self.line_and_column(span.start);
        self.diagnostics.push(Diagnostic { severity, message, line, column, span, help });
    }

    /// Has [`Report::render`] show stars for what stands at `span`: a secret.
    pub(crate) fn hide(&mut self, span: Span) {
        self.hidden.push(span);
    }

    /// The text with a star for each character of a secret.
    pub(crate) fn shown_text(&self) -> std::borrow::Cow<'_, str> {
        if self.hidden.is_empty() {
            return self.text.as_str().into();
        }
        let hidden =
            |at: usize| self.hidden.iter().any(|span| (span.start..span.end).contains(&at));
        let star = |(at, c)| if c != '\n' && hidden(at) { '*' } else { c };
        self.text.char_indices().map(star).collect::<String>().into()
    }

    /// All diagnostics: in the file's order once the reader is done.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The name of the file.
    #[must_use]
    pub fn source_name(&self) -> &str {
        &self.source_name
    }

    /// The text that the diagnostics are about.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether nothing was said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// Whether there is an error among them.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.count(Severity::Error) > 0
    }

    /// How many there are of one severity.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count()
    }

    /// The text with source lines, carets and help, for a person's eyes; ends with a line break unless empty.
    #[must_use]
    pub fn render(&self) -> String {
        super::render::render(self)
    }

    /// The first error on one line, and how many there are besides; empty where there is none.
    #[must_use]
    pub fn summary(&self) -> String {
        let error = |diagnostic: &&Diagnostic| diagnostic.severity == Severity::Error;
        let Some(first) = self.diagnostics.iter().find(error) else { return String::new() };
        match self.count(Severity::Error) - 1 {
            0 => self.line(first),
            more => format!("{}; and {more} more", self.line(first)),
        }
    }

    /// One diagnostic as compilers write it.
    fn line(&self, diagnostic: &Diagnostic) -> String {
        let Diagnostic { severity, message, line, column, help, .. } = diagnostic;
        let help = help.as_ref().map_or(String::new(), |help| format!(" (help: {help})"));
        format!("{}:{line}:{column}: {severity}: {message}{help}", self.source_name)
    }

    /// Whether what is pushed now is dropped.
    pub(crate) fn is_full(&self) -> bool {
        self.diagnostics.len() > MAX_DIAGNOSTICS
    }

    /// Puts the diagnostics in the file's order.
    pub(crate) fn sort(&mut self) {
        self.diagnostics.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.severity));
    }

    /// Line and column, both from 1, of a byte offset. An offset beyond the text is its end.
    pub(crate) fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &self.text[..end];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
        (line, before[line_start..].chars().count() + 1)
    }
}

/// Longest message, in characters: values of the file are quoted in it.
const LONGEST: usize = 500;

/// A message as one line that a terminal shows as it is, cut where a quoted value is long.
fn printable(message: &str) -> String {
    let shown = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let mut text: String = message.chars().take(LONGEST).map(shown).collect();
    if text.len() < message.len() && message.chars().nth(LONGEST).is_some() {
        text.push('…');
    }
    text
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.diagnostics.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            f.write_str(&self.line(diagnostic))?;
        }
        Ok(())
    }
}

impl std::error::Error for Report {}
