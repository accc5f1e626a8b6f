//! Sources that are checked here: JWTs, API keys, and look-ups in tables.

use std::path::PathBuf;

use super::collections::Short;
use super::identity::{World, header_name};
use super::nearest::{listed, nearest};
use super::secrets::secret;
use super::shape::At;
use super::sink::Sink;
use super::sources::{ApiKeySource, FileForm, JwtSource, TableSourceForm};
use super::tables::{existing_file, lacks_column};
use crate::settings::{ApiKeyAt, JwtKeys, Source};

const HMAC: [&str; 3] = ["HS256", "HS384", "HS512"];
const PUBLIC: [&str; 9] =
    ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"];

/// A claim of a JWT.
pub(crate) fn jwt(form: &At<JwtSource>, sink: &mut Sink<'_>) -> Option<Source> {
    let header = match &form.value.header {
        Some(header) => header_name(header, sink)?,
        None => "authorization".to_owned(),
    };
    let keys = keys(form, sink)?;
    Some(Source::Jwt {
        claim: form.value.claim.as_ref()?.value.clone(),
        header,
        keys,
        issuer: form.value.issuer.as_ref().map(|issuer| issuer.value.clone()),
        audience: form.value.audience.as_ref().map(|audience| audience.value.clone()),
    })
}

fn keys(form: &At<JwtSource>, sink: &mut Sink<'_>) -> Option<JwtKeys> {
    let jwt = &form.value;
    let chosen = jwt.written.among(&["secret", "public_key", "jwks"]);
    if chosen.len() != 1 {
        let at = chosen.last().map_or(form.name, |(_, at)| *at);
        let help = "write one of `secret: { env: NAME }`, `public_key: key.pem`, `jwks: keys.json`";
        let message = "a JWT is checked with exactly one kind of key".to_owned();
        sink.error(at, message, help.to_owned());
        return None;
    }
    if let Some(form) = &jwt.secret {
        let algorithm = algorithm(jwt, &HMAC, Some(HMAC[0]), form.name, sink)?;
        return Some(JwtKeys::Hmac { algorithm, secret: secret(form, sink)? });
    }
    if let Some(key) = &jwt.public_key {
        let algorithm = algorithm(jwt, &PUBLIC, None, key.name, sink)?;
        return Some(JwtKeys::Pem { algorithm, file: file(key, sink)? });
    }
    if let Some(algorithm) = &jwt.algorithm {
        let help = "leave it out: each key of a JWKS file names its own";
        sink.error(algorithm.name, "`algorithm` goes not with `jwks`".to_owned(), help.to_owned());
    }
    Some(JwtKeys::Jwks { file: file(jwt.jwks.as_ref()?, sink)? })
}

/// The algorithm: one of `known`.
fn algorithm(
    form: &JwtSource,
    known: &[&str],
    default: Option<&str>,
    at: super::diagnostic::Span,
    sink: &mut Sink<'_>,
) -> Option<String> {
    let Some(algorithm) = &form.algorithm else {
        if default.is_none() && form.written.place("algorithm").is_none() {
            let help = format!("add `algorithm:`, one of {}", listed(known.iter().copied()));
            let message = "a public key needs its algorithm, lest a token choose it".to_owned();
            sink.error(at, message, help);
        }
        return default.map(str::to_owned);
    };
    if known.contains(&algorithm.value.as_str()) {
        return Some(algorithm.value.clone());
    }
    let all = format!("write one of {}", listed(known.iter().copied()));
    let help = match nearest(&algorithm.value, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? {all}"),
        None => all,
    };
    sink.error(algorithm.span, format!("`{}` does not go with this key", algorithm.value), help);
    None
}

fn file(form: &At<Short<String, FileForm>>, sink: &mut Sink<'_>) -> Option<PathBuf> {
    match &form.value {
        Short::Short(file) => Some(existing_file(file, form.span, sink)),
        Short::Long(long) => {
            let file = long.file.as_ref()?;
            Some(existing_file(&file.value, file.span, sink))
        }
    }
}

/// A column of an API key's row.
pub(crate) fn api_key(
    form: &At<ApiKeySource>,
    world: &World<'_>,
    sink: &mut Sink<'_>,
) -> Option<Source> {
    let key = &form.value;
    let at = match (&key.header, &key.query) {
        (Some(header), None) => header_name(header, sink).map(ApiKeyAt::Header),
        (None, Some(query)) => Some(ApiKeyAt::Query(query.value.clone())),
        _ => {
            let help = "write `header: x-api-key`, or `query: key`";
            let message = "an API key is in one header or one query parameter".to_owned();
            sink.error(form.name, message, help.to_owned());
            None
        }
    };
    let (place, column) = column(key.table.as_ref(), key.column.as_ref(), world, sink)?;
    has_column(place, "key_sha256", key.table.as_ref()?, world, sink);
    Some(Source::ApiKey { at: at?, table: place, column })
}

/// A column of the row that another identity's value names.
pub(crate) fn table(
    form: &At<TableSourceForm>,
    world: &World<'_>,
    sink: &mut Sink<'_>,
) -> Option<Source> {
    let look_up = &form.value;
    let found = column(look_up.name.as_ref(), look_up.column.as_ref(), world, sink);
    let value_of = look_up.value_of.as_ref()?;
    let identity = world.identity_names.place(&value_of.value, value_of.span, sink)?;
    let (place, column) = found?;
    let key_column = look_up.key_column.as_ref().unwrap_or(value_of);
    has_column(place, &key_column.value, key_column, world, sink);
    Some(Source::Table {
        table: place,
        key_column: key_column.value.clone(),
        value_of: identity,
        column,
    })
}

fn column(
    table: Option<&At<String>>,
    column: Option<&At<String>>,
    world: &World<'_>,
    sink: &mut Sink<'_>,
) -> Option<(usize, String)> {
    let table = table?;
    let place = world.table_names.place(&table.value, table.span, sink)?;
    let column = column?;
    has_column(place, &column.value, column, world, sink);
    Some((place, column.value.clone()))
}

fn has_column(place: usize, column: &str, at: &At<String>, world: &World<'_>, sink: &mut Sink<'_>) {
    if world.tables.get(place).is_some_and(|table| lacks_column(table, column)) {
        let name = world.table_names.name(place);
        let message = format!("no row of table `{name}` has a column `{column}`");
        sink.error(at.span, message, "name one of its columns".to_owned());
    }
}
