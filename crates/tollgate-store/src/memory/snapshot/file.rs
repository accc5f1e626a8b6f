//! The file of a snapshot: locked for one process, and replaced whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use tollgate_core::Timestamp;

use super::error::SnapshotError;
use super::file_error::SnapshotFileError;
use super::restore::Restored;
use super::write::{Unwritten, Written};
use crate::Definition;
use crate::memory::{MemoryOptions, MemoryStore};

/// For nobody else: who can read what keys are hashed with can choose keys that collide.
const MODE: u32 = 0o600;

/// How often a snapshot begins anew because a reload moved the counts meanwhile.
const RELOADS: usize = 100;

/// Where the counts of a memory store are kept while its process is not there. Held by one process at a time.
///
/// Beside the file itself stand `<file>.lock`, and for moments `<file>.new`; a file that could not be read is kept as
/// `<file>.damaged`.
#[derive(Debug)]
pub struct SnapshotFile {
    path: PathBuf,
    /// Held as long as this is.
    _lock: File,
}

/// What a snapshot's file held.
#[derive(Debug)]
pub enum Found {
    /// There is none: this is the first start.
    Nothing,
    /// Counts.
    Counts(Restored),
    /// Something that could not be taken, so that all counts begin anew.
    Damaged {
        /// What is wrong with it.
        error: SnapshotError,
        /// Where it is kept now, or why it could not be put aside: then the next snapshot replaces it.
        aside: Result<PathBuf, io::Error>,
    },
}

impl SnapshotFile {
    /// Locks the file at `path`, whether or not it is there.
    ///
    /// # Errors
    /// [`SnapshotFileError`], above all where another gateway uses it.
    pub fn lock(path: &Path) -> Result<SnapshotFile, SnapshotFileError> {
        let place = beside(path, "lock");
        let unlockable = |error| SnapshotFileError::Unlockable { path: place.clone(), error };
        let mut options = OpenOptions::new();
        let open = options.read(true).write(true).create(true).truncate(false).mode(MODE);
        let mut lock = open.open(&place).map_err(unlockable)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                let mut by = String::new();
                // Who it is helps, and is no matter where it cannot be told.
                let _ = (&lock).take(20).read_to_string(&mut by);
                let by = by.trim().to_owned();
                return Err(SnapshotFileError::Taken { path: path.to_owned(), by });
            }
            Err(fs::TryLockError::Error(error)) => return Err(unlockable(error)),
        }
        // A full disk is no reason not to start.
        let _ = lock.set_len(0).and_then(|()| writeln!(lock, "{}", std::process::id()));
        Ok(SnapshotFile { path: path.to_owned(), _lock: lock })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A store with the counts that the file holds, for limits that [`Store::define`](crate::Store::define) is to be told
    /// of: `definitions`. Their parameters may have changed since. Keys that count nothing any more at `now` are dropped, and
    /// no slot of a concurrency limit is held. What is not a whole and right snapshot is put aside.
    ///
    /// # Errors
    /// [`SnapshotFileError::Unopened`]: a file is there, and counts that it may hold must not be given out again.
    pub fn open(
        &self,
        options: MemoryOptions,
        definitions: &[Definition],
        now: Timestamp,
    ) -> Result<(MemoryStore, Found), SnapshotFileError> {
        read(&self.path, options, definitions, now, || {
            let aside = beside(&self.path, "damaged");
            fs::rename(&self.path, &aside).map(|()| aside)
        })
    }

    /// As [`SnapshotFile::open`], of a file that another process holds: its counts as they were when it last wrote them. Nothing is
    /// put aside, for that one will replace it.
    ///
    /// # Errors
    /// [`SnapshotFileError::Unopened`], as there.
    pub fn open_of_another(
        path: &Path,
        options: MemoryOptions,
        definitions: &[Definition],
        now: Timestamp,
    ) -> Result<(MemoryStore, Found), SnapshotFileError> {
        let not_ours = || Err(io::Error::other("another gateway has it"));
        read(path, options, definitions, now, not_ours)
    }

    /// Replaces the file by the counts of `store`. It is on the disk when this comes back; where this fails, the file is
    /// as it was. `rest` is called between pieces, for others to get on.
    ///
    /// # Errors
    /// Why the system did not take it.
    pub fn save(
        &self,
        store: &MemoryStore,
        now: Timestamp,
        mut rest: impl FnMut(),
    ) -> io::Result<Written> {
        let new = beside(&self.path, "new");
        let saved = self.save_as(&new, store, now, &mut rest);
        if saved.is_err() {
            // Half a file only takes room.
            let _ = fs::remove_file(&new);
        }
        saved
    }

    fn save_as(
        &self,
        new: &Path,
        store: &MemoryStore,
        now: Timestamp,
        rest: &mut impl FnMut(),
    ) -> io::Result<Written> {
        for _ in 0..RELOADS {
            // One that a killed process left may be anybody's to read.
            match fs::remove_file(new) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let file = OpenOptions::new().write(true).create_new(true).mode(MODE).open(new)?;
            let out = BufWriter::with_capacity(1 << 16, &file);
            match store.write_counts(out, now, &mut *rest) {
                Ok(written) => {
                    file.sync_all()?;
                    fs::rename(new, &self.path)?;
                    File::open(folder(&self.path))?.sync_all()?;
                    return Ok(written);
                }
                Err(Unwritten::Failed(error)) => return Err(error),
                Err(Unwritten::Reloaded) => {}
            }
        }
        Err(io::Error::other("the policy was reloaded all the time"))
    }
}

/// What the file at `path` holds; `aside` puts away what is no snapshot.
fn read(
    path: &Path,
    options: MemoryOptions,
    definitions: &[Definition],
    now: Timestamp,
    aside: impl FnOnce() -> io::Result<PathBuf>,
) -> Result<(MemoryStore, Found), SnapshotFileError> {
    let fresh = || MemoryStore::new(options.clone());
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok((fresh(), Found::Nothing));
        }
        Err(error) => return Err(SnapshotFileError::Unopened { path: path.to_owned(), error }),
    };
    let input = BufReader::with_capacity(1 << 16, file);
    Ok(match MemoryStore::restore(input, options.clone(), definitions, now) {
        Ok((store, restored)) => (store, Found::Counts(restored)),
        Err(error) => (fresh(), Found::Damaged { error, aside: aside() }),
    })
}

/// `path` with `.extension` behind its name.
fn beside(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    PathBuf::from(name)
}

/// The folder that a file is in.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}
