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
    identity: (u64, u64),
}

/// Listens at `path`. A socket there that nobody listens on is replaced.
pub(super) fn listen(path: &Path) -> io::Result<(UnixListener, SocketFile)> {
    clear(path)?;
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

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
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
        let (stale, file) = listen(&path).expect("a free path");
        assert_eq!(fs::metadata(&path).expect("a file").mode() & 0o777, MODE);
        assert_eq!(listen(&path).expect_err("taken").kind(), io::ErrorKind::AddrInUse);
        // Its process died: the file stays, and nobody listens.
        drop(stale);
        let (_listener, second) = listen(&path).expect("it is stale");
        drop(file);
        assert!(path.exists(), "another's file is not removed");
        drop(second);
        assert!(!path.exists());
        fs::write(&path, "text").expect("a file");
        let refused = listen(&path).expect_err("no socket").to_string();
        assert!(refused.contains("no socket"), "{refused}");
        assert_eq!(fs::read(&path).expect("it stays"), b"text");
    }
}
