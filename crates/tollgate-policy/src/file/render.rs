//! Diagnostics for a person's eyes: the line of the source, a caret under the place, and the help below.

use super::diagnostic::{Diagnostic, Report};

/// Longest part of a source line that is shown, in characters.
const SHOWN: usize = 160;

/// Renders all of `report`, one block a diagnostic, with a blank line after each.
pub(super) fn render(report: &Report) -> String {
    let mut out = String::new();
    let text = report.shown_text();
    for diagnostic in report.diagnostics() {
        block(report, &text, diagnostic, &mut out);
        out.push('\n');
    }
    out
}

/// `error: ..` with the place, the source line, carets and the help.
fn block(report: &Report, text: &str, diagnostic: &Diagnostic, out: &mut String) {
    let Diagnostic { severity, message, line, column, .. } = diagnostic;
    let gutter = " ".repeat(line.to_string().len());
    out.push_str(&format!("{severity}: {message}\n"));
    out.push_str(&format!("{gutter}--> {}:{line}:{column}\n", report.source_name()));
    if let Some(source) = text.lines().nth(line - 1) {
        let (shown, caret) = excerpt(source, *column, width(report, diagnostic));
        out.push_str(&format!("{gutter} |\n{line} | {shown}\n{gutter} | {caret}\n"));
    }
    if let Some(help) = &diagnostic.help {
        out.push_str(&format!("{gutter} = help: {help}\n"));
    }
}

/// How many characters of the first line are meant.
fn width(report: &Report, diagnostic: &Diagnostic) -> usize {
    let span = diagnostic.span;
    let meant = report.text().get(span.start..span.end).unwrap_or("");
    meant.lines().next().unwrap_or("").trim_end().chars().count().max(1)
}

/// The part of `source` around the column that fits, and carets under it. Tabs and control characters are shown as
/// one blank each, so that the carets stand right.
fn excerpt(source: &str, column: usize, width: usize) -> (String, String) {
    let from = column.saturating_sub(SHOWN * 3 / 4);
    let blanked = |c: char| if c.is_control() { ' ' } else { c };
    let shown: String = source.chars().skip(from).take(SHOWN).map(blanked).collect();
    let at = column - 1 - from.min(column - 1);
    let room = SHOWN.saturating_sub(at).max(1);
    let caret = format!("{}{}", " ".repeat(at), "^".repeat(width.min(room)));
    (shown.trim_end().to_owned(), caret)
}
