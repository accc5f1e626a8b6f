//! The policy file as a tree in which every value knows its place.

use super::diagnostic::Span;

/// A value and the bytes that spell it.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Where it stands; a collection that an alias repeats stands where the anchor is.
    pub(crate) span: Span,
    /// What it is.
    pub(crate) value: Value,
}

/// What a node is.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// Nothing, `~` or `null`.
    Null,
    /// A value that could not be found out; that was said, and nothing more is to be said of it.
    Unknown,
    /// Text as written, environment names replaced. Numbers are text here, so that none goes through a double.
    Scalar(String),
    /// `[a, b]`.
    List(Vec<Node>),
    /// `{a: b}`, in the file's order; keys differ.
    Map(Vec<Entry>),
}

/// One key of a map and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The key.
    pub(crate) key: String,
    /// Where the key stands.
    pub(crate) key_span: Span,
    /// It came by `<<`, so that a key of the map's own replaces it.
    pub(crate) merged: bool,
    /// The value.
    pub(crate) node: Node,
}

impl Node {
    /// Whether the value could not be found out.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self.value, Value::Unknown)
    }

    /// How the kind of value is called in messages.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null | Value::Unknown => "nothing",
            Value::Scalar(_) => "a single value",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }

    /// How much it counts against the file's bound: one, and more for a long text; what it holds not included.
    pub(crate) fn own_size(&self) -> usize {
        1 + match &self.value {
            Value::Scalar(text) => text.len() / 32,
            _ => 0,
        }
    }

    /// The same with all that it holds.
    pub(crate) fn size(&self) -> usize {
        self.own_size()
            + match &self.value {
                Value::Null | Value::Unknown | Value::Scalar(_) => 0,
                Value::List(items) => items.iter().map(Node::size).sum(),
                Value::Map(entries) => entries.iter().map(|entry| entry.node.size()).sum(),
            }
    }

    /// How many levels it is deep; 1 for a single value.
    pub(crate) fn depth(&self) -> usize {
        1 + match &self.value {
            Value::Null | Value::Unknown | Value::Scalar(_) => 0,
            Value::List(items) => items.iter().map(Node::depth).max().unwrap_or(0),
            Value::Map(entries) => entries.iter().map(|e| e.node.depth()).max().unwrap_or(0),
        }
    }
}
