//! The forms that a policy file is written in. One declaration of a form gives three things: how it is decoded, which
//! fields are known (a misspelt one names the nearest), and its part of the JSON Schema. So they cannot disagree.

use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value as Json, json};

use super::diagnostic::Span;
use super::nearest::{listed, nearest};
use super::node::{Entry, Node, Value};
use super::sink::Sink;

/// A form: it can be decoded, saying every error, and it has a schema.
pub(crate) trait Shape: Sized {
    /// Decodes `node`. `None` where it cannot, with an error said.
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<Self>;

    /// The schema of what [`Shape::decode`] takes.
    fn schema(generator: &mut SchemaGenerator) -> Schema;
}

/// Decodes a node, unless it is unknown: then nothing more is said of it.
pub(crate) fn decode<T: Shape>(node: &Node, sink: &mut Sink<'_>) -> Option<T> {
    if node.is_unknown() { None } else { T::decode(node, sink) }
}

/// A decoded value, where it stands, and where its key stands (in a list: the value itself).
#[derive(Clone, Debug)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
    pub(crate) name: Span,
}

/// Which known fields a record has, right or wrong, and where their names stand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    known: Vec<(&'static str, Span)>,
    strangers: bool,
}

impl Written {
    /// Those of `keys` that are there, in the file's order.
    pub(crate) fn among(&self, keys: &[&str]) -> Vec<(&'static str, Span)> {
        self.known.iter().filter(|(key, _)| keys.contains(key)).copied().collect()
    }

    /// How many known fields there are.
    pub(crate) fn count(&self) -> usize {
        self.known.len()
    }

    /// Where the name of `key` stands, if it is there.
    pub(crate) fn place(&self, key: &str) -> Option<Span> {
        self.known.iter().find(|(written, _)| *written == key).map(|(_, span)| *span)
    }

    /// Whether there are unknown fields too. Each was said to be an error, and may be what seems to be missing.
    pub(crate) fn strangers(&self) -> bool {
        self.strangers
    }
}

/// The fields of a map that is decoded as a record.
pub(crate) struct Fields<'n> {
    what: &'static str,
    entries: &'n [Entry],
    span: Span,
}

impl<'n> Fields<'n> {
    /// Opens a map whose fields are `known`; others are errors.
    pub(crate) fn open(
        node: &'n Node,
        what: &'static str,
        known: &[&'static str],
        sink: &mut Sink<'_>,
    ) -> Option<Fields<'n>> {
        let Value::Map(entries) = &node.value else {
            let help = format!("write a map with {}", listed(known.iter().copied()));
            sink.error(node.span, format!("{what} is a map, and this is {}", node.kind()), help);
            return None;
        };
        for entry in entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            unknown_field(entry, what, known, sink);
        }
        Some(Fields { what, entries, span: node.span })
    }

    /// Those of `known` that are there.
    pub(crate) fn written(&self, known: &[&'static str]) -> Written {
        let place = |entry: &Entry| {
            known.iter().find(|key| **key == entry.key).map(|key| (*key, entry.key_span))
        };
        let known: Vec<_> = self.entries.iter().filter_map(place).collect();
        Written { strangers: known.len() < self.entries.len(), known }
    }

    /// A field that may be absent.
    pub(crate) fn optional<T: Shape>(&self, key: &str, sink: &mut Sink<'_>) -> Option<At<T>> {
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        let value = decode::<T>(&entry.node, sink)?;
        Some(At { value, span: entry.node.span, name: entry.key_span })
    }

    /// A field that must be there.
    pub(crate) fn required<T: Shape>(&self, key: &str, sink: &mut Sink<'_>) -> Option<At<T>> {
        if self.entries.iter().all(|entry| entry.key != key) {
            let misspelt = self.entries.iter().any(|e| nearest(&e.key, [key]).is_some());
            if !misspelt {
                let help = format!("add `{key}:`");
                sink.error(self.span, format!("{} needs the field `{key}`", self.what), help);
            }
            return None;
        }
        self.optional(key, sink)
    }
}

