//! The service behind the gateway: this program, started again, so that it can be killed.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::process::Command;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Either, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::web::process::Running;

/// Where a service listens; set only for those that the tests start.
const ADDRESS: &str = "TOLLGATE_TEST_SERVICE";

/// Starts a service on `address`, and waits until it listens.
pub(crate) fn start(address: SocketAddr) -> Running {
    let running = Running::start(
        Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "service::a_service", "--nocapture"])
            .env(ADDRESS, address.to_string()),
    );
    running.says("service ready");
    running
}

/// A body that nothing else is: byte `i` of `length` bytes.
pub(crate) fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at.wrapping_mul(31) >> 3) as u8).collect()
}

/// What the service does; in the tests' own process nothing.
#[test]
fn a_service() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let listener = TcpListener::bind(&address).await.expect("its address is free");
        println!("service ready");
        loop {
            let (stream, _) = listener.accept().await.expect("a connection");
            tokio::spawn(async move {
                // Whoever goes away goes away.
                let _ = http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service_fn(answer))
                    .await;
            });
        }
    });
}

/// `POST` gives the body back as it comes, `GET /bytes/N` N bytes, and anything else its own target.
async fn answer(
    request: Request<Incoming>,
) -> Result<Response<Either<Incoming, Full<Bytes>>>, Infallible> {
    let path = request.uri().path();
    let body = match path.strip_prefix("/bytes/").and_then(|length| length.parse().ok()) {
        _ if request.method() == Method::POST => Either::Left(request.into_body()),
        Some(length) => Either::Right(Full::from(bytes(length))),
        None => Either::Right(Full::from(request.uri().to_string())),
    };
    Ok(Response::new(body))
}

/// Reads a body whole.
pub(crate) async fn whole(
    response: Response<Incoming>,
) -> Result<(StatusCode, Bytes), hyper::Error> {
    let (head, body) = response.into_parts();
    Ok((head.status, body.collect().await?.to_bytes()))
}
