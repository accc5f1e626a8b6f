//! Secrets: `{ env: NAME }`, `{ file: PATH }`, or the text itself. What they hold is never shown, also not in errors.

use super::collections::Short;
use super::diagnostic::Span;
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

/// Fetches a secret that the policy cannot do without.
pub(crate) fn secret(form: &At<SecretForm>, sink: &mut Sink<'_>) -> Option<Secret> {
    match look_up(form, sink)? {
        Ok(secret) => Some(secret),
        Err(Absent { at, message, help }) => {
            sink.error(at, message, help);
            None
        }
    }
}

/// A secret that is not here.
pub(crate) struct Absent {
    pub(crate) at: Span,
    pub(crate) message: String,
    pub(crate) help: String,
}

/// Fetches a secret, or says what is not there. `None` where it is written wrong, with an error said.
pub(crate) fn look_up(
    form: &At<SecretForm>,
    sink: &mut Sink<'_>,
) -> Option<Result<Secret, Absent>> {
    let found = match &form.value {
        Short::Short(text) => {
            sink.hide(form.span);
            Ok(text.clone().into_bytes())
        }
        Short::Long(SecretSource { env: Some(name), file: None, .. }) => {
            from_environment(name, sink)
        }
        Short::Long(SecretSource { env: None, file: Some(file), .. }) => from_file(file, sink),
        Short::Long(_) => {
            let help = "write `{ env: NAME }` or `{ file: PATH }`";
            sink.error(form.span, "a secret is in one place".to_owned(), help.to_owned());
            return None;
        }
    };
    if matches!(&found, Ok(bytes) if bytes.is_empty()) {
        sink.error(form.span, "the secret is empty".to_owned(), None);
        return None;
    }
    Some(found.map(Secret))
}

fn from_environment(name: &At<String>, sink: &Sink<'_>) -> Result<Vec<u8>, Absent> {
    let value = sink.surroundings.environment(&name.value).map(String::into_bytes);
    value.ok_or_else(|| Absent {
        at: name.span,
        message: format!("the environment has no `{}`", name.value),
        help: "set it before the start".to_owned(),
    })
}

fn from_file(file: &At<String>, sink: &Sink<'_>) -> Result<Vec<u8>, Absent> {
    let path = sink.surroundings.path(&file.value);
    sink.surroundings.secret(&path).map_err(|wrong| Absent {
        at: file.span,
        message: format!("`{}` cannot be read: {wrong}", file.value),
        help: format!("it is looked up as {}", path.display()),
    })
}
