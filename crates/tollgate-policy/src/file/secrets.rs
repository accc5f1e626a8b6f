//! Secrets: `{ env: NAME }`, `{ file: PATH }`, or the text itself. What they hold is never shown, also not in errors.

use super::collections::Short;
use super::shape::{At, record};
use super::sink::Sink;
use crate::settings::Secret;

/// A secret as written.
pub(crate) type SecretForm = Short<String, SecretSource>;

record! {
    /// Where a secret is: `env` or `file`.
    SecretSource, "a secret" {
        /// The environment name that holds it.
        optional env: String,
        /// The file that holds it; a line break at its end does not count.
        optional file: String,
    }
}

/// Fetches a secret.
pub(crate) fn secret(form: &At<SecretForm>, sink: &mut Sink<'_>) -> Option<Secret> {
    let bytes = match &form.value {
        Short::Short(text) => text.clone().into_bytes(),
        Short::Long(SecretSource { env: Some(name), file: None, .. }) => {
            from_environment(name, sink)?
        }
        Short::Long(SecretSource { env: None, file: Some(file), .. }) => from_file(file, sink)?,
        Short::Long(_) => {
            let help = "write `{ env: NAME }` or `{ file: PATH }`";
            sink.error(form.span, "a secret is in one place".to_owned(), help.to_owned());
            return None;
        }
    };
    if bytes.is_empty() {
        sink.error(form.span, "the secret is empty".to_owned(), None);
        return None;
    }
    Some(Secret(bytes))
}

fn from_environment(name: &At<String>, sink: &mut Sink<'_>) -> Option<Vec<u8>> {
    let value = sink.surroundings.environment(&name.value);
    if value.is_none() {
        let message = format!("the environment has no `{}`", name.value);
        sink.error(name.span, message, "set it before the start".to_owned());
    }
    value.map(String::into_bytes)
}

fn from_file(file: &At<String>, sink: &mut Sink<'_>) -> Option<Vec<u8>> {
    let path = sink.surroundings.path(&file.value);
    match sink.surroundings.secret(&path) {
        Ok(bytes) => Some(bytes),
        Err(wrong) => {
            let help = format!("it is looked up as {}", path.display());
            sink.error(file.span, format!("`{}` cannot be read: {wrong}", file.value), help);
            None
        }
    }
}
