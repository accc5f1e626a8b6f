//! Opening a connection to a server, in the version of HTTP that it is to speak.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use prometheus_client::metrics::gauge::Gauge;
use tollgate_store::{Clock, SystemClock};

use super::dial::{DialError, dial};
use super::multiplexed::{BEFORE_SETTINGS, Multiplexed};
use super::pool::Pool;
use super::server::Server;
use super::stream::Stream;
use crate::body::Upload;

/// A silent HTTP/2 connection is asked this often whether anybody is there, and given up this much later.
const PING_EVERY: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// What a server may send ahead of the client's reading, by stream and in all: it is what a connection can hold of memory.
const STREAM_WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = 1 << 20;

/// Largest head of an answer over HTTP/2.
const MOST_HEAD_BYTES: u32 = 64 << 10;

/// A connection that was just made.
pub(super) enum Opened {
    /// For one request at a time.
    Own(http1::SendRequest<Upload>),
    /// For many.
    Shared(Arc<Multiplexed>),
}

/// Connects to `server` within the pool's time, and sets the connection going on this thread.
pub(super) async fn connect(
    server: &Arc<Server>,
    pool: &Pool,
    clock: &SystemClock,
) -> Result<Opened, DialError> {
    let connecting = async {
        let (stream, http2) = dial(server, pool.security(), pool.settings().http2).await?;
        if http2 { shared(server, stream, clock).await } else { own(server, stream).await }
    };
    tokio::time::timeout(pool.timing().connect, connecting).await.unwrap_or_else(|_| {
        let message = "it took none within connect_timeout";
        Err(DialError::Refused(std::io::Error::new(std::io::ErrorKind::TimedOut, message)))
    })
}

async fn own(server: &Server, stream: Stream) -> Result<Opened, DialError> {
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(refused)?;
    let open = Open::one(&server.metrics().connections);
    tokio::spawn(async move {
        // What goes wrong on it is told to the request that uses it; an idle one may close as it likes.
        if let Err(error) = connection.with_upgrades().await {
            tracing::trace!(%error, "an upstream connection ended");
        }
        drop(open);
    });
    Ok(Opened::Own(sender))
}

async fn shared(
    server: &Arc<Server>,
    stream: Stream,
    clock: &SystemClock,
) -> Result<Opened, DialError> {
    let (sender, connection) = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_TIMEOUT)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_header_list_size(MOST_HEAD_BYTES)
        .initial_max_send_streams(BEFORE_SETTINGS)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(refused)?;
    let made = Arc::new(Multiplexed::new(sender, clock.now().as_micros()));
    let (of, server) = (Arc::downgrade(&made), Arc::clone(server));
    tokio::spawn(async move {
        let _open = Open::one(&server.metrics().connections);
        let mut connection = pin!(connection);
        let ended = std::future::poll_fn(|cx| {
            let polled = connection.as_mut().poll(cx);
            if let Some(of) = of.upgrade() {
                of.allows(connection.current_max_send_streams());
            }
            polled
        });
        if let Err(error) = ended.await {
            tracing::trace!(%error, "an upstream connection ended");
        }
        server.shared_closed();
    });
    Ok(Opened::Shared(made))
}

fn refused(error: hyper::Error) -> DialError {
    DialError::Refused(std::io::Error::other(error))
}

/// One more in a gauge, until it is dropped.
struct Open(Gauge);

impl Open {
    fn one(gauge: &Gauge) -> Open {
        gauge.inc();
        Open(gauge.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.dec();
    }
}
