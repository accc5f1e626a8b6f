//! Counting commands on their way to a server.

use std::collections::BTreeMap;

/// Reads commands off a stream that is cut anywhere.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    kept: Vec<u8>,
}

impl Commands {
    /// Takes the stream's next bytes, and counts by its name (in capitals) each command that they complete.
    pub(crate) fn take(&mut self, bytes: &[u8], counts: &mut BTreeMap<String, u64>) {
        self.kept.extend_from_slice(bytes);
        let mut read = 0;
        while let Some((name, length)) = command(&self.kept[read..]) {
            *counts.entry(name).or_default() += 1;
            read += length;
        }
        self.kept.drain(..read);
    }
}

/// The name and the length of the command that `bytes` begin with, if it is all there.
fn command(bytes: &[u8]) -> Option<(String, usize)> {
    let (words, mut at) = header(bytes, b'*')?;
    let mut name = None;
    for _ in 0..words {
        let (length, begin) = header(bytes.get(at..)?, b'$')?;
        let word = bytes.get(at + begin..at + begin + length)?;
        name.get_or_insert_with(|| String::from_utf8_lossy(word).to_ascii_uppercase());
        at += begin + length + 2;
    }
    (bytes.len() >= at).then(|| (name.unwrap_or_default(), at))
}

/// `*3\r\n` or `$5\r\n`: the number, and the length of the line.
fn header(bytes: &[u8], mark: u8) -> Option<(usize, usize)> {
    let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    let text = bytes.get(..end)?.strip_prefix(&[mark])?;
    Some((std::str::from_utf8(text).ok()?.parse().ok()?, end + 2))
}
