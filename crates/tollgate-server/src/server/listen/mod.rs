//! The sockets that a gateway listens on: for each listener of the policy one for each of its threads.

mod tcp;
mod unix;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::Path;

use tollgate_policy::settings::{ListenAt, Listener};

use crate::ServeError;
use crate::systemd::{Inherited, InheritedSocket};

pub(crate) use tcp::hold_off;
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
    /// Somebody else's, who keeps it when this process ends.
    Inherited(InheritedSocket),
}

/// What one listener listens on.
#[derive(Debug)]
pub(crate) struct Listening {
    /// Its own, with the port that was found where 0 was asked for.
    pub(crate) listener: Listener,
    /// One for each thread.
    pub(crate) sockets: Vec<BoundSocket>,
    /// What is removed when it listens no more.
    pub(crate) file: Option<SocketFile>,
}

/// How to listen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// Threads that accept.
    pub(crate) threads: usize,
    /// Also where another gateway does.
    pub(crate) take_over: bool,
}

/// Listens for each of `listeners`. Of a socket unit with several addresses one listener has several sockets.
pub(crate) fn listen(listeners: &[Listener], manner: Manner) -> Result<Vec<Listening>, ServeError> {
    let mut inherited = Inherited::of_process();
    let mut all = Vec::with_capacity(listeners.len());
    for listener in listeners {
        let opened = open(listener, manner, &mut inherited)
            .map_err(|error| ServeError::Bind { at: listener.at.clone(), error })?;
        all.extend(opened.into_iter().map(|(at, sockets, file)| Listening {
            listener: Listener { at, ..listener.clone() },
            sockets,
            file,
        }));
    }
    for name in inherited.left() {
        tracing::warn!(
            name,
            "the policy listens on no socket of this name, which this process was started with"
        );
    }
    Ok(all)
}

/// Listens on `address` with one thread, as listeners do.
pub(crate) fn listen_on(address: SocketAddr, take_over: bool) -> io::Result<TcpListener> {
    tcp::listen(address, 1, take_over)?.pop().ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

type Opened = (ListenAt, Vec<BoundSocket>, Option<SocketFile>);

fn open(listener: &Listener, manner: Manner, inherited: &mut Inherited) -> io::Result<Vec<Opened>> {
    let Manner { threads, take_over } = manner;
    match &listener.at {
        ListenAt::Tcp(address) => {
            let sockets = tcp::listen(*address, threads, take_over)?;
            tcp_sockets(sockets).map(|opened| vec![opened])
        }
        ListenAt::Unix(path) => unix_sockets(path, manner).map(|opened| vec![opened]),
        ListenAt::Systemd(name) => inherited
            .take(name)?
            .into_iter()
            .map(|socket| inherited_sockets(&listener.at, &socket, threads))
            .collect(),
    }
}

fn tcp_sockets(listeners: Vec<TcpListener>) -> io::Result<Opened> {
    let first = listeners.first().ok_or(io::ErrorKind::InvalidInput)?;
    let at = ListenAt::Tcp(first.local_addr()?);
    Ok((at, listeners.into_iter().map(BoundSocket::Tcp).collect(), None))
}

fn unix_sockets(path: &Path, manner: Manner) -> io::Result<Opened> {
    let (listener, file) = unix::listen(path, manner.take_over)?;
    // The threads share one queue: the kernel spreads connections over ports only.
    let again = (1..manner.threads).map(|_| listener.try_clone());
    let mut sockets = again.collect::<io::Result<Vec<_>>>()?;
    sockets.push(listener);
    let sockets = sockets.into_iter().map(BoundSocket::Unix).collect();
    Ok((ListenAt::Unix(path.to_owned()), sockets, Some(file)))
}

/// The threads share the queue of `socket`.
fn inherited_sockets(
    asked: &ListenAt,
    socket: &InheritedSocket,
    threads: usize,
) -> io::Result<Opened> {
    let at = match socket {
        InheritedSocket::Tcp(socket) => ListenAt::Tcp(socket.local_addr()?),
        InheritedSocket::Unix(_) => asked.clone(),
    };
    let again = (0..threads).map(|_| socket.try_clone().map(BoundSocket::Inherited));
    Ok((at, again.collect::<io::Result<_>>()?, None))
}
