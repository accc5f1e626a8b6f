//! HTTP/1.1 from a client: hyper's server, timed by the connection's pace.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::sync::watch;
use tollgate_policy::settings::GatewaySettings;

use super::farewell::farewell;
use super::{Client, End};
use crate::gateway::Gateway;

/// hyper takes headers that are larger than the limit by this much, so that the gateway's own check can answer them in full.
const HEADER_SLACK: usize = 16 * 1024;

/// Serves a connection on which the client speaks HTTP/1.
pub(super) async fn run(
    gateway: Arc<Gateway>,
    client: &Arc<Client>,
    settings: &GatewaySettings,
    stop: watch::Receiver<bool>,
) -> End {
    let service = service_fn(|request| Arc::clone(&gateway).answer(Arc::clone(client), request));
    let connection = http1::Builder::new()
        .max_buf_size(settings.max_header_bytes.saturating_add(HEADER_SLACK))
        .max_headers(settings.max_headers)
        .serve_connection(TokioIo::new(client.socket.clone()), service)
        .with_upgrades();
    let mut connection = pin!(connection);
    let mut overdue = pin!(client.pace.overdue());
    let mut parting = pin!(farewell(&client.pace, stop));
    let mut told = false;
    std::future::poll_fn(move |cx| {
        let mut polled = connection.as_mut().poll(cx);
        if polled.is_pending() && !told && parting.as_mut().poll(cx).is_ready() {
            told = true;
            connection.as_mut().graceful_shutdown();
            polled = connection.as_mut().poll(cx);
        }
        if let Poll::Ready(ended) = polled {
            if let Err(error) = ended {
                tracing::trace!(%error, "a connection ended");
            }
            return Poll::Ready(End::Closed);
        }
        // After the connection, so that it sees what the connection just did.
        overdue.as_mut().poll(cx).map(|()| End::TooSlow)
    })
    .await
}
