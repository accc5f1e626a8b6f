//! Compiling identities: names become places, header names are checked, what several identities read is read once.

use http::HeaderName;

use super::{Credential, Identity, Pointer, Source, fold};
use crate::lookups::{KeyColumn, TableUse, TokenUse, Uses};
use crate::settings::{self, ApiKeyAt, JwtKeys};

/// Most sources of one identity: a key says by one byte which of them spoke.
const MAX_SOURCES: usize = 64;

/// Identities, and what they read together.
#[derive(Debug, Default)]
pub(crate) struct Compiled {
    pub(crate) identities: Vec<Identity>,
    pub(crate) credentials: Vec<Credential>,
    pub(crate) uses: Uses,
}

/// Compiles the identities of `settings`; `problem` is told of each that cannot be, by its place.
pub(crate) fn compile(
    settings: &settings::Settings,
    problem: &mut dyn FnMut(usize, String),
) -> Compiled {
    let mut compiled = Compiled::default();
    compiled.uses.tables = settings.tables.iter().map(TableUse::new).collect();
    for (place, identity) in settings.identities.iter().enumerate() {
        let problem = &mut |text| problem(place, text);
        if identity.sources.len() > MAX_SOURCES {
            problem(format!("it has more than {MAX_SOURCES} sources"));
        }
        let mut sources = Vec::new();
        for source in identity.sources.iter().take(MAX_SOURCES) {
            match compiled.source(settings, place, source) {
                Ok(source) => sources.push(source),
                Err(text) => problem(text),
            }
        }
        if looks_at_itself(settings, place) {
            problem("it looks itself up, by way of the identities whose values it takes".into());
        }
        let default = identity.default.as_ref().map(|text| spelt(text, identity.fold).into());
        compiled.identities.push(Identity { sources, default, fold: identity.fold.case });
    }
    compiled
}

/// `text` as a value of an identity with `folding` is spelt.
pub(crate) fn spelt(text: &str, folding: settings::Fold) -> Vec<u8> {
    if folding.case { fold(text.as_bytes()).into_owned() } else { text.as_bytes().to_vec() }
}

impl Compiled {
    fn source(
        &mut self,
        settings: &settings::Settings,
        identity: usize,
        source: &settings::Source,
    ) -> Result<Source, String> {
        Ok(match source {
            settings::Source::Header { name, from } => {
                Source::Header { name: header(name)?, from: *from }
            }
            settings::Source::Query { name } => Source::Query { name: name.clone() },
            settings::Source::Cookie { name, from } => {
                Source::Cookie { name: name.clone(), from: *from }
            }
            settings::Source::Path { segment } => Source::Path { segment: *segment },
            settings::Source::BasicUser => Source::BasicUser,
            settings::Source::Json { pointer } => {
                let pointer =
                    Pointer::parse(pointer).map_err(|bad| format!("{pointer:?} is {bad}"))?;
                Source::Json { pointer, place: first_of_body(settings, identity) }
            }
            settings::Source::Form { field } => {
                Source::Form { field: field.clone(), place: first_of_body(settings, identity) }
            }
            settings::Source::ClientCertificate(field) => Source::Certificate(*field),
            settings::Source::Ip => Source::Ip,
            settings::Source::Jwt { claim, header: name, keys, issuer, audience } => {
                let token = TokenUse::new(header(name)?, keys, issuer, audience, identity);
                Source::Jwt { token: self.token(token), claim: claim.clone() }
            }
            settings::Source::ApiKey { at, table, column } => {
                let uses = self.table(*table)?;
                let index = uses.index("key_sha256", KeyColumn::Sha256);
                let column = uses.column(column);
                Source::ApiKey { credential: self.credential(at, *table, index)?, column }
            }
            settings::Source::Table { table, key_column, value_of, column } => {
                let other = settings.identities.get(*value_of);
                let other = other.ok_or_else(|| {
                    format!("it looks up identity {value_of}, which is not there")
                })?;
                let kind = if other.fold.case { KeyColumn::Folded } else { KeyColumn::Exact };
                let uses = self.table(*table)?;
                let (index, column) = (uses.index(key_column, kind), uses.column(column));
                Source::Table { table: *table, index, value_of: *value_of, column }
            }
        })
    }

