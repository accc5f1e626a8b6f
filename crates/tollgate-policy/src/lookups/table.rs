//! Tables: the columns that the policy uses, indexed by those that it looks up.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::rows::{self, Cells, Rows};
use crate::identity::fold;
use crate::settings::TableRows;

/// A table in memory.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Box<[Option<Box<str>>]>>,
    indexes: Vec<HashMap<Box<[u8]>, usize>>,
}

/// What a problem with a file concerns.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reading<'a> {
    /// The table at this place.
    Table(usize),
    /// The token keys of the identities at these places.
    Token(&'a [usize]),
}

/// Where a table's rows are, and what of them is used.
#[derive(Debug)]
pub(crate) struct TableUse {
    name: Arc<str>,
    rows: TableRows,
    columns: Vec<String>,
    keys: Vec<(String, KeyColumn)>,
}

/// How a column's cells are spelt in its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyColumn {
    /// As they are.
    Exact,
    /// Folded.
    Folded,
    /// As the 32 bytes that 64 hexadecimal digits stand for.
    Sha256,
}

impl Table {
    /// The row whose key in `index` is `key`.
    pub(crate) fn find(&self, index: usize, key: &[u8]) -> Option<usize> {
        self.indexes.get(index)?.get(key).copied()
    }

    /// A cell; `None` where it is empty.
    pub(crate) fn cell(&self, row: usize, column: usize) -> Option<&str> {
        self.rows.get(row)?.get(column)?.as_deref()
    }
}

impl TableUse {
    /// A table of which nothing is used yet.
    pub(crate) fn new(table: &crate::settings::Table) -> TableUse {
        let rows = table.rows.clone();
        TableUse { name: Arc::clone(&table.name), rows, columns: Vec::new(), keys: Vec::new() }
    }

    /// The place of `column` among those used.
    pub(crate) fn column(&mut self, column: &str) -> usize {
        let known = self.columns.iter().position(|known| known == column);
        known.unwrap_or_else(|| {
            self.columns.push(column.to_owned());
            self.columns.len() - 1
        })
    }

    /// The place of the index of `column`, spelt as `kind`.
    pub(crate) fn index(&mut self, column: &str, kind: KeyColumn) -> usize {
        let known = self.keys.iter().position(|(known, how)| known == column && *how == kind);
        known.unwrap_or_else(|| {
            self.keys.push((column.to_owned(), kind));
            self.keys.len() - 1
        })
    }

    /// The file that its rows are in.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        match &self.rows {
            TableRows::Inline(_) => None,
            TableRows::File(path) => Some(path.clone()),
        }
    }

    /// Reads it.
    ///
    /// # Errors
    /// Text that names the table and says what is wrong.
    pub(crate) fn read(&self) -> Result<Table, String> {
        let rows = match &self.rows {
            TableRows::Inline(rows) => Ok(inline(rows)),
            TableRows::File(path) => rows::read(path, &self.used().collect::<Vec<_>>()),
        };
        rows.and_then(|rows| self.compile(rows))
            .map_err(|text| format!("table {}: {text}", self.name))
    }

    fn compile(&self, rows: Rows) -> Result<Table, String> {
        let mut table = Table { rows: Vec::with_capacity(rows.len()), indexes: Vec::new() };
        table.indexes.resize_with(self.keys.len(), || HashMap::with_capacity(rows.len()));
        self.check_columns(&rows)?;
        let mut places: Vec<&str> = Vec::with_capacity(rows.len());
        for (place, cells) in &rows {
            for ((column, kind), index) in self.keys.iter().zip(&mut table.indexes) {
                let Some(text) = filled(cells, column) else { continue };
                let key = kind.spell(text).map_err(|why| format!("{place}: {column}: {why}"))?;
                if let Some(other) = index.insert(key, places.len()) {
                    let other = places[other];
                    return Err(format!(
                        "{place}: {column} is the same as in {other}; each row needs its own"
                    ));
                }
            }
            places.push(place);
            let cell = |column: &String| filled(cells, column).map(Box::from);
            table.rows.push(self.columns.iter().map(cell).collect());
        }
        Ok(table)
    }

    /// The columns that the policy uses.
    fn used(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().chain(self.keys.iter().map(|(column, _)| column)).map(String::as_str)
    }

    /// A column that no row has is a mistake; one that some rows lack is empty there.
    fn check_columns(&self, rows: &Rows) -> Result<(), String> {
        for column in self.used() {
            if !rows.is_empty() && !rows.iter().any(|(_, cells)| cells.contains_key(column)) {
                let known: Vec<_> = rows[0].1.keys().map(String::as_str).collect();
                return Err(format!(
                    "it has no column {column}; its columns are {}",
                    known.join(", ")
                ));
            }
        }
        Ok(())
    }
}

fn inline(rows: &[Vec<(String, String)>]) -> Rows {
    let row = |(place, cells): (usize, &Vec<(String, String)>)| {
        (format!("row {}", place + 1), cells.iter().cloned().collect::<Cells>())
    };
    rows.iter().enumerate().map(row).collect()
}

fn filled<'a>(cells: &'a Cells, column: &str) -> Option<&'a str> {
    cells.get(column).map(String::as_str).filter(|text| !text.is_empty())
}

impl KeyColumn {
    fn spell(self, text: &str) -> Result<Box<[u8]>, &'static str> {
        match self {
            KeyColumn::Exact => Ok(text.as_bytes().into()),
            KeyColumn::Folded => Ok(fold(text.as_bytes()).into()),
            KeyColumn::Sha256 => hex(text).map(|digest| Box::from(digest.as_slice())),
        }
    }
}

/// The 32 bytes that `text` stands for. A message never repeats the text, which may be a key put there by mistake.
fn hex(text: &str) -> Result<[u8; 32], &'static str> {
    const WRONG: &str =
        "this is no SHA-256 in 64 hexadecimal digits; `printf %s KEY | sha256sum` prints one";
    let text = text.as_bytes();
    let mut digest = [0; 32];
    if text.len() != 64 {
        return Err(WRONG);
    }
    for (byte, pair) in digest.iter_mut().zip(text.chunks_exact(2)) {
        let digit = |place: usize| char::from(pair[place]).to_digit(16).ok_or(WRONG);
        *byte = (digit(0)? * 16 + digit(1)?) as u8;
    }
    Ok(digest)
}

#[cfg(test)]
mod tests;
