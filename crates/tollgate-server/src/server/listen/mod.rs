//! The sockets that a gateway listens on: for each listener of the policy one for each of its threads.

mod tcp;
mod unix;

use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;

use tollgate_policy::settings::{ListenAt, Listener};

use crate::ServeError;

pub(crate) use unix::SocketFile;

/// How many connections may wait to be accepted, of each socket.
const BACKLOG: i32 = 1024;

/// A socket that listens, for one thread.
#[derive(Debug)]
pub(crate) enum BoundSocket {
    /// On an address and a port.
    Tcp(TcpListener),
    /// At a path.
    Unix(UnixListener),
}

/// What one listener listens on.
#[derive(Debug)]
pub(crate) struct Listening {
    /// Its name.
    pub(crate) name: Arc<str>,
    /// Where: the port that was found where 0 was asked for.
    pub(crate) at: ListenAt,
    /// One for each thread.
    pub(crate) sockets: Vec<BoundSocket>,
    /// What is removed when it listens no more.
    pub(crate) file: Option<SocketFile>,
}

/// Listens for `listener` with `threads` threads.
pub(crate) fn listen(listener: &Listener, threads: usize) -> Result<Listening, ServeError> {
    let opened = match &listener.at {
        ListenAt::Tcp(address) => tcp::listen(*address, threads).and_then(tcp_sockets),
        ListenAt::Unix(path) => unix_sockets(path, threads),
        ListenAt::Systemd(name) => inherited(name, threads),
    };
    let (at, sockets, file) =
        opened.map_err(|error| ServeError::Bind { at: listener.at.clone(), error })?;
    Ok(Listening { name: Arc::clone(&listener.name), at, sockets, file })
}

type Opened = (ListenAt, Vec<BoundSocket>, Option<SocketFile>);

fn tcp_sockets(listeners: Vec<TcpListener>) -> io::Result<Opened> {
    let first = listeners.first().ok_or(io::ErrorKind::InvalidInput)?;
    let at = ListenAt::Tcp(first.local_addr()?);
    Ok((at, listeners.into_iter().map(BoundSocket::Tcp).collect(), None))
}

fn unix_sockets(path: &Path, threads: usize) -> io::Result<Opened> {
    let (listener, file) = unix::listen(path)?;
    // The threads share one queue: the kernel spreads connections over ports only.
    let again = (1..threads).map(|_| listener.try_clone());
    let mut sockets = again.collect::<io::Result<Vec<_>>>()?;
    sockets.push(listener);
    let sockets = sockets.into_iter().map(BoundSocket::Unix).collect();
    Ok((ListenAt::Unix(path.to_owned()), sockets, Some(file)))
}

/// The socket called `name` of those that the process was started with.
fn inherited(name: &str, _threads: usize) -> io::Result<Opened> {
    let message = format!("this process was not started with a socket called `{name}`");
    Err(io::Error::new(io::ErrorKind::NotFound, message))
}