    fn table(&mut self, place: usize) -> Result<&mut TableUse, String> {
        self.uses
            .tables
            .get_mut(place)
            .ok_or_else(|| format!("it looks into table {place}, which is not there"))
    }

    fn token(&mut self, token: TokenUse) -> usize {
        let known = self.uses.tokens.iter_mut().position(|known| known.absorb(&token));
        known.unwrap_or_else(|| {
            self.uses.tokens.push(token);
            self.uses.tokens.len() - 1
        })
    }

    fn credential(&mut self, at: &ApiKeyAt, table: usize, index: usize) -> Result<usize, String> {
        let header = match at {
            ApiKeyAt::Header(name) => Some(header(name)?),
            ApiKeyAt::Query(_) => None,
        };
        let credential = Credential { at: at.clone(), header, table, index };
        let known = self.credentials.iter().position(|known| *known == credential);
        Ok(known.unwrap_or_else(|| {
            self.credentials.push(credential);
            self.credentials.len() - 1
        }))
    }
}

/// The place of the identity's first source that is in the body.
fn first_of_body(settings: &settings::Settings, identity: usize) -> u8 {
    let sources = settings.identities.get(identity).map_or(&[][..], |known| &known.sources);
    let in_body = |source: &settings::Source| {
        matches!(source, settings::Source::Json { .. } | settings::Source::Form { .. })
    };
    sources.iter().position(in_body).and_then(|place| u8::try_from(place).ok()).unwrap_or_default()
}

/// The name of a header.
pub(crate) fn header(name: &str) -> Result<HeaderName, String> {
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("{name:?} is no header's name"))
}

/// Whether the identity at `start` is reached from itself over the identities that tables are looked up by.
fn looks_at_itself(settings: &settings::Settings, start: usize) -> bool {
    let mut seen = vec![false; settings.identities.len()];
    let mut open = vec![start];
    while let Some(place) = open.pop() {
        let Some(identity) = settings.identities.get(place) else { continue };
        for source in &identity.sources {
            let settings::Source::Table { value_of, .. } = source else { continue };
            if *value_of == start {
                return true;
            }
            if seen.get(*value_of) == Some(&false) {
                seen[*value_of] = true;
                open.push(*value_of);
            }
        }
    }
    false
}

/// A text that is the same for equal sources: part of what must not change for counts to survive a reload.
pub(crate) fn describe(settings: &settings::Settings, place: usize) -> String {
    let Some(identity) = settings.identities.get(place) else { return String::new() };
    let mut text = format!("{}{{fold:{}", identity.name, identity.fold.case);
    for source in &identity.sources {
        text.push('|');
        text.push_str(&match source {
            // A key's secret and an address of a file are no part of who is asking.
            settings::Source::Jwt { claim, header, keys, .. } => {
                let kind = match keys {
                    JwtKeys::Hmac { .. } => "hmac",
                    JwtKeys::Pem { .. } => "pem",
                    JwtKeys::Jwks { .. } => "jwks",
                };
                format!("jwt {claim:?} {header:?} {kind}")
            }
            settings::Source::ApiKey { at, table, column } => {
                format!("api_key {at:?} {:?} {column:?}", table_name(settings, *table))
            }
            settings::Source::Table { table, key_column, value_of, column } => {
                let name = settings.identities.get(*value_of).map(|other| &other.name);
                format!(
                    "table {:?} {key_column:?} {name:?} {column:?}",
                    table_name(settings, *table)
                )
            }
            other => format!("{other:?}"),
        });
    }
    text.push('}');
    text
}

fn table_name(settings: &settings::Settings, place: usize) -> Option<&str> {
    settings.tables.get(place).map(|table| &*table.name)
}
