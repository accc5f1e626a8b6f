//! The demo's customers, sending real requests through the gateway.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::SendRequest;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::customers::Customer;

/// A request that takes longer counts as failed.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sends `customer`'s requests to `gateway` until the task is dropped.
pub(super) async fn send(customer: Arc<Customer>, gateway: SocketAddr) {
    let mut pace = interval(customer.every);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut connection = None;
    loop {
        pace.tick().await;
        match timeout(PATIENCE, one_request(&customer, gateway, &mut connection)).await {
            Ok(Some((status, retry_after))) => customer.tally.answer(status, retry_after),
            Ok(None) | Err(_) => {
                customer.tally.failure();
                connection = None;
            }
        }
    }
}

/// One request and its whole answer: the status and what `Retry-After` says.
async fn one_request(
    customer: &Customer,
    gateway: SocketAddr,
    connection: &mut Option<SendRequest<Full<Bytes>>>,
) -> Option<(u16, Option<u64>)> {
    let kept = match connection.take() {
        Some(mut kept) => kept.ready().await.is_ok().then_some(kept),
        None => None,
    };
    let sender = connection.insert(match kept {
        Some(usable) => usable,
        None => connect(gateway).await?,
    });
    let request = Request::post("/v1/chat")
        .header("host", gateway.to_string())
        .header("x-api-key", customer.api_key)
        .body(Full::new(Bytes::from_static(b"{\"prompt\":\"What is the answer?\"}")))
        .ok()?;
    let response = sender.send_request(request).await.ok()?;
    let told = (response.status().as_u16(), retry_after(&response));
    // Read to the end, so that the connection can be used again.
    response.into_body().collect().await.ok()?;
    Some(told)
}

async fn connect(gateway: SocketAddr) -> Option<SendRequest<Full<Bytes>>> {
    let socket = TcpStream::connect(gateway).await.ok()?;
    let (sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(socket)).await.ok()?;
    tokio::spawn(async move { connection.await.ok() });
    Some(sender)
}

fn retry_after<B>(response: &Response<B>) -> Option<u64> {
    response.headers().get("retry-after")?.to_str().ok()?.parse().ok()
}
