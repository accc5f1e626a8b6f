//! Arguments of a script: doubles, packed one behind the other.

/// A packed string of little-endian doubles, as `struct.unpack('<d..')` reads it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments(Vec<u8>);

impl Arguments {
    /// One more; it is a whole number below 2^53, or -1.
    pub(crate) fn push(&mut self, number: f64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// Several more.
    pub(crate) fn extend(&mut self, numbers: impl IntoIterator<Item = f64>) {
        numbers.into_iter().for_each(|number| self.push(number));
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}
