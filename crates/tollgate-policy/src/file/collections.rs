//! Lists, named things, and forms that may be written in one of two ways.

use std::marker::PhantomData;

use schemars::{Schema, SchemaGenerator};
use serde_json::json;

use super::diagnostic::Span;
use super::node::{Node, Value};
use super::shape::{At, Shape, decode, into_schema};
use super::sink::Sink;

fn item<T: Shape>(node: &Node, sink: &mut Sink<'_>) -> Option<At<T>> {
    Some(At { value: decode(node, sink)?, span: node.span, name: node.span })
}

impl<T: Shape> Shape for Vec<At<T>> {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<Vec<At<T>>> {
        let Value::List(items) = &node.value else {
            let help = "write `[a, b]`, or one line with `- ` for each";
            sink.error(
                node.span,
                format!("a list is asked, and this is {}", node.kind()),
                help.to_owned(),
            );
            return None;
        };
        Some(items.iter().filter_map(|node| item(node, sink)).collect())
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        into_schema(json!({ "type": "array", "items": T::schema(generator) }))
    }
}

/// A list, or one value that stands for a list of one.
#[derive(Clone, Debug)]
pub(crate) struct OneOrMany<T>(pub(crate) Vec<At<T>>);

impl<T: Shape> Shape for OneOrMany<T> {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<OneOrMany<T>> {
        Some(OneOrMany(match &node.value {
            Value::List(_) => Vec::decode(node, sink)?,
            _ => vec![item(node, sink)?],
        }))
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let one = T::schema(generator);
        into_schema(json!({ "anyOf": [one, { "type": "array", "items": one }] }))
    }
}

/// A list of at least one, or one value that stands for a list of one.
#[derive(Clone, Debug)]
pub(crate) struct AtLeastOne<T>(pub(crate) Vec<At<T>>);

impl<T: Shape> Shape for AtLeastOne<T> {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<AtLeastOne<T>> {
        if matches!(&node.value, Value::List(items) if items.is_empty()) {
            let help = "name at least one, or leave the field out";
            sink.error(node.span, "an empty list".to_owned(), help.to_owned());
        }
        let OneOrMany(items) = OneOrMany::decode(node, sink)?;
        // Where every one was wrong, each was said to be.
        (!items.is_empty()).then_some(AtLeastOne(items))
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let one = T::schema(generator);
        into_schema(json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] }))
    }
}

/// One named thing. The name stays where its value is wrong, so that what refers to it is not wrong too.
#[derive(Clone, Debug)]
pub(crate) struct Named<T> {
    pub(crate) name: String,
    pub(crate) name_span: Span,
    pub(crate) value: Option<At<T>>,
}

/// A map from names to values, in the file's order.
impl<T: Shape> Shape for Vec<Named<T>> {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<Vec<Named<T>>> {
        // A section of which nothing is left has no names.
        if matches!(node.value, Value::Null) {
            return Some(Vec::new());
        }
        let Value::Map(entries) = &node.value else {
            let help = "write `name: ...` for each";
            let message = format!("a map of names is asked, and this is {}", node.kind());
            sink.error(node.span, message, help.to_owned());
            return None;
        };
        let named = entries.iter().map(|entry| Named {
            name: entry.key.clone(),
            name_span: entry.key_span,
            value: decode::<T>(&entry.node, sink).map(|value| At {
                value,
                span: entry.node.span,
                name: entry.key_span,
            }),
        });
        Some(named.collect())
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        into_schema(json!({
            "type": ["object", "null"],
            "additionalProperties": T::schema(generator),
        }))
    }
}

/// A single value, or a map (or list) that says more.
#[derive(Clone, Debug)]
pub(crate) enum Short<S, L> {
    /// Written as a single value.
    Short(S),
    /// Written out.
    Long(L),
}

impl<S: Shape, L: Shape> Shape for Short<S, L> {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<Short<S, L>> {
        match &node.value {
            Value::Map(_) | Value::List(_) => L::decode(node, sink).map(Short::Long),
            _ => S::decode(node, sink).map(Short::Short),
        }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let (short, long) = (S::schema(generator), L::schema(generator));
        into_schema(json!({ "anyOf": [short, long] }))
    }
}

/// A list, or a map.
#[derive(Clone, Debug)]
pub(crate) enum ListOr<T, L> {
    /// Written as a list.
    List(Vec<At<T>>),
    /// Written as something else.
    Other(L),
}

impl<T: Shape, L: Shape> Shape for ListOr<T, L> {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<ListOr<T, L>> {
        match &node.value {
            Value::List(_) => Vec::decode(node, sink).map(ListOr::List),
            _ => L::decode(node, sink).map(ListOr::Other),
        }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let (list, other) = (Vec::<At<T>>::schema(generator), L::schema(generator));
        into_schema(json!({ "anyOf": [list, other] }))
    }
}

/// A form whose reading waits until more is known; its schema is `T`'s.
#[derive(Clone, Debug)]
pub(crate) struct Later<T>(pub(crate) Node, PhantomData<fn() -> T>);

impl<T: Shape> Shape for Later<T> {
    fn decode(node: &Node, _: &mut Sink<'_>) -> Option<Later<T>> {
        Some(Later(node.clone(), PhantomData))
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        T::schema(generator)
    }
}

/// A value that may be left empty (`name:` with nothing behind).
#[derive(Clone, Debug)]
pub(crate) struct Maybe<T>(pub(crate) Option<T>);

impl<T: Shape> Shape for Maybe<T> {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<Maybe<T>> {
        match &node.value {
            Value::Null => Some(Maybe(None)),
            _ => T::decode(node, sink).map(|value| Maybe(Some(value))),
        }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        into_schema(json!({ "anyOf": [T::schema(generator), { "type": "null" }] }))
    }
}

/// Something that is there or not: `name: true`, `name: {}`, or `name:` alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Presence;

impl Shape for Presence {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<Presence> {
        match &node.value {
            Value::Null => Some(Presence),
            Value::Map(entries) if entries.is_empty() => Some(Presence),
            Value::Scalar(text) if text == "true" => Some(Presence),
            _ => {
                let help = "write `true`, or leave the field out";
                sink.error(node.span, "this is there or not".to_owned(), help.to_owned());
                None
            }
        }
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        into_schema(json!({ "enum": [true, null, {}] }))
    }
}
