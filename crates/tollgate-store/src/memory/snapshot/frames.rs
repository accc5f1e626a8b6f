//! Frames: pieces of the file, each with its kind, its length, and the sum of everything up to its end.

use std::io::{self, Read, Write};

use super::checksum::Checksum;
use super::error::SnapshotError;

/// What the file begins with. Its last bytes tell whether somebody changed line ends on the way.
pub(super) const MAGIC: &[u8; 8] = b"TOLLG\r\n\0";

/// The version of everything behind it: frames, sections, states and the hash of keys.
pub(super) const VERSION: u32 = 1;

/// The largest frame. None that is written comes near it but by a single large state.
const LARGEST: usize = 1 << 20;

/// What a frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// When it was written, and what keys were hashed with.
    Head,
    /// A limit: who it is, and its parameters.
    Limit,
    /// Keys of one shard of that limit, and their states.
    Keys,
    /// How much there was.
    End,
}

impl Kind {
    const ALL: [(Kind, u8); 4] =
        [(Kind::Head, b'H'), (Kind::Limit, b'L'), (Kind::Keys, b'K'), (Kind::End, b'E')];

    fn byte(self) -> u8 {
        Kind::ALL.iter().find(|(kind, _)| *kind == self).map_or(0, |(_, byte)| *byte)
    }

    fn of(byte: u8) -> Option<Kind> {
        Kind::ALL.iter().find(|(_, known)| *known == byte).map(|(kind, _)| *kind)
    }
}

/// Writes frames.
#[derive(Debug)]
pub(super) struct FrameWriter<W> {
    out: W,
    sum: Checksum,
    bytes: u64,
}

impl<W: Write> FrameWriter<W> {
    /// Begins a file.
    pub(super) fn begin(out: W) -> io::Result<FrameWriter<W>> {
        let mut frames = FrameWriter { out, sum: Checksum::new(), bytes: 0 };
        frames.write(MAGIC)?;
        frames.write(&VERSION.to_le_bytes())?;
        Ok(frames)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.add(bytes);
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Writes a frame.
    pub(super) fn put(&mut self, kind: Kind, content: &[u8]) -> io::Result<()> {
        let too_large = || io::Error::new(io::ErrorKind::InvalidData, "a frame is too large");
        let length = u32::try_from(content.len()).map_err(|_| too_large())?;
        self.write(&[kind.byte()])?;
        self.write(&length.to_le_bytes())?;
        self.write(content)?;
        let sum = self.sum.value();
        self.write(&sum.to_le_bytes())
    }

    /// Hands everything on; says how many bytes there were.
    pub(super) fn end(mut self) -> io::Result<u64> {
        self.out.flush()?;
        Ok(self.bytes)
    }
}

/// Reads frames, one at a time.
#[derive(Debug)]
pub(super) struct FrameReader<R> {
    input: R,
    sum: Checksum,
    /// How far it has come.
    at: u64,
    content: Vec<u8>,
}

impl<R: Read> FrameReader<R> {
    /// Begins to read a file.
    pub(super) fn begin(input: R) -> Result<FrameReader<R>, SnapshotError> {
        let mut frames = FrameReader { input, sum: Checksum::new(), at: 0, content: Vec::new() };
        let magic = frames.chunk().map_err(|error| match error {
            SnapshotError::Cut { .. } => SnapshotError::Foreign,
            other => other,
        })?;
        if magic != *MAGIC {
            return Err(SnapshotError::Foreign);
        }
        match u32::from_le_bytes(frames.chunk()?) {
            VERSION => Ok(frames),
            found => Err(SnapshotError::Version { found, known: VERSION }),
        }
    }

    fn chunk<const N: usize>(&mut self) -> Result<[u8; N], SnapshotError> {
        let mut chunk = [0; N];
        self.input.read_exact(&mut chunk).map_err(|error| self.failed(error))?;
        self.sum.add(&chunk);
        self.at += N as u64;
        Ok(chunk)
    }

    fn failed(&self, error: io::Error) -> SnapshotError {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => SnapshotError::Cut { at: self.at },
            _ => SnapshotError::Unreadable(error),
        }
    }

    /// What is wrong with the frame that was read last.
    pub(super) fn damaged(&self, what: &'static str) -> SnapshotError {
        SnapshotError::Damaged { at: self.at, what }
    }

    /// The next frame, once it is known to be as it was written.
    pub(super) fn next(&mut self) -> Result<(Kind, &[u8]), SnapshotError> {
        let [byte] = self.chunk()?;
        let kind = Kind::of(byte).ok_or_else(|| self.damaged("there is no such kind of frame"))?;
        let length = u32::from_le_bytes(self.chunk()?) as usize;
        if length > LARGEST {
            return Err(self.damaged("a frame is larger than any that is written"));
        }
        // It grows with what is there, and not with what was promised.
        self.content.clear();
        let mut piece = self.input.by_ref().take(length as u64);
        let read = piece.read_to_end(&mut self.content).map_err(SnapshotError::Unreadable)?;
        self.sum.add(&self.content);
        self.at += read as u64;
        if read < length {
            return Err(SnapshotError::Cut { at: self.at });
        }
        let sum = self.sum.value();
        if u64::from_le_bytes(self.chunk()?) != sum {
            return Err(self.damaged("its checksum is another one"));
        }
        Ok((kind, &self.content))
    }

    /// Nothing may follow.
    pub(super) fn end(mut self) -> Result<(), SnapshotError> {
        let mut more = [0];
        match self.input.read(&mut more) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.damaged("something follows behind its end")),
            Err(error) => Err(SnapshotError::Unreadable(error)),
        }
    }
}
