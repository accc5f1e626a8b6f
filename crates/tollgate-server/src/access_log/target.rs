//! Where lines go: a stream of the process, or a file that may be renamed under it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use tollgate_policy::settings::LogTarget;

/// An open target.
#[derive(Debug)]
pub(super) enum Target {
    Stdout,
    Stderr,
    File { path: PathBuf, file: Option<File> },
}

impl Target {
    /// `to`, not opened yet.
    pub(super) fn new(to: &LogTarget) -> Target {
        match to {
            LogTarget::Stdout => Target::Stdout,
            LogTarget::Stderr => Target::Stderr,
            LogTarget::File(path) => Target::File { path: path.clone(), file: None },
        }
    }

    /// Opens the file where it is not open, or where another one, or none, has its name by now.
    ///
    /// # Errors
    /// Where the file cannot be opened. One that was open before stays in use.
    pub(super) fn refresh(&mut self) -> io::Result<()> {
        let Target::File { path, file } = self else { return Ok(()) };
        if !file.as_ref().is_some_and(|file| is_at(file, path)) {
            // Names of keys are hashed, but paths and addresses are for their operator's eyes.
            let opened = OpenOptions::new().append(true).create(true).mode(0o640).open(&*path)?;
            *file = Some(opened);
        }
        Ok(())
    }

    /// Writes all of `bytes`; answers how many were written, and what stopped it.
    pub(super) fn write(&mut self, bytes: &[u8]) -> (usize, io::Result<()>) {
        match self {
            Target::Stdout => write_all(&mut io::stdout().lock(), bytes),
            Target::Stderr => write_all(&mut io::stderr().lock(), bytes),
            Target::File { file: Some(file), .. } => write_all(file, bytes),
            Target::File { file: None, .. } => (0, Err(io::ErrorKind::NotFound.into())),
        }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Target::Stdout => f.write_str("standard output"),
            Target::Stderr => f.write_str("standard error"),
            Target::File { path, .. } => path.display().fmt(f),
        }
    }
}

/// Whether `path` is the name of `file`.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

fn write_all(to: &mut impl Write, bytes: &[u8]) -> (usize, io::Result<()>) {
    let mut written = 0;
    while written < bytes.len() {
        match to.write(&bytes[written..]) {
            Ok(0) => return (written, Err(io::ErrorKind::WriteZero.into())),
            Ok(more) => written += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (written, Err(error)),
        }
    }
    (written, to.flush())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renamed_file_is_left_to_its_new_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, rotated) = (folder.path().join("a.log"), folder.path().join("a.log.1"));
        let mut target = Target::new(&LogTarget::File(path.clone()));
        let mut say = |text: &str| {
            target.refresh().expect("it can be opened");
            assert_eq!(target.write(text.as_bytes()).0, text.len());
        };
        say("one\n");
        say("two\n");
        std::fs::rename(&path, &rotated).expect("renamed");
        say("three\n");
        std::fs::remove_file(&path).expect("removed");
        say("four\n");
        let read = |path| std::fs::read_to_string(path).expect("a file");
        assert_eq!((read(&rotated), read(&path)), ("one\ntwo\n".to_owned(), "four\n".to_owned()));
    }

    #[test]
    fn what_cannot_be_opened_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut target = Target::new(&LogTarget::File(folder.path().join("none/a.log")));
        assert!(target.refresh().is_err());
        assert!(target.write(b"x\n").1.is_err());
    }
}
