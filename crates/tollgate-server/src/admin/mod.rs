//! The admin listener: `/metrics`, `/healthz` and `/readyz` over plain HTTP/1.1, on loopback unless the policy says
//! otherwise. It is bounded like everything: few connections, short heads, no bodies, and no connection lives long.

mod pages;
mod readiness;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::metrics::Metrics;

pub use readiness::{Readiness, Stage};

/// Probes and scrapers are few; one more waits in the socket's own queue.
const MOST_CONNECTIONS: usize = 64;

/// From a connection's (or the last answer's) end to the last byte of the next head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// After this a connection is closed once its answer is out, and a little later whatever it does.
const LIFETIME: Duration = Duration::from_secs(300);
const GRACE: Duration = Duration::from_secs(10);

/// Largest head.
const MOST_HEAD_BYTES: usize = 16 * 1024;

/// After a failed accept (no file descriptors left, for instance) the next is tried this much later.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves until it is dropped; connections end with it.
pub async fn serve(listener: TcpListener, metrics: Arc<Metrics>, readiness: Arc<Readiness>) {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut connections = tokio::task::JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        // The semaphore is never closed.
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let (metrics, readiness) = (Arc::clone(&metrics), Arc::clone(&readiness));
                connections.spawn(async move {
                    connection(stream, &metrics, &readiness).await;
                    drop(place);
                });
            }
            Err(error) => pause(&error).await,
        }
    }
}

async fn pause(error: &io::Error) {
    tracing::warn!(%error, "the admin listener could not accept a connection");
    tokio::time::sleep(ACCEPT_PAUSE).await;
}

async fn connection(stream: TcpStream, metrics: &Metrics, readiness: &Readiness) {
    let service = service_fn(|request: http::Request<hyper::body::Incoming>| {
        let answer = pages::answer(request.method(), request.uri().path(), metrics, readiness);
        std::future::ready(Ok::<_, Infallible>(answer.map(Full::new)))
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MOST_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    // How a scraper's connection ends concerns nobody.
    if tokio::time::timeout(LIFETIME, connection.as_mut()).await.is_err() {
        connection.as_mut().graceful_shutdown();
        let _ = tokio::time::timeout(GRACE, connection).await;
    }
}
