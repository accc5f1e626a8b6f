//! Where the parameters of a limit's class are written, for errors and warnings that are found later.

use super::diagnostic::Span;
use super::limits::LimitForm;
use super::node::{Node, Value};
use crate::settings::Class;

/// Where a class's parameters are written.
pub(crate) struct Written<'f> {
    /// The class's name, or the algorithm's.
    pub(crate) name: Span,
    parameters: Option<&'f Node>,
}

impl<'f> Written<'f> {
    /// Those of `class` under `form`.
    pub(crate) fn of(form: &'f LimitForm, class: &Class) -> Written<'f> {
        let (name, node) = form.algorithm();
        let inner = class.name.as_deref().and_then(|class| match node.map(|node| &node.value) {
            Some(Value::Map(entries)) => entries.iter().find(|entry| entry.key == class),
            _ => None,
        });
        match inner {
            Some(entry) => Written { name: entry.key_span, parameters: Some(&entry.node) },
            None => Written { name, parameters: node },
        }
    }

    /// The value of one parameter, where it is written.
    pub(crate) fn parameter(&self, key: &str) -> Option<Span> {
        match self.parameters.map(|node| &node.value) {
            Some(Value::Map(entries)) => {
                entries.iter().find(|entry| entry.key == key).map(|entry| entry.node.span)
            }
            _ => None,
        }
    }
}
