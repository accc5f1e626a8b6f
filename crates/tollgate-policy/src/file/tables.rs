//! `tables:`, rows of named columns, in the policy or in files beside it.

use super::collections::{ListOr, Maybe, Named};
use super::diagnostic::Span;
use super::shape::{At, record};
use super::sink::Sink;
use crate::settings::{Table, TableRows};

/// A row: column names and values.
pub(crate) type RowForm = Vec<Named<Maybe<String>>>;

/// A table: a list of rows, or where they are.
pub(crate) type TableForm = ListOr<RowForm, TableSource>;

record! {
    /// Where a table's rows are: `file` or `rows`.
    TableSource, "a table" {
        /// A CSV file with a line of column names first, or a YAML list of maps; beside the policy unless absolute. Re-read when it changes.
        optional file: String,
        /// Rows in the policy itself.
        optional rows: Vec<At<RowForm>>,
    }
}

/// The tables.
pub(crate) fn tables(
    section: Option<&At<Vec<Named<TableForm>>>>,
    sink: &mut Sink<'_>,
) -> Vec<Table> {
    let declared = section.map_or(&[][..], |section| section.value.as_slice());
    let table = |one: &Named<TableForm>, sink: &mut Sink<'_>| Table {
        name: one.name.as_str().into(),
        rows: match &one.value {
            Some(form) => rows(form, sink),
            None => TableRows::Inline(Vec::new()),
        },
    };
    declared.iter().map(|one| table(one, sink)).collect()
}

fn rows(form: &At<TableForm>, sink: &mut Sink<'_>) -> TableRows {
    let source = match &form.value {
        ListOr::List(rows) => return TableRows::Inline(inline(rows)),
        ListOr::Other(source) => source,
    };
    match (&source.file, &source.rows) {
        (Some(file), None) => table_file(&file.value, file.span, sink),
        (None, Some(rows)) => TableRows::Inline(inline(&rows.value)),
        (both, _) => {
            let message = if both.is_some() { "both `file` and `rows`" } else { "no rows" };
            let help = "write `{ file: keys.csv }`, or a list of rows";
            sink.error(form.name, format!("a table with {message}"), help.to_owned());
            TableRows::Inline(Vec::new())
        }
    }
}

fn inline(rows: &[At<RowForm>]) -> Vec<Vec<(String, String)>> {
    let cell = |cell: &Named<Maybe<String>>| {
        let value = cell.value.as_ref().and_then(|value| value.value.0.clone());
        (cell.name.clone(), value.unwrap_or_default())
    };
    rows.iter().map(|row| row.value.iter().map(cell).collect()).collect()
}

fn table_file(file: &str, at: Span, sink: &mut Sink<'_>) -> TableRows {
    if !["csv", "yaml", "yml"].iter().any(|ending| file.ends_with(&format!(".{ending}"))) {
        let help = "name it `.csv`, `.yaml` or `.yml`, by what it holds";
        sink.error(at, format!("`{file}` is no table file"), help.to_owned());
    }
    TableRows::File(existing_file(file, at, sink))
}

/// The path of a file that must be there now, so that a wrong name is said before anything runs.
pub(crate) fn existing_file(file: &str, at: Span, sink: &mut Sink<'_>) -> std::path::PathBuf {
    let path = sink.surroundings.path(file);
    let wrong = match std::fs::metadata(&path) {
        Ok(metadata) if metadata.is_file() => None,
        Ok(_) => Some("it is no file".to_owned()),
        Err(wrong) => Some(wrong.to_string()),
    };
    if let Some(wrong) = wrong {
        let help = format!("it is looked up as {}", path.display());
        sink.error(at, format!("`{file}` cannot be read: {wrong}"), help);
    }
    path
}

/// Whether a table is known to lack `column`: only rows in the policy itself are looked at.
pub(crate) fn lacks_column(table: &Table, column: &str) -> bool {
    match &table.rows {
        TableRows::Inline(rows) => {
            !rows.is_empty() && rows.iter().all(|row| row.iter().all(|(name, _)| name != column))
        }
        TableRows::File(_) => false,
    }
}
