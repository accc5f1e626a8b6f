//! Reaching a server: its socket, and TLS over it.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use rustix::io::Errno;
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::rustls;
use tollgate_store::tls::TlsError;

use super::server::Server;
use super::stream::{Plain, Stream};
use super::tls::{self, Tls};

/// One address that a server answers at.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Endpoint {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Endpoint::Tcp(address) => address.fmt(f),
            Endpoint::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// How the servers of a pool are spoken to.
#[derive(Clone, Debug)]
pub(super) enum Security {
    /// In the clear.
    Plain,
    /// Through TLS.
    Tls(Tls),
    /// Not at all: the files that TLS needs are not what they were when the policy was checked.
    Broken(TlsError),
}

/// Why a server cannot be reached.
#[derive(Debug)]
pub(super) enum DialError {
    /// It took no connection.
    Refused(io::Error),
    /// This machine has nothing left to make one with.
    Exhausted(io::Error),
    /// It did not prove who it is, or would not speak TLS.
    Unproven(String),
}

/// A connection to `server`, and whether HTTP/2 is to be spoken on it.
pub(super) async fn dial(
    server: &Server,
    security: &Security,
    http2: bool,
) -> Result<(Stream, bool), DialError> {
    let tls = match security {
        Security::Broken(error) => return Err(DialError::Unproven(error.to_string())),
        Security::Plain => None,
        Security::Tls(tls) => Some(tls),
    };
    let plain = socket(server.endpoint()).await.map_err(sorted)?;
    let (Some(tls), Some(name)) = (tls, server.proves()) else {
        return Ok((Stream::Plain(plain), http2));
    };
    let stream = tls.wrap(name, plain).await.map_err(unproven)?;
    let http2 = tls::chose_http2(&stream);
    Ok((Stream::Tls(Box::new(stream)), http2))
}

async fn socket(endpoint: &Endpoint) -> io::Result<Plain> {
    match endpoint {
        Endpoint::Tcp(address) => {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            Ok(Plain::Tcp(stream))
        }
        Endpoint::Unix(path) => UnixStream::connect(path).await.map(Plain::Unix),
    }
}

/// Whether an error of connecting is about this machine, and not about the server.
fn sorted(error: io::Error) -> DialError {
    let local = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM, Errno::ADDRNOTAVAIL];
    match Errno::from_io_error(&error) {
        Some(errno) if local.contains(&errno) => DialError::Exhausted(error),
        _ => DialError::Refused(error),
    }
}

/// A connection that broke during the handshake says nothing of who is there.
fn unproven(error: io::Error) -> DialError {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match inner {
        Some(inner) => DialError::Unproven(inner.to_string()),
        None => DialError::Refused(error),
    }
}
