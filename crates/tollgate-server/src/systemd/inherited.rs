//! Sockets that a service manager opened before this process was there (`LISTEN_FDS`, `LISTEN_FDNAMES`): they outlive it, so
//! connections that come while it starts anew wait in their queue.

use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;

use listenfd::ListenFd;
use socket2::SockRef;

/// What stands for a name where the manager gives none.
const NAMELESS: &str = "unknown";

/// The sockets that this process was started with, each until it is taken.
#[derive(Debug, Default)]
pub(crate) struct Inherited {
    sockets: Vec<(String, io::Result<InheritedSocket>)>,
}

/// A socket that somebody else opened, and keeps.
#[derive(Debug)]
pub(crate) enum InheritedSocket {
    /// On an address and a port.
    Tcp(TcpListener),
    /// At a path.
    Unix(UnixListener),
}

impl InheritedSocket {
    /// The same socket once more, for another thread.
    pub(crate) fn try_clone(&self) -> io::Result<InheritedSocket> {
        match self {
            InheritedSocket::Tcp(socket) => socket.try_clone().map(InheritedSocket::Tcp),
            InheritedSocket::Unix(socket) => socket.try_clone().map(InheritedSocket::Unix),
        }
    }
}

impl Inherited {
    /// Those of this process. They can be had once: a second call finds none.
    pub(crate) fn of_process() -> Inherited {
        let names = std::env::var("LISTEN_FDNAMES").ok();
        let mut given = ListenFd::from_env();
        let names = names_of(names.as_deref(), given.len());
        let sockets = names
            .into_iter()
            .enumerate()
            .map(|(place, name)| (name, socket(&mut given, place)))
            .collect();
        Inherited { sockets }
    }

    /// All of those called `name`: a unit with several addresses has one name for them.
    ///
    /// # Errors
    /// Where there is none, or one of them is nothing to accept connections from.
    pub(crate) fn take(&mut self, name: &str) -> io::Result<Vec<InheritedSocket>> {
        let (taken, left) =
            std::mem::take(&mut self.sockets).into_iter().partition(|(known, _)| known == name);
        self.sockets = left;
        let taken: Vec<(String, io::Result<InheritedSocket>)> = taken;
        if taken.is_empty() {
            return Err(io::Error::new(io::ErrorKind::NotFound, self.no_such(name)));
        }
        taken.into_iter().map(|(_, socket)| socket).collect()
    }

    /// The names of those that nobody took.
    pub(crate) fn left(&self) -> Vec<&str> {
        self.sockets.iter().map(|(name, _)| name.as_str()).collect()
    }

    fn no_such(&self, name: &str) -> String {
        let known = match self.left().as_slice() {
            [] => "with none that is left".to_owned(),
            left => format!("with `{}`", left.join("`, `")),
        };
        format!(
            "this process was not started with a socket called `{name}`, but {known}; start it by a socket unit with \
             `FileDescriptorName={name}`"
        )
    }
}

/// A name for each of `count` sockets.
fn names_of(names: Option<&str>, count: usize) -> Vec<String> {
    let mut names = names.into_iter().flat_map(|names| names.split(':'));
    let name = |_| names.next().filter(|name| !name.is_empty()).unwrap_or(NAMELESS).to_owned();
    (0..count).map(name).collect()
}

fn socket(given: &mut ListenFd, place: usize) -> io::Result<InheritedSocket> {
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    let socket = match given.take_tcp_listener(place) {
        Ok(socket) => InheritedSocket::Tcp(socket.ok_or_else(missing)?),
        Err(_) => InheritedSocket::Unix(given.take_unix_listener(place)?.ok_or_else(missing)?),
    };
    let listens = match &socket {
        InheritedSocket::Tcp(socket) => {
            socket.set_nonblocking(true)?;
            SockRef::from(socket).is_listener()?
        }
        InheritedSocket::Unix(socket) => {
            socket.set_nonblocking(true)?;
            SockRef::from(socket).is_listener()?
        }
    };
    if listens {
        return Ok(socket);
    }
    let message = "it is not a socket that listens; `Accept=no` is right for this program";
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_with_sockets_in_order() {
        assert_eq!(names_of(Some("http:https:x"), 2), ["http", "https"]);
        assert_eq!(names_of(Some("http::x"), 4), ["http", NAMELESS, "x", NAMELESS]);
        assert_eq!(names_of(None, 1), [NAMELESS]);
    }

    #[test]
    fn all_of_one_name_are_taken_once() {
        let socket = || {
            let socket = TcpListener::bind("127.0.0.1:0").expect("a free port");
            Ok(InheritedSocket::Tcp(socket))
        };
        let sockets = [("http", socket()), ("admin", socket()), ("http", socket())];
        let mut inherited = Inherited {
            sockets: sockets.into_iter().map(|(name, socket)| (name.to_owned(), socket)).collect(),
        };
        assert_eq!(inherited.take("http").expect("two").len(), 2);
        let error = inherited.take("http").expect_err("taken").to_string();
        assert!(error.contains("called `http`, but with `admin`"), "{error}");
        assert_eq!(inherited.left(), ["admin"]);
    }
}
