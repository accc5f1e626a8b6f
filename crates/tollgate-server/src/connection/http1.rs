//! HTTP/1.1 from a client: hyper's server, timed by the connection's pace.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::sync::watch;
use tollgate_policy::settings::GatewaySettings;

use super::farewell::farewell;
use super::pace::Silence;
use super::{Client, End};
use crate::gateway::Gateway;

/// hyper takes headers that are larger than the limit by this much, so that the gateway's own check can answer them in full.
const HEADER_SLACK: usize = 16 * 1024;

/// As many headers hyper takes unless it is told otherwise, and then it clears room for them at every request. What is beyond a
/// lower limit the gateway answers itself.
const HYPERS_MOST_HEADERS: usize = 100;

/// Serves a connection on which the client speaks HTTP/1, until it ends or is at rest.
pub(super) async fn run(
    gateway: &Arc<Gateway>,
    client: &Arc<Client>,
    settings: &GatewaySettings,
    stop: watch::Receiver<bool>,
) -> End {
    let service = service_fn(|request| gateway.answer(client, request));
    let mut builder = http1::Builder::new();
    builder.max_buf_size(settings.max_header_bytes.saturating_add(HEADER_SLACK));
    if settings.max_headers > HYPERS_MOST_HEADERS {
        builder.max_headers(settings.max_headers);
    }
    let mut connection =
        builder.serve_connection(TokioIo::new(client.socket.clone()), service).with_upgrades();
    let mut silence = pin!(client.pace.silence(|| can_rest(client)));
    let stopping = stop.clone();
    let mut parting = pin!(farewell(&client.pace, stop));
    let mut awaited = false;
    let mut told = false;
    let silence = std::future::poll_fn(|cx| {
        if !told && client.pace.serves_its_last() {
            told = true;
            Pin::new(&mut connection).graceful_shutdown();
        }
        let mut polled = Pin::new(&mut connection).poll(cx);
        // It is asked once, to be woken by it, and then where it has something to say.
        let due = !awaited || *stopping.borrow();
        awaited = true;
        if polled.is_pending() && !told && due && parting.as_mut().poll(cx).is_ready() {
            told = true;
            Pin::new(&mut connection).graceful_shutdown();
            polled = Pin::new(&mut connection).poll(cx);
        }
        if let Poll::Ready(ended) = polled {
            if let Err(error) = ended {
                tracing::trace!(%error, "a connection ended");
            }
            return Poll::Ready(None);
        }
        // After the connection, so that it sees what the connection just did.
        silence.as_mut().poll(cx).map(Some)
    })
    .await;
    match silence {
        None => End::Closed,
        Some(Silence::TooLong) => End::TooSlow,
        Some(Silence::Rest) => match connection.into_parts() {
            Some(parts) if !told => End::AtRest { unread: parts.read_buf },
            _ => End::Closed,
        },
    }
}

/// Whether hyper holds nothing for `client` but what it may have read of a next request: every answer has gone out, every
/// body was read, and nobody answers.
fn can_rest(client: &Arc<Client>) -> bool {
    client.pace.is_between_answers()
        && !client.pace.may_be_unread()
        && Arc::strong_count(client) == 1
        && client.socket.can_be_taken_apart()
}
