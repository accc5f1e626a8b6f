//! Opening a connection to a server.

use std::io;
use std::time::Duration;

use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustix::io::Errno;
use tokio::net::TcpStream;

use super::server::Server;
use crate::body::Upload;

/// Whether an error of connecting is about this machine, and not about the server.
pub(super) fn is_exhaustion(error: &io::Error) -> bool {
    let local = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM, Errno::ADDRNOTAVAIL];
    Errno::from_io_error(error).is_some_and(|errno| local.contains(&errno))
}

/// Connects to `server` (a name is looked up each time) within `longest`, and sets the connection going on
/// this thread.
///
/// # Errors
/// Where nobody took the connection in time.
pub(super) async fn connect(server: &Server, longest: Duration) -> io::Result<SendRequest<Upload>> {
    let stream = match tokio::time::timeout(longest, TcpStream::connect(server.address())).await {
        Ok(connected) => connected?,
        Err(_) => {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "it took none within connect_timeout",
            ));
        }
    };
    stream.set_nodelay(true)?;
    let (sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    let open = server.metrics().connections.clone();
    open.inc();
    tokio::spawn(async move {
        // What goes wrong on it is told to the request that uses it; an idle one may close as it likes.
        if let Err(error) = connection.with_upgrades().await {
            tracing::trace!(%error, "an upstream connection ended");
        }
        open.dec();
    });
    Ok(sender)
}
