//! The classes of a limit: parameters directly under the algorithm, or one set a class where the limit has `by`.

use std::marker::PhantomData;

use schemars::{Schema, SchemaGenerator};
use serde_json::json;

use super::algorithms::Parameters;
use super::collections::{Later, Named};
use super::diagnostic::Span;
use super::nearest::{listed, nearest};
use super::node::{Node, Value};
use super::shape::{At, Shape, decode, into_schema};
use super::sink::Sink;
use crate::settings::Class;

/// Most classes of a limit, and longest name of one: both are labels of metrics.
const MOST: usize = 100;
const LONGEST: usize = 128;

/// The schema of parameters, or of a map from classes to them. Which of the two it is, `by` says.
#[derive(Clone, Debug)]
pub(crate) struct ByClass<T>(PhantomData<fn() -> T>);

impl<T: Parameters> Shape for ByClass<T> {
    fn decode(_: &Node, _: &mut Sink<'_>) -> Option<ByClass<T>> {
        Some(ByClass(PhantomData))
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let parameters = T::schema(generator);
        let one = json!({ "anyOf": [parameters, { "const": "unlimited" }] });
        into_schema(json!({ "anyOf": [one, {
            "type": "object",
            "description": "With `by`: the parameters of each class, or `unlimited`.",
            "additionalProperties": one,
        }] }))
    }
}

/// A class's parameters, or `unlimited`.
enum OneClass<T> {
    Unlimited,
    Parameters(T),
}

impl<T: Parameters> Shape for OneClass<T> {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<OneClass<T>> {
        match &node.value {
            Value::Scalar(text) if text == "unlimited" => Some(OneClass::Unlimited),
            _ => T::decode(node, sink).map(OneClass::Parameters),
        }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        ByClass::<T>::schema(generator)
    }
}

/// How a limit's classes are chosen.
pub(crate) struct Classes<'f> {
    /// The identity that chooses, and its default.
    pub(crate) by: Option<(&'f At<String>, Option<String>)>,
    /// There is a `by`, and it is wrong: which form the parameters have is still known.
    pub(crate) unresolved: bool,
}

impl Classes<'_> {
    /// The classes that are written under an algorithm, each with the place of its parameters.
    pub(crate) fn read<T: Parameters>(
        &self,
        written: Option<&At<Later<ByClass<T>>>>,
        sink: &mut Sink<'_>,
    ) -> Vec<(Class, Span)> {
        let Some(written) = written else { return Vec::new() };
        let node = &written.value.0;
        if self.by.is_none() && !self.unresolved {
            return self.alone::<T>(node, written.name, sink).into_iter().collect();
        }
        let Some(named) = Vec::<Named<OneClass<T>>>::decode(node, sink) else { return Vec::new() };
        if named.len() > MOST {
            let message = format!("{} classes", named.len());
            sink.error(written.name, message, format!("at most {MOST} classes a limit"));
            return Vec::new();
        }
        self.check_names(&named, written.name, sink);
        named.into_iter().filter_map(|one| class(one, sink)).collect()
    }

    fn alone<T: Parameters>(
        &self,
        node: &Node,
        at: Span,
        sink: &mut Sink<'_>,
    ) -> Option<(Class, Span)> {
        if let Some(names) = class_names(node) {
            let help = format!(
                "add `by:` with the identity whose value is one of {}",
                listed(names.iter().copied())
            );
            sink.error(at, "here are classes, and the limit has no `by`".to_owned(), help);
            return None;
        }
        meaning(None, decode::<OneClass<T>>(node, sink)?, at, sink)
    }

    fn check_names<T>(&self, named: &[Named<T>], at: Span, sink: &mut Sink<'_>) {
        for one in named.iter().filter(|one| one.name.is_empty() || one.name.len() > LONGEST) {
            let message = "a class's name has 1 to 128 bytes".to_owned();
            sink.error(one.name_span, message, None);
        }
        let Some((by, Some(default))) = &self.by else { return };
        if named.iter().any(|one| one.name == *default) {
            return;
        }
        let names = || named.iter().map(|one| one.name.as_str());
        let help = match nearest(default, names()) {
            Some(near) => format!("did you mean `{near}`? The classes are {}", listed(names())),
            None => format!("add `{default}:` here, or give `{}` another default", by.value),
        };
        let message = format!("`{default}`, the default of `{}`, is none of the classes", by.value);
        sink.error(at, message, help);
    }
}

/// The names of classes, where a node looks like classes: a map in which every value is a map or `unlimited`.
fn class_names(node: &Node) -> Option<Vec<&str>> {
    let Value::Map(entries) = &node.value else { return None };
    let is_class = |node: &Node| match &node.value {
        Value::Map(_) => true,
        Value::Scalar(text) => text == "unlimited",
        _ => false,
    };
    let all = !entries.is_empty() && entries.iter().all(|entry| is_class(&entry.node));
    all.then(|| entries.iter().map(|entry| entry.key.as_str()).collect())
}

fn class<T: Parameters>(named: Named<OneClass<T>>, sink: &mut Sink<'_>) -> Option<(Class, Span)> {
    let At { value, name, .. } = named.value?;
    meaning(Some(named.name.as_str().into()), value, name, sink)
}

fn meaning<T: Parameters>(
    name: Option<std::sync::Arc<str>>,
    form: OneClass<T>,
    at: Span,
    sink: &mut Sink<'_>,
) -> Option<(Class, Span)> {
    let (algorithm, calendar) = match form {
        OneClass::Unlimited => (None, None),
        OneClass::Parameters(parameters) => {
            let (algorithm, calendar) = parameters.algorithm(sink)?;
            (Some(algorithm), calendar)
        }
    };
    Some((Class { name, algorithm, calendar }, at))
}
