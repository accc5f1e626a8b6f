//! A Lua script and the name by which the server remembers it.

/// A script's text and its SHA-1, by which `EVALSHA` calls it.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    source: Box<str>,
    sha1: Box<str>,
}

impl Script {
    pub(crate) fn new(source: impl Into<Box<str>>) -> Script {
        let source = source.into();
        let sha1 = redis::Script::new(&source).get_hash().into();
        Script { source, sha1 }
    }

    /// Its text.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Its SHA-1 in lower-case hexadecimal digits.
    pub(crate) fn sha1(&self) -> &str {
        &self.sha1
    }
}
