//! YAML text to a [`Node`] tree. Bounded in size, depth and what aliases repeat; duplicate keys are errors with their place.

use std::collections::HashMap;

use serde_saphyr::granit_parser::{
    Event, Options, Parser, ScalarStyle, ScanError, Span as YamlSpan, options,
};

use super::diagnostic::Span;
use super::mask::Masked;
use super::node::{Entry, Node, Value};
use super::sink::Sink;
use super::substitute::substitute;
use super::syntax;

/// Largest file that is read, in bytes.
pub const MAX_FILE_BYTES: usize = 8 << 20;
/// Most values in a file, those that aliases repeat included; a long text counts as several.
const MAX_NODES: usize = 500_000;
/// Deepest nesting; policies need about ten.
const MAX_DEPTH: usize = 40;

/// Builds the tree of `text`, or says why there is none. Errors that leave a tree (a duplicate key, an unset environment
/// name) are said and the tree is returned, so that more can be found in it.
pub(crate) fn parse(text: &str, sink: &mut Sink<'_>) -> Option<Node> {
    if text.len() > MAX_FILE_BYTES {
        sink.error(
            Span::new(0, 1),
            format!("the file has {} bytes", text.len()),
            format!(
                "at most {MAX_FILE_BYTES} bytes are read; put long tables in files of their own"
            ),
        );
        return None;
    }
    let masked = Masked::of(text);
    let mut builder = Builder::new(text, &masked, sink);
    for event in Parser::new_from_str_with_options(&masked.text, limits()) {
        match event {
            Ok((event, span)) => builder.event(event, &span)?,
            Err(wrong) => return builder.no_yaml(&wrong),
        }
    }
    if builder.root.is_none() {
        let help = "a policy needs at least `limits` and `routes`";
        builder.sink.error(Span::new(0, 1), "the file is empty".to_owned(), help.to_owned());
    }
    builder.root
}

fn limits() -> Options {
    options! {
        emit_comments: false,
        disallow_directives: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    }
}

/// A collection that is not closed yet.
struct Open {
    start: usize,
    anchor: usize,
    what: Collection,
}

enum Collection {
    List(Vec<Node>),
    Map { entries: Entries, key: Option<(String, Span)> },
}

struct Builder<'a, 'sink, 's> {
    text: &'a str,
    masked: &'a Masked,
    sink: &'sink mut Sink<'s>,
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    root: Option<Node>,
    nodes: usize,
}

impl<'a, 'sink, 's> Builder<'a, 'sink, 's> {
    fn new(text: &'a str, masked: &'a Masked, sink: &'sink mut Sink<'s>) -> Self {
        let (open, anchors) = (Vec::new(), HashMap::new());
        Builder { text, masked, sink, open, anchors, root: None, nodes: 0 }
    }

    fn no_yaml(&mut self, wrong: &ScanError) -> Option<Node> {
        let at = wrong.marker().byte_offset().unwrap_or(self.masked.text.len());
        let at = self.masked.origin(at);
        let help = syntax::help(wrong.kind(), self.text, at);
        self.sink.error(Span::new(at, at + 1), format!("not YAML: {}", wrong.info()), help);
        None
    }

