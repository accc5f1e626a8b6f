//! One request's way to a server and back: which server, which connection, and what may be tried again.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::SendRequest;
use smallvec::SmallVec;
use tollgate_store::{Clock, SystemClock};

use super::connect::{connect, is_exhaustion};
use super::pool::Pool;
use super::server::Server;
use super::{SendError, Timing};
use crate::body::{Relay, Upload, UploadWatch};
use crate::metrics::UpstreamError;
use crate::waiting::Departure;

/// One exchange.
pub(super) struct Exchange<'a> {
    pub(super) pool: &'a Pool,
    pub(super) worker: usize,
    pub(super) timing: Timing,
    pub(super) clock: &'a Arc<SystemClock>,
    pub(super) departure: &'a Departure,
}

/// How a try ended, where it brought no answer.
enum Failed {
    /// Nothing was written: the whole request is here again.
    Unsent(Box<Request<Upload>>),
    /// Some of it may have been; where it may be sent twice, here is its double.
    Sent(Option<Box<Request<Upload>>>, SendError),
}

impl Exchange<'_> {
    pub(super) async fn send(
        &self,
        mut request: Request<Upload>,
    ) -> Result<Response<Relay>, SendError> {
        let mut tried: SmallVec<[usize; 8]> = SmallVec::new();
        let mut last = SendError::NoServer;
        for _ in 0..self.pool.len() {
            let now = self.clock.now().as_micros();
            let Some((place, server)) = self.pool.pick(now, &tried) else { break };
            tried.push(place);
            match self.over_kept(server, request).await {
                Ok(response) => return Ok(response),
                Err(Failed::Unsent(again)) => request = *again,
                Err(Failed::Sent(Some(again), _)) => request = *again,
                Err(Failed::Sent(None, error)) => return Err(error),
            }
            match self.open(server).await {
                Ok(sender) => return self.over_fresh(server, sender, request).await,
                // Another server would need as much.
                Err(error @ SendError::Exhausted(_)) => return Err(error),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Over connections that were kept, as long as there are some and they turn out closed.
    async fn over_kept(
        &self,
        server: &Arc<Server>,
        mut request: Request<Upload>,
    ) -> Result<Response<Relay>, Failed> {
        while let Some(sender) = server.take_idle(self.worker) {
            let double = double(&request);
            match self.over(server, sender, request).await {
                Err(Failed::Unsent(again)) => request = *again,
                Err(Failed::Sent(_, error @ SendError::Broken(_))) => {
                    return Err(Failed::Sent(double.map(Box::new), error));
                }
                answered => return answered,
            }
        }
        Err(Failed::Unsent(Box::new(request)))
    }

    async fn over_fresh(
        &self,
        server: &Arc<Server>,
        sender: SendRequest<Upload>,
        request: Request<Upload>,
    ) -> Result<Response<Relay>, SendError> {
        self.over(server, sender, request).await.map_err(|failed| match failed {
            Failed::Unsent(_) => {
                SendError::Connect(Arc::new(std::io::ErrorKind::ConnectionReset.into()))
            }
            Failed::Sent(_, error) => error,
        })
    }

    async fn open(&self, server: &Arc<Server>) -> Result<SendRequest<Upload>, SendError> {
        match connect(server, self.timing.connect).await {
            Ok(sender) => {
                server.succeeded();
                Ok(sender)
            }
            Err(error) if is_exhaustion(&error) => {
                server.exhausted(&error);
                Err(SendError::Exhausted(Arc::new(error)))
            }
            Err(error) => {
                server.metrics().failed(UpstreamError::Connect);
                let failures = server.failed(self.clock.now().as_micros());
                if failures == 1 {
                    tracing::warn!(server = server.address(), %error, "an upstream server takes no connection");
                }
                Err(SendError::Connect(Arc::new(error)))
            }
        }
    }

    async fn over(
        &self,
        server: &Arc<Server>,
        mut sender: SendRequest<Upload>,
        request: Request<Upload>,
    ) -> Result<Response<Relay>, Failed> {
        let lease = Server::lend(server, self.worker);
        server.metrics().requests.inc();
        self.departure.leave();
        let watch = request.body().watch();
        let reply = self.in_time(sender.try_send_request(request), watch.as_deref()).await;
        let failed = match reply {
            Ok(Ok(response)) => {
                server.metrics().responded(response.status());
                let lease = lease.over(sender, self.clock);
                return Ok(response.map(|incoming| Relay::new(incoming, self.timing.body, lease)));
            }
            Ok(Err(error)) => failed(error, watch.as_deref()),
            Err(slow) => Failed::Sent(None, slow),
        };
        if let Failed::Sent(_, error) = &failed
            && let Some(kind) = error.kind()
        {
            server.metrics().failed(kind);
        }
        Err(failed)
    }

    /// Waits for `reply`, at most `first_byte` since the last byte of the request went on.
    async fn in_time(
        &self,
        reply: impl Future<Output = Result<Response<Incoming>, TrySendError<Request<Upload>>>>,
        watch: Option<&UploadWatch>,
    ) -> Result<Result<Response<Incoming>, TrySendError<Request<Upload>>>, SendError> {
        let mut reply = pin!(reply);
        let mut wait = self.timing.first_byte;
        loop {
            if let Ok(reply) = tokio::time::timeout(wait, &mut reply).await {
                return Ok(reply);
            }
            if watch.is_some_and(UploadWatch::waits_for_client) {
                // Its own silence is bounded by body_timeout.
                wait = self.timing.first_byte;
                continue;
            }
            let moved = watch.map_or(0, UploadWatch::moved);
            let still = Duration::from_micros(self.clock.now().as_micros().saturating_sub(moved));
            match self.timing.first_byte.checked_sub(still) {
                Some(rest) if !rest.is_zero() => wait = rest,
                _ => return Err(SendError::Slow),
            }
        }
    }
}

fn failed(mut error: TrySendError<Request<Upload>>, watch: Option<&UploadWatch>) -> Failed {
    if let Some(request) = error.take_message() {
        return Failed::Unsent(Box::new(request));
    }
    let error = match watch.and_then(UploadWatch::failure) {
        Some(failure) => SendError::Upload(failure),
        None => SendError::Broken(Arc::new(error.into_error())),
    };
    Failed::Sent(None, error)
}

/// A second copy of a request that may be sent twice (RFC 9110, 9.2.2), for a connection that may turn out closed.
fn double(request: &Request<Upload>) -> Option<Request<Upload>> {
    let repeatable = request.method().is_idempotent() && matches!(request.body(), Upload::Empty);
    repeatable.then(|| {
        let (mut parts, ()) = Request::new(()).into_parts();
        copy(request, &mut parts);
        Request::from_parts(parts, Upload::Empty)
    })
}

fn copy(request: &Request<Upload>, parts: &mut Parts) {
    parts.method = request.method().clone();
    parts.uri = request.uri().clone();
    parts.version = request.version();
    parts.headers = request.headers().clone();
}
