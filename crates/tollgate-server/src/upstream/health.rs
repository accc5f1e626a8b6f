//! Asking servers whether they are well: over a connection of its own each time, so that a check sees what a new request would.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use http::header::{HOST, HeaderValue, USER_AGENT};
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tollgate_policy::settings::{HealthCheck, Probe};
use tollgate_store::{Clock, SystemClock};

use super::dial::{DialError, dial};
use super::members::scatter;
use super::pool::Pool;
use super::server::Server;
use super::stream::Stream;
use super::{form, grpc};

/// Longest body of an answer to a check that is read.
const MOST_BYTES: usize = 64 << 10;

/// Why a server is not well.
type Ill = String;

/// Checks `server` once, and notes what came of it.
pub(super) async fn check(
    pool: Arc<Pool>,
    server: Arc<Server>,
    check: HealthCheck,
    clock: Arc<SystemClock>,
) {
    let begun = clock.now().as_micros();
    let longest = Duration::from_micros(check.timeout.get());
    let asked = tokio::time::timeout(longest, ask(&pool, &server, &check.probe)).await;
    let found = asked.unwrap_or_else(|_| Err("it did not answer in time".to_owned()));
    note(&pool, &server, &check, &found);
    pool.tell(clock.now().as_micros());
    let jitter = scatter(begun as usize) as u64 % (check.every.get() / 10 + 1);
    let next = begun.saturating_add(check.every.get() - jitter);
    server.next_check().store(next, Ordering::Relaxed);
}

fn note(pool: &Pool, server: &Server, check: &HealthCheck, found: &Result<(), Ill>) {
    server.metrics().checked(found.is_ok());
    let (pool, at) = (&pool.settings().name, server.endpoint());
    match (server.standing().checked(found.is_ok(), check), found) {
        (Some(false), Err(reason)) => {
            tracing::warn!(%pool, server = %at, reason, "an upstream server fails its health checks: it is left out");
        }
        (Some(true), _) => {
            tracing::info!(%pool, server = %at, "an upstream server passes its health checks again");
        }
        _ => {}
    }
}

async fn ask(pool: &Pool, server: &Server, probe: &Probe) -> Result<(), Ill> {
    let dialled = dial(server, pool.security(), pool.settings().http2).await;
    let (stream, http2) = dialled.map_err(|error| match error {
        DialError::Refused(error) | DialError::Exhausted(error) => error.to_string(),
        DialError::Unproven(reason) => reason,
    })?;
    let request = request(server, probe);
    let request = match http2 {
        true => form::for_http2(request, server.proves().is_some(), server.endpoint()),
        false => request,
    };
    let (parts, body) = exchange(stream, http2, request).await?.into_parts();
    let body = Limited::new(body, MOST_BYTES).collect().await;
    match probe {
        Probe::Http { status, .. } if status.contains(&parts.status.as_u16()) => Ok(()),
        Probe::Http { .. } => Err(format!("it answered {}", parts.status)),
        Probe::Grpc { .. } => {
            let body = body.map_err(|_| "its answer broke off".to_owned())?;
            let trailers = body.trailers().cloned().unwrap_or_default();
            serving(&parts, &trailers, &body.to_bytes())
        }
    }
}

fn request(server: &Server, probe: &Probe) -> Request<Full<Bytes>> {
    let named = form::authority(server.endpoint());
    let (method, path, host, body) = match probe {
        Probe::Http { path, host, .. } => {
            let host = host.as_deref().unwrap_or(named.as_str());
            (Method::GET, path.as_str(), host, Bytes::new())
        }
        Probe::Grpc { service } => {
            (Method::POST, grpc::CHECK, named.as_str(), grpc::question(service))
        }
    };
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = method;
    // The policy's reader let only paths through.
    *request.uri_mut() = path.parse().unwrap_or_default();
    let headers = request.headers_mut();
    if let Ok(host) = HeaderValue::from_str(host) {
        headers.insert(HOST, host);
    }
    headers.insert(USER_AGENT, HeaderValue::from_static("tollgate-health-check"));
    if matches!(probe, Probe::Grpc { .. }) {
        headers.extend(grpc::headers());
    }
    request
}

async fn exchange(
    stream: Stream,
    http2: bool,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, Ill> {
    let broken = |error: hyper::Error| format!("its connection broke: {error}");
    if http2 {
        let io = TokioIo::new(stream);
        let (mut sender, connection) =
            http2::handshake(TokioExecutor::new(), io).await.map_err(broken)?;
        tokio::spawn(connection);
        return sender.send_request(request).await.map_err(broken);
    }
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
    tokio::spawn(connection);
    sender.send_request(request).await.map_err(broken)
}

/// Whether a gRPC answer says that the service is well.
fn serving(parts: &http::response::Parts, trailers: &HeaderMap, body: &[u8]) -> Result<(), Ill> {
    // An answer of trailers only has them as its head.
    let status = trailers.get(grpc::STATUS).or_else(|| parts.headers.get(grpc::STATUS));
    match status.map(HeaderValue::as_bytes) {
        _ if parts.status != http::StatusCode::OK => Err(format!("it answered {}", parts.status)),
        Some(b"0") => grpc::answer(body),
        Some(other) => Err(format!("its gRPC status is {}", String::from_utf8_lossy(other))),
        None => Err("it answered without a gRPC status".to_owned()),
    }
}
