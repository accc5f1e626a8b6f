//! HTTP/2 from a client: hyper's server, with bounds on what one connection may hold and cost.

mod frames;
mod guard;
mod streams;

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::sync::watch;
use tollgate_policy::settings::GatewaySettings;

use super::{Client, End};
use crate::gateway::Gateway;

pub(crate) use guard::{Guard, PREFACE};
use streams::Streams;
pub(crate) use streams::Taking;

/// What a client may send on one stream before it is read: enough for 25 Mbit/s over 80 ms.
const STREAM_WINDOW: u32 = 256 * 1024;

/// What it may send on all of its streams together.
const CONNECTION_WINDOW: u32 = 1024 * 1024;

/// What of an answer is held for one stream while it is written.
const SEND_BUFFER: usize = 64 * 1024;

/// Streams that are malformed in a way that we answer by a reset (CVE-2025-8671).
const MALFORMED_STREAMS: usize = 128;

/// The fields that are counted beyond their bytes (RFC 9113, 6.5.2).
const FIELD_OVERHEAD: usize = 32;

/// As for HTTP/1.1: what is a little too large is answered in full.
const HEADER_SLACK: usize = 16 * 1024;

/// A connection that is closed because it was idle may take so long to say goodbye.
const GOODBYE: Duration = Duration::from_secs(1);

fn builder(settings: &GatewaySettings, streams: Streams) -> http2::Builder<Streams> {
    let fields = settings.max_headers.saturating_mul(FIELD_OVERHEAD);
    let list = settings.max_header_bytes.saturating_add(fields).saturating_add(HEADER_SLACK);
    let mut builder = http2::Builder::new(streams);
    builder
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(SEND_BUFFER)
        .max_local_error_reset_streams(MALFORMED_STREAMS)
        .max_header_list_size(u32::try_from(list).unwrap_or(u32::MAX))
        .max_concurrent_streams(u32::try_from(settings.max_streams).unwrap_or(u32::MAX));
    builder
}

/// Serves a connection on which the client speaks HTTP/2.
pub(super) async fn run(
    gateway: &Arc<Gateway>,
    client: &Arc<Client>,
    settings: &GatewaySettings,
    mut stop: watch::Receiver<bool>,
) -> End {
    let (clock, metrics) = (gateway.timer(), gateway.metrics());
    client.pace.multiplex();
    client.socket.guard(Guard::new(settings, clock, &client.pace, metrics));
    let streams = Streams {
        clock: Arc::clone(clock),
        pace: Arc::clone(&client.pace),
        metrics: Arc::clone(metrics),
    };
    let service = service_fn(|request| {
        // Each stream becomes a task of its own, and on the way there it is moved more often than it is polled.
        let (gateway, client) = (Arc::clone(gateway), Arc::clone(client));
        Box::pin(async move { gateway.answer(&client, request).await })
    });
    let connection =
        builder(settings, streams).serve_connection(TokioIo::new(client.socket.clone()), service);
    let mut connection = pin!(connection);
    let mut overdue = pin!(client.pace.overdue());
    let mut goodbye = pin!(None);
    let mut stopping = pin!(async move { stop.wait_for(|stop| *stop).await.is_ok() });
    let mut stopped = false;
    std::future::poll_fn(|cx| {
        if !stopped && stopping.as_mut().poll(cx).is_ready() {
            stopped = true;
            connection.as_mut().graceful_shutdown();
        }
        if let Poll::Ready(ended) = connection.as_mut().poll(cx) {
            if let Err(error) = ended {
                tracing::trace!(%error, "a connection ended");
            }
            return Poll::Ready(End::Closed);
        }
        if let Some(goodbye) = goodbye.as_mut().as_pin_mut() {
            return Future::poll(goodbye, cx).map(|()| End::Closed);
        }
        if overdue.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        if !client.pace.is_idle() {
            client.socket.part();
            return Poll::Ready(End::Closed);
        }
        connection.as_mut().graceful_shutdown();
        goodbye.set(Some(tokio::time::sleep(GOODBYE)));
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}
