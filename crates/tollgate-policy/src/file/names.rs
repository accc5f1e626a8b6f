//! Names: which are well formed, which are declared, and what a reference to one means.

use std::collections::HashMap;

use super::collections::Named;
use super::diagnostic::Span;
use super::nearest::{listed, nearest};
use super::shape::At;
use super::sink::Sink;

/// Longest name of a limit, identity, table or upstream.
const LONGEST: usize = 64;

/// Most entries of a section.
const MOST: usize = 10_000;

/// The declared names of one section.
pub(crate) struct Known {
    what: &'static str,
    section: &'static str,
    names: Vec<String>,
    places: HashMap<String, usize>,
}

impl Known {
    /// Takes the names of a section, and says which are malformed.
    pub(crate) fn of<T>(
        what: &'static str,
        section: &'static str,
        declared: Option<&At<Vec<Named<T>>>>,
        sink: &mut Sink<'_>,
    ) -> Known {
        let named = declared.map_or(&[][..], |section| section.value.as_slice());
        for one in named {
            check_name(&one.name, what, one.name_span, sink);
        }
        if let Some(first) = named.get(MOST) {
            let message = format!("`{section}` has {} entries", named.len());
            sink.error(first.name_span, message, format!("at most {MOST} are read"));
        }
        let names = named.iter().take(MOST).map(|one| one.name.clone());
        Known::new(what, section, names.collect())
    }

    /// Names that were declared elsewhere.
    pub(crate) fn new(what: &'static str, section: &'static str, names: Vec<String>) -> Known {
        let places = names.iter().enumerate().map(|(at, name)| (name.clone(), at)).collect();
        Known { what, section, names, places }
    }

    /// The place of a declared name, or an error that names the nearest.
    pub(crate) fn place(&self, name: &str, at: Span, sink: &mut Sink<'_>) -> Option<usize> {
        let place = self.places.get(name).copied();
        if place.is_none() {
            let message = format!("there is no {} `{name}`", self.what);
            let help = self.help(name);
            sink.error(at, message, help);
        }
        place
    }

    pub(crate) fn help(&self, name: &str) -> String {
        let known = self.names.iter().take(100).map(String::as_str);
        let declared = format!("`{}` declares {}", self.section, listed(known.clone()));
        match nearest(name, known) {
            Some(near) => format!("did you mean `{near}`? {declared}"),
            None => declared,
        }
    }

    /// The name at a place.
    pub(crate) fn name(&self, place: usize) -> &str {
        self.names.get(place).map_or("", String::as_str)
    }

    /// The place of a declared name; nothing is said where there is none.
    pub(crate) fn look_up(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }
}

/// Names go into header fields and metrics, so they are printable ASCII without quotes, and short.
fn check_name(name: &str, what: &str, at: Span, sink: &mut Sink<'_>) {
    let fine = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    if !name.is_empty() && name.len() <= LONGEST && name.bytes().all(fine) {
        return;
    }
    let help = format!(
        "write 1 to {LONGEST} letters, digits and signs such as `-`, `_` and `.`, without blanks"
    );
    sink.error(at, format!("`{name}` is no name for {}", article(what)), help);
}

fn article(what: &str) -> String {
    let an = what.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {what}", if an { "an" } else { "a" })
}