    /// Takes one event; `None` ends the reading, with an error said.
    fn event(&mut self, event: Event<'_>, span: &YamlSpan) -> Option<()> {
        let range = span.byte_range().unwrap_or(0..0);
        let start = self.masked.origin(range.start);
        let place = Span::new(start, self.masked.origin(range.end).max(start));
        if event.tag().is_some_and(|tag| !tag.is_yaml_core_schema_tag("str")) {
            self.sink.error(
                place,
                "YAML tags have no meaning here".to_owned(),
                "leave it out".to_owned(),
            );
        }
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                let help = "one file holds one policy";
                self.sink.error(place, "a second document begins here".to_owned(), help.to_owned());
                None
            }
            Event::Scalar(text, style, anchor, tag) => {
                let quoted = style != ScalarStyle::Plain || tag.is_some();
                let node = self.scalar(&text, quoted, place);
                self.complete(node, anchor)
            }
            Event::SequenceStart(_, anchor, _) => {
                self.open(place.start, anchor, Collection::List(Vec::new()))
            }
            Event::MappingStart(_, anchor, _) => {
                let what = Collection::Map { entries: Entries::default(), key: None };
                self.open(place.start, anchor, what)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(place.end),
            Event::Alias(id) => self.alias(id, place),
            _ => Some(()),
        }
    }

    fn open(&mut self, start: usize, anchor: usize, what: Collection) -> Option<()> {
        self.open.push(Open { start, anchor, what });
        if self.open.len() > MAX_DEPTH { self.too_deep(start) } else { Some(()) }
    }

    fn too_deep(&mut self, at: usize) -> Option<()> {
        let message = format!("this is nested more than {MAX_DEPTH} levels deep");
        self.sink.error(Span::new(at, at + 1), message, None);
        None
    }

    /// A key is text; a value has its environment names replaced.
    fn scalar(&mut self, text: &str, quoted: bool, span: Span) -> Node {
        let text = &self.masked.unmask(text);
        if self.awaits_key() {
            return Node { span, value: Value::Scalar(text.to_owned()) };
        }
        if !quoted && matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL") {
            return Node { span, value: Value::Null };
        }
        let value = substitute(text, span, self.text, self.sink);
        Node { span, value: value.map_or(Value::Unknown, Value::Scalar) }
    }

    fn awaits_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { what: Collection::Map { key: None, .. }, .. }))
    }

    fn close(&mut self, end: usize) -> Option<()> {
        let Open { start, anchor, what } = self.open.pop()?;
        let value = match what {
            Collection::List(items) => Value::List(items),
            Collection::Map { entries, .. } => Value::Map(entries.list),
        };
        // A block ends where the next thing begins: its own text ends before.
        let within = self.text.get(start..end).unwrap_or("").trim_end().len();
        let span = Span::new(start, start + within);
        self.complete(Node { span, value }, anchor)
    }

    fn alias(&mut self, id: usize, span: Span) -> Option<()> {
        let Some(node) = self.anchors.get(&id) else {
            let help = "an anchor cannot repeat itself";
            self.sink.error(
                span,
                "this alias is within its own anchor".to_owned(),
                help.to_owned(),
            );
            return None;
        };
        self.nodes += node.size();
        if self.nodes > MAX_NODES {
            return self.too_many(span);
        }
        if self.open.len() + node.depth() > MAX_DEPTH {
            return self.too_deep(span.start);
        }
        let node = node.clone();
        self.complete(node, 0)
    }

    fn too_many(&mut self, span: Span) -> Option<()> {
        let help = "put long tables in files of their own, and repeat less by aliases";
        let message = format!("the file holds more than {MAX_NODES} values");
        self.sink.error(span, message, help.to_owned());
        None
    }

    /// Puts a finished node where it belongs.
    fn complete(&mut self, node: Node, anchor: usize) -> Option<()> {
        self.nodes += node.own_size();
        if self.nodes > MAX_NODES {
            return self.too_many(node.span);
        }
        if anchor != 0 {
            self.nodes += node.size();
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut().map(|open| &mut open.what) {
            None => self.root = Some(node),
            Some(Collection::List(items)) => items.push(node),
            Some(Collection::Map { entries, key }) => match key.take() {
                Some((key, key_span)) => {
                    // Nothing has no place of its own: what is said of it stands at its key.
                    let nothing = matches!(node.value, Value::Null);
                    let span = if nothing { key_span } else { node.span };
                    let node = Node { span, ..node };
                    entries.add(Entry { key, key_span, merged: false, node }, self.sink);
                }
                None => *key = Some(key_of(node, self.sink)),
            },
        }
        Some(())
    }
}

/// A map's key: a single value.
fn key_of(node: Node, sink: &mut Sink<'_>) -> (String, Span) {
    match node.value {
        Value::Scalar(text) => (text, node.span),
        Value::Null => (String::new(), node.span),
        _ => {
            let message = format!("a key is a name, and this is {}", node.kind());
            sink.error(node.span, message, None);
            (String::new(), node.span)
        }
    }
}

/// The entries of a map that is being read, and where each key is, so that a long map is not searched for every key.
#[derive(Default)]
struct Entries {
    list: Vec<Entry>,
    places: HashMap<String, usize>,
}

impl Entries {
    /// Adds an entry, unless its key is there already. `<<` merges the entries of other maps below those that are there.
    fn add(&mut self, entry: Entry, sink: &mut Sink<'_>) {
        if entry.key == "<<" {
            return self.merge(entry, sink);
        }
        let Some(&place) = self.places.get(&entry.key) else {
            self.places.insert(entry.key.clone(), self.list.len());
            return self.list.push(entry);
        };
        let first = &mut self.list[place];
        if first.merged {
            *first = entry;
        } else if !entry.merged {
            let (line, _) = sink.line_and_column(first.key_span.start);
            let message = format!("`{}` is here twice", entry.key);
            sink.error(
                entry.key_span,
                message,
                format!("it stands in line {line} already; keep one"),
            );
        }
    }

    fn merge(&mut self, entry: Entry, sink: &mut Sink<'_>) {
        let maps = match entry.node.value {
            Value::List(items) => items,
            _ => vec![entry.node],
        };
        for map in maps {
            let kind = map.kind();
            let Value::Map(merged) = map.value else {
                sink.error(entry.key_span, format!("`<<` merges maps, and this is {kind}"), None);
                continue;
            };
            for other in merged {
                if !self.places.contains_key(&other.key) {
                    self.add(Entry { merged: true, ..other }, sink);
                }
            }
        }
    }
}
