//! Names that decisions carry.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

/// A limit's name, as cheap to copy as a number: a decision names its limits without touching a shared reference count.
///
/// Each distinct name is kept once for the life of the process, so only names that an operator writes may become one,
/// never a word from a request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(&'static str);

static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

impl Name {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        self.0
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = names.get(text) {
            return Name(known);
        }
        let kept: &'static str = Box::leak(Box::from(text));
        names.insert(kept);
        Name(kept)
    }
}

impl From<Arc<str>> for Name {
    fn from(text: Arc<str>) -> Name {
        Name::from(&*text)
    }
}

impl From<Name> for Arc<str> {
    fn from(name: Name) -> Arc<str> {
        Arc::from(name.0)
    }
}

impl PartialEq<Name> for Arc<str> {
    fn eq(&self, name: &Name) -> bool {
        **self == *name.0
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, text: &str) -> bool {
        self.0 == text
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, text: &&str) -> bool {
        self.0 == *text
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        self.0
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::Name;

    #[test]
    fn equal_names_are_kept_once() {
        let first = Name::from("per-user");
        let second = Name::from(String::from("per-user").as_str());
        assert_eq!(first, second);
        assert!(std::ptr::eq(first.as_str(), second.as_str()));
    }
}
