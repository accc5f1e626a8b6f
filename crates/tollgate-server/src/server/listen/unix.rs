//! A Unix socket, and the file that it is reached by.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use socket2::{Domain, SockAddr, Socket, Type};

use super::BACKLOG;

/// Who may connect: the user of the gateway, and its group.
const MODE: u32 = 0o660;

/// The file of a socket, removed with it unless somebody put another in its place.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    identity: Identity,
}

/// Device, number and birth of a file: numbers are given again.
type Identity = (u64, u64, i64, i64);

/// Listens at `path`. A socket there that nobody listens on is replaced; with `take_over` also one that has a listener.
pub(super) fn listen(path: &Path, take_over: bool) -> io::Result<(UnixListener, SocketFile)> {
    if !(take_over && is_socket(path)?) {
        clear(path)?;
        return listen_at(path);
    }
    // The name changes its socket at once: nobody finds none.
    let beside = path.with_added_extension("new");
    clear(&beside)?;
    let (listener, file) = listen_at(&beside)?;
    fs::rename(&beside, path)?;
    Ok((listener, file.at(path)))
}

fn is_socket(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(found.file_type().is_socket()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn listen_at(path: &Path) -> io::Result<(UnixListener, SocketFile)> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.bind(&SockAddr::unix(path)?)?;
    // Nobody can connect before it listens, so nobody can with other rights.
    fs::set_permissions(path, Permissions::from_mode(MODE))?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    let file = SocketFile { path: path.to_owned(), identity: identity(path)? };
    Ok((socket.into(), file))
}

/// Makes room at `path`.
fn clear(path: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !found.file_type().is_socket() {
        let message = "there is a file that is no socket; remove it or choose another path";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
    }
    match UnixStream::connect(path) {
        Ok(_) => Err(io::ErrorKind::AddrInUse.into()),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
    }
}

impl SocketFile {
    /// The same file under another name.
    fn at(mut self, path: &Path) -> SocketFile {
        path.clone_into(&mut self.path);
        self
    }
}

fn identity(path: &Path) -> io::Result<Identity> {
    let found = fs::symlink_metadata(path)?;
    // A socket is never written to, so this is when it was made.
    Ok((found.dev(), found.ino(), found.mtime(), found.mtime_nsec()))
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|identity| identity == self.identity)
            && let Err(error) = fs::remove_file(&self.path)
        {
            tracing::warn!(path = %self.path.display(), %error, "the file of a Unix socket stays");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_socket_is_replaced_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s");
        let (stale, file) = listen(&path, false).expect("a free path");
        assert_eq!(fs::metadata(&path).expect("a file").mode() & 0o777, MODE);
        assert_eq!(listen(&path, false).expect_err("taken").kind(), io::ErrorKind::AddrInUse);
        // Its process died: the file stays, and nobody listens.
        drop(stale);
        let (_listener, second) = listen(&path, false).expect("it is stale");
        drop(file);
        assert!(path.exists(), "another's file is not removed");
        drop(second);
        assert!(!path.exists());
        fs::write(&path, "text").expect("a file");
        let refused = listen(&path, false).expect_err("no socket").to_string();
        assert!(refused.contains("no socket"), "{refused}");
        assert_eq!(fs::read(&path).expect("it stays"), b"text");
    }

    #[test]
    fn a_socket_is_taken_over_where_it_is_asked_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s");
        let (_old, old_file) = listen(&path, true).expect("a free path");
        let (new, new_file) = listen(&path, true).expect("it is taken over");
        drop(old_file);
        UnixStream::connect(&path).expect("somebody listens");
        assert!(new.accept().is_ok(), "and it is the new one");
        drop(new_file);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }
}
