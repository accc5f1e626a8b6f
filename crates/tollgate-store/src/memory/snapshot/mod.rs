//! Snapshots: the counts of a memory store in a file, so that a restart gives no second quota.
//!
//! All numbers are little-endian. The file is `TOLLG\r\n\0`, the version of the format in 4 bytes, and frames: a byte for the
//! kind, the content's length in 4, the content, and in 8 the CRC-64/XZ of everything before it in the file.
//!
//! | kind | content |
//! |---|---|
//! | `H` head | when it was written, the 6 seeds of the hash of keys, and the hash of a known key |
//! | `L` limit | name, class, shape; algorithm, parameters, rules; number of shards; the latest period seen |
//! | `K` keys | the shard's number, then for each key 4 bytes of index bits, 8 of fingerprint, and its state: 1 or 2 words, or so many words |
//! | `E` end | the number of keys |
//!
//! Keys follow their limit, in the order of shards, and within a shard in the order of (index, fingerprint). States are those
//! of the parameters beside them, so that a process with other parameters takes them over by the rules of a reload
//! (`carry_over` in core). Moments are absolute: what counts nothing any more is dropped, and what a wrong clock wrote ahead
//! of now is cut when it is read, as in one process. Tickets of log entries are not kept: receipts die with their process.
//!
//! A change of anything here, or of the hash of keys, is another version.

mod checksum;
mod error;
mod fields;
mod file;
mod file_error;
mod frames;
mod keys;
mod parameters;
mod restore;
mod section;
mod write;

use std::io::{self, Read, Write};

use tollgate_core::Timestamp;

use super::{MemoryOptions, MemoryStore};
use crate::Definition;
pub use error::SnapshotError;
pub use file::{Found, SnapshotFile};
pub use file_error::SnapshotFileError;
pub use restore::Restored;
use write::Unwritten;
pub use write::Written;

impl MemoryStore {
    /// Writes a snapshot of all counts, but for slots. Each state is as it was at some moment of the writing, during which
    /// decisions go on; `rest` is called between pieces.
    ///
    /// What is written says how keys are hashed: keep it from whoever may choose keys.
    ///
    /// # Errors
    /// Those of `out`; [`io::ErrorKind::Other`] where a reload moved counts meanwhile: begin again then.
    pub fn snapshot(
        &self,
        out: impl Write,
        now: Timestamp,
        rest: impl FnMut(),
    ) -> io::Result<Written> {
        self.write_counts(out, now, rest).map_err(|why| match why {
            Unwritten::Failed(error) => error,
            Unwritten::Reloaded => io::Error::other("limits were defined meanwhile"),
        })
    }

    /// A store with the counts of a snapshot; see [`SnapshotFile::open`].
    ///
    /// # Errors
    /// [`SnapshotError`] where it is not whole and right. Nothing of it is used then.
    pub fn restore(
        input: impl Read,
        options: MemoryOptions,
        definitions: &[Definition],
        now: Timestamp,
    ) -> Result<(MemoryStore, Restored), SnapshotError> {
        restore::read(input, options, definitions, now)
    }
}
