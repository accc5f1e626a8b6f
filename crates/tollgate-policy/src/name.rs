//! Names that decisions carry.

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

/// A limit's name, as cheap to copy and to compare as a number: a decision names its limits without touching a shared
/// reference count.
///
/// Each distinct name is kept once for the life of the process, so only names that an operator writes may become one,
/// never a word from a request.
#[derive(Clone, Copy, PartialOrd, Ord)]
pub struct Name(&'static str);

static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

impl Name {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        self.0
    }
}

/// Each distinct name is kept once, so equal ones are at the same place.
impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Name {}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::hash(self.0, state);
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
    use std::collections::HashSet;

    use super::Name;

    #[test]
    fn equal_names_are_kept_once() {
        let first = Name::from("per-user");
        let second = Name::from(String::from("per-user").as_str());
        assert_eq!(first, second);
        assert!(std::ptr::eq(first.as_str(), second.as_str()));
        let kept = HashSet::from([first, second]);
        assert_eq!(kept.len(), 1);
    }

    #[test]
    fn other_names_are_not_equal() {
        let (name, prefix) = (Name::from("per-user"), Name::from("per"));
        assert_ne!(name, prefix);
        assert_ne!(Name::from(""), name);
        assert!(prefix < name);
    }
}
