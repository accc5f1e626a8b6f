//! What an answer says, while it is written.

use bytes::Bytes;

/// One value after the other is written here and copied out, the body last. A short copy costs less than a share of a common
/// buffer: shares are counted, and let go of one by one (decision 124).
pub(crate) struct Text(String);

impl Text {
    /// An empty text with room for `capacity` bytes, which grows where that is not enough.
    pub(crate) fn with_capacity(capacity: usize) -> Text {
        Text(String::with_capacity(capacity))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.0.push_str(text);
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.push(itoa::Buffer::new().format(number));
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// What was written, as a body.
    pub(crate) fn body(self) -> Bytes {
        Bytes::copy_from_slice(self.0.as_bytes())
    }

    /// What was written, to be kept.
    pub(crate) fn kept(self) -> Box<str> {
        self.0.into_boxed_str()
    }
}
