//! Sources that are in the request's body: where in it.

use super::shape::At;
use super::sink::Sink;
use crate::identity::{BadPointer, Pointer};
use crate::settings::Source;

/// A value of a JSON body. A body is the sender's own word, as a query is, so nobody has to be trusted for it.
pub(crate) fn json_pointer(pointer: &At<String>, sink: &mut Sink<'_>) -> Option<Source> {
    let text = &pointer.value;
    let help = match Pointer::parse(text) {
        Ok(_) => return Some(Source::Json { pointer: text.clone() }),
        Err(BadPointer::NoSlash) => {
            let path = text.trim_start_matches(['$', '.', '#']).replace('.', "/");
            format!("write `/{}`: each step begins with `/`", path.trim_start_matches('/'))
        }
        Err(BadPointer::Escape) => "write `~0` for a `~` and `~1` for a `/` in a name".to_owned(),
        Err(BadPointer::Deep) => "name a value that is nearer to the top".to_owned(),
    };
    sink.error(pointer.span, format!("`{text}` is no JSON pointer (RFC 6901)"), help);
    None
}

/// A field of a form.
pub(crate) fn form_field(field: &At<String>, sink: &mut Sink<'_>) -> Option<Source> {
    if field.value.is_empty() {
        let help = "write the field's `name`, such as `form: username`";
        sink.error(field.span, "a form's field without a name".to_owned(), help.to_owned());
        return None;
    }
    Some(Source::Form { field: field.value.clone() })
}