/// Fields of the design that this version does not have yet.
const LATER: [&str; 1] = ["degrade"];

fn unknown_field(entry: &Entry, what: &str, known: &[&str], sink: &mut Sink<'_>) {
    if sink.full() {
        return;
    }
    let all = format!("the fields are {}", listed(known.iter().copied()));
    if LATER.contains(&entry.key.as_str()) {
        let message = format!("`{}` is not in this version of Tollgate", entry.key);
        return sink.error(entry.key_span, message, all);
    }
    let help = match nearest(&entry.key, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? {all}"),
        None => all,
    };
    sink.error(entry.key_span, format!("{what} has no field `{}`", entry.key), help);
}

/// A field's part of a record's schema.
pub(crate) struct FieldSchema {
    pub(crate) key: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) required: bool,
    pub(crate) schema: Schema,
}

/// The schema of a record, which messages call `what`.
pub(crate) fn record_schema(what: &str, doc: &str, fields: Vec<FieldSchema>) -> Schema {
    let required: Vec<&str> = fields.iter().filter(|f| f.required).map(|f| f.key).collect();
    let mut properties = Map::new();
    for mut field in fields {
        if !field.doc.is_empty() {
            field.schema.insert("description".to_owned(), json!(field.doc.trim()));
        }
        properties.insert(field.key.to_owned(), field.schema.to_value());
    }
    let mut schema = json!({
        "title": what,
        "type": "object",
        "description": doc.trim(),
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    into_schema(schema)
}

/// A schema from JSON that is an object.
pub(crate) fn into_schema(json: Json) -> Schema {
    match json {
        Json::Object(map) => Schema::from(map),
        _ => Schema::default(),
    }
}

/// Declares a record: a map with known fields. `required` and `optional` fields decode to `Option<At<T>>`: `None` is absent
/// or wrong, and what is wrong was said.
macro_rules! record {
    (
        $(#[doc = $doc:literal])*
        $name:ident, $what:literal {
            $( $(#[doc = $field_doc:literal])* $need:ident $field:ident $(= $key:literal)? : $ty:ty, )*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug)]
        pub(crate) struct $name {
            $( $(#[doc = $field_doc])* pub(crate) $field: Option<$crate::file::shape::At<$ty>>, )*
            /// Which of them are there, right or wrong.
            #[allow(dead_code, reason = "only forms with fields that exclude each other ask")]
            pub(crate) written: $crate::file::shape::Written,
        }

        impl $crate::file::shape::Shape for $name {
            fn decode(
                node: &$crate::file::node::Node,
                sink: &mut $crate::file::sink::Sink<'_>,
            ) -> Option<Self> {
                let known = [$( record!(@key $field $($key)?), )*];
                let fields = $crate::file::shape::Fields::open(node, $what, &known, sink)?;
                Some($name {
                    $( $field: fields.$need(record!(@key $field $($key)?), sink), )*
                    written: fields.written(&known),
                })
            }

            fn schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                generator.subschema_for::<$name>()
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let fields = vec![$( $crate::file::shape::FieldSchema {
                    key: record!(@key $field $($key)?),
                    doc: concat!($($field_doc),*),
                    required: stringify!($need) == "required",
                    schema: <$ty as $crate::file::shape::Shape>::schema(generator),
                }, )*];
                $crate::file::shape::record_schema($what, concat!($($doc),*), fields)
            }
        }
    };
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
}
pub(crate) use record;

/// Declares how the words of a choice are written.
macro_rules! choice {
    ($ty:ty, $what:literal { $($word:literal => $value:expr,)* }) => {
        impl $crate::file::shape::Shape for $ty {
            fn decode(
                node: &$crate::file::node::Node,
                sink: &mut $crate::file::sink::Sink<'_>,
            ) -> Option<Self> {
                let words = [$(($word, $value),)*];
                $crate::file::scalars::choose(node, $what, &words, sink)
            }

            fn schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::file::shape::into_schema(serde_json::json!({ "enum": [$($word),*] }))
            }
        }
    };
}
pub(crate) use choice;
