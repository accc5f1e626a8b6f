//! What is looked up beside a request: tables, and the keys that tokens are verified with. Both are read from files and
//! read again when those change, while requests go on with what they began with.

mod file;
mod rows;
mod table;
mod token;
mod verified;

use std::sync::Arc;

pub(crate) use file::Stamp;
pub(crate) use table::{KeyColumn, Reading, Table, TableUse};
#[cfg(test)]
pub(crate) use token::tests::material as tests_of_tokens;
pub(crate) use token::{Claims, TokenKeys, TokenUse};

/// One consistent state of them all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lookups {
    tables: Vec<(Arc<Table>, Option<Stamp>)>,
    tokens: Vec<(Arc<TokenKeys>, Option<Stamp>)>,
}

/// What of them a policy uses, and where it is; fixed with the policy.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    /// One for each of the policy's tables.
    pub(crate) tables: Vec<TableUse>,
    /// One for each way in which tokens are verified.
    pub(crate) tokens: Vec<TokenUse>,
}

impl Lookups {
    /// Reads all; `problem` is told of each that cannot be, and an empty one stands in.
    pub(crate) fn load(uses: &Uses, problem: &mut dyn FnMut(Reading<'_>, String)) -> Lookups {
        let mut lookups = Lookups::default();
        for (place, table) in uses.tables.iter().enumerate() {
            let stamp = table.file().map(|path| Stamp::of(&path));
            let read = table.read().unwrap_or_else(|text| {
                problem(Reading::Table(place), text);
                Table::default()
            });
            lookups.tables.push((Arc::new(read), stamp));
        }
        for token in &uses.tokens {
            let stamp = token.file().map(|path| Stamp::of(&path));
            let read = token.read().unwrap_or_else(|text| {
                problem(Reading::Token(token.identities()), text);
                TokenKeys::default()
            });
            lookups.tokens.push((Arc::new(read), stamp));
        }
        lookups
    }

    /// Reads again those whose file changed. `None`: none did. What cannot be read stays as it was, and `problem` is told,
    /// once for each change of the file.
    pub(crate) fn refreshed(
        &self,
        uses: &Uses,
        problem: &mut dyn FnMut(String),
    ) -> Option<Lookups> {
        let mut next = self.clone();
        let mut changed = false;
        for ((table, stamp), used) in next.tables.iter_mut().zip(&uses.tables) {
            changed |= refresh(table, stamp, used.file(), || used.read(), problem);
        }
        for ((keys, stamp), used) in next.tokens.iter_mut().zip(&uses.tokens) {
            changed |= refresh(keys, stamp, used.file(), || used.read(), problem);
        }
        changed.then_some(next)
    }

    /// The table at `place`.
    pub(crate) fn table(&self, place: usize) -> &Table {
        &self.tables[place].0
    }

    /// The keys at `place`.
    pub(crate) fn token(&self, place: usize) -> &TokenKeys {
        &self.tokens[place].0
    }
}

/// Whether the file behind `held` changed. The stamp is taken before reading, so a change while reading is seen next time.
fn refresh<T>(
    held: &mut Arc<T>,
    stamp: &mut Option<Stamp>,
    path: Option<std::path::PathBuf>,
    read: impl FnOnce() -> Result<T, String>,
    problem: &mut dyn FnMut(String),
) -> bool {
    let Some(now) = path.map(|path| Stamp::of(&path)) else { return false };
    if stamp.as_ref() == Some(&now) {
        return false;
    }
    *stamp = Some(now);
    match read() {
        Ok(fresh) => *held = Arc::new(fresh),
        Err(text) => problem(text),
    }
    true
}
