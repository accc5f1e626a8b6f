//! The name of a key on the server.

/// The name of a key on the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct KeyName(Box<[u8]>);

impl KeyName {
    /// The key that is called `name` there.
    pub(crate) fn new(name: impl Into<Box<[u8]>>) -> KeyName {
        KeyName(name.into())
    }

    /// The name's bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}
