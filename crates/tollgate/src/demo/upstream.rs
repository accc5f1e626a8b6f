//! The small service that the demo protects.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;

/// How long the service thinks about each answer.
const THINKING: Duration = Duration::from_millis(5);

/// Starts the service on a spare port of loopback; it ends with the runtime.
///
/// # Errors
/// Where no port can be had.
pub(super) async fn start() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(accept(listener));
    Ok(address)
}

async fn accept(listener: TcpListener) {
    while let Ok((socket, _)) = listener.accept().await {
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .serve_connection(TokioIo::new(socket), service_fn(answer));
        // A client that goes away is no news to a demo.
        tokio::spawn(async move { connection.await.ok() });
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    tokio::time::sleep(THINKING).await;
    let body = format!(
        "{{\"model\":\"flagship\",\"path\":{:?},\"answer\":\"42\"}}\n",
        request.uri().path()
    );
    let mut response = Response::new(Full::new(Bytes::from(body)));
    response
        .headers_mut()
        .insert("content-type", http::HeaderValue::from_static("application/json"));
    Ok(response)
}
