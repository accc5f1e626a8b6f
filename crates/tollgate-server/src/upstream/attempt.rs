//! One try at one server: a connection, the request over it, and what became of it.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::SendRequest;
use tollgate_store::Clock;

use super::SendError;
use super::exchange::Exchange;
use super::form;
use super::lease::{Lease, Line};
use super::server::Server;
use crate::body::{Relay, Upload, UploadWatch};

/// How a try ended.
pub(super) enum Tried {
    /// With an answer; where the request may be sent again, here is its double.
    Answered(Response<Relay>, Option<Double>),
    /// No server looked at it: the whole request is here again.
    Untaken(Request<Upload>, SendError),
    /// A server may have looked at it.
    Lost(SendError, Option<Double>),
}

/// A second copy of a request without a body.
pub(super) struct Double {
    pub(super) request: Request<Upload>,
    /// It may be sent again though a server may have acted on it (RFC 9110, 9.2.2).
    pub(super) idempotent: bool,
}

/// How sending over one connection failed.
enum Failed {
    /// Nothing was written: the whole request is here again.
    Unsent(Box<Request<Upload>>),
    /// Some of it may have been.
    Sent(SendError),
}

/// Connections of one server that may turn out to be of no use for a request.
const MOST_CONNECTIONS: usize = 3;

impl Exchange<'_> {
    /// Sends `request` to the server of `lease`. Where a kept connection turns out closed, over another one.
    pub(super) async fn try_at(&self, lease: Lease, mut request: Request<Upload>) -> Tried {
        let server = Arc::clone(lease.server());
        let (mut kept_fits, mut rounds) = (true, 0);
        loop {
            let (line, kept) = match self.line(&server, kept_fits).await {
                Ok(found) => found,
                Err(error) => return Tried::Untaken(request, error),
            };
            let double = self.double(&request, &line, kept);
            let own = matches!(line, Line::Own(..));
            let failed = match self.over(&server, line, request).await {
                Ok((response, line)) => {
                    return self.answered(response, lease.over(line, self.clock), double);
                }
                Err(failed) => failed,
            };
            rounds += 1;
            // Closed ones of a connection each are used up; the shared ones might close for ever.
            let again = (kept && own) || rounds < MOST_CONNECTIONS;
            match (failed, double) {
                (Failed::Unsent(whole), _) if again => request = *whole,
                (Failed::Unsent(whole), _) => return Tried::Untaken(*whole, closed()),
                (Failed::Sent(SendError::Unprocessed(_)), Some(double)) if again => {
                    self.pool.metrics().retried("unprocessed");
                    request = double.request;
                }
                (Failed::Sent(SendError::Unprocessed(error)), Some(double)) => {
                    return Tried::Untaken(double.request, SendError::Unprocessed(error));
                }
                (Failed::Sent(SendError::Broken(error)), Some(double))
                    if kept && kept_fits && double.idempotent =>
                {
                    if !self.may_retry("stale") {
                        return Tried::Lost(SendError::Broken(error), None);
                    }
                    kept_fits = false;
                    request = double.request;
                }
                (Failed::Sent(error), double) => {
                    self.blame(&server, &error, kept);
                    return Tried::Lost(error, double);
                }
            }
        }
    }

    fn answered(
        &self,
        response: Response<Incoming>,
        lease: Lease,
        double: Option<Double>,
    ) -> Tried {
        let (server, status) = (lease.server(), response.status());
        server.metrics().responded(status);
        let ejection = self.pool.settings().ejection.as_ref();
        if ejection.is_some_and(|ejection| ejection.status.contains(&status.as_u16())) {
            self.pool.failed(server, self.now());
        } else if !server.standing().is_spotless() {
            self.pool.succeeded(server, self.now());
        }
        let longest = self.pool.timing().body;
        Tried::Answered(response.map(|incoming| Relay::new(incoming, longest, lease)), double)
    }

    /// A failure that is the server's counts against it: that a kept connection was closed is none.
    fn blame(&self, server: &Arc<Server>, error: &SendError, kept: bool) {
        match error {
            SendError::Slow => self.pool.failed(server, self.now()),
            SendError::Broken(_) if !kept => self.pool.failed(server, self.now()),
            _ => {}
        }
    }

    async fn over(
        &self,
        server: &Arc<Server>,
        line: Line,
        request: Request<Upload>,
    ) -> Result<(Response<Incoming>, Line), Failed> {
        server.metrics().requests.inc();
        self.departure.leave();
        let watch = request.body().watch();
        let watch = watch.as_deref();
        let (reply, line) = match line {
            Line::Own(mut sender, worker) => {
                if !sender.is_ready() && !self.becomes_ready(&mut sender).await {
                    return Err(Failed::Unsent(Box::new(request)));
                }
                let reply = sender.try_send_request(form::for_http1(request));
                (self.in_time(reply, watch).await, Line::Own(sender, worker))
            }
            Line::Stream(stream) => {
                let secure = server.proves().is_some();
                let request = form::for_http2(request, secure, server.endpoint());
                let reply = stream.sender().try_send_request(request);
                (self.in_time(reply, watch).await, Line::Stream(stream))
            }
        };
        let error = match reply {
            Ok(Ok(response)) => {
                if let Line::Stream(stream) = &line {
                    stream.connection().heard();
                }
                return Ok((response, line));
            }
            Ok(Err(mut error)) => match error.take_message() {
                Some(request) => return Err(Failed::Unsent(Box::new(request))),
                None => why(error.into_error(), watch, &line),
            },
            Err(slow) => slow,
        };
        if let Some(kind) = error.kind() {
            server.metrics().failed(kind);
        }
        Err(Failed::Sent(error))
    }

    /// Whether a connection that was just used, perhaps on another thread, can soon be used again.
    async fn becomes_ready(&self, sender: &mut SendRequest<Upload>) -> bool {
        let longest = self.pool.timing().connect;
        matches!(tokio::time::timeout(longest, sender.ready()).await, Ok(Ok(())))
    }

    /// Waits for `reply`, at most `first_byte` since the last byte of the request went on.
    async fn in_time(
        &self,
        reply: impl Future<Output = Result<Response<Incoming>, TrySendError<Request<Upload>>>>,
        watch: Option<&UploadWatch>,
    ) -> Result<Result<Response<Incoming>, TrySendError<Request<Upload>>>, SendError> {
        let mut reply = pin!(reply);
        let longest = self.pool.timing().first_byte;
        let mut wait = longest;
        loop {
            if let Ok(reply) = tokio::time::timeout(wait, &mut reply).await {
                return Ok(reply);
            }
            if watch.is_some_and(UploadWatch::waits_for_client) {
                // Its own silence is bounded by body_timeout.
                wait = longest;
                continue;
            }
            let moved = watch.map_or(0, UploadWatch::moved);
            let still = Duration::from_micros(self.now().saturating_sub(moved));
            match longest.checked_sub(still) {
                Some(rest) if !rest.is_zero() => wait = rest,
                _ => return Err(SendError::Slow),
            }
        }
    }

    /// A second copy of a request that may have to be sent again.
    fn double(&self, request: &Request<Upload>, line: &Line, kept: bool) -> Option<Double> {
        if !matches!(request.body(), Upload::Empty) {
            return None;
        }
        let idempotent = request.method().is_idempotent();
        let wanted = idempotent && (kept || self.pool.settings().retries.any());
        // Over HTTP/2 a server may say that it did not look at the request, whatever its method.
        (wanted || matches!(line, Line::Stream(_)))
            .then(|| Double { request: copy(request), idempotent })
    }

    pub(super) fn now(&self) -> u64 {
        self.clock.now().as_micros()
    }
}

fn closed() -> SendError {
    SendError::Connect(Arc::new(std::io::ErrorKind::ConnectionReset.into()))
}

/// Why `line` brought no answer.
fn why(error: hyper::Error, watch: Option<&UploadWatch>, line: &Line) -> SendError {
    if let Some(failure) = watch.and_then(UploadWatch::failure) {
        return SendError::Upload(failure);
    }
    let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref());
    let (Some(source), Line::Stream(stream)) = (source, line) else {
        return SendError::Broken(Arc::new(error));
    };
    let source: &h2::Error = source;
    // RFC 9113, 6.8 and 8.7: neither a stream beyond the last of a GOAWAY nor a refused one was looked at.
    let away = source.is_go_away() && source.is_remote();
    let refused = source.is_reset() && source.is_remote();
    if away {
        stream.connection().spend();
    }
    match source.reason() {
        _ if away => SendError::Unprocessed(Arc::new(error)),
        Some(h2::Reason::REFUSED_STREAM) if refused => SendError::Unprocessed(Arc::new(error)),
        _ => SendError::Broken(Arc::new(error)),
    }
}

fn copy(request: &Request<Upload>) -> Request<Upload> {
    let (mut parts, ()): (Parts, ()) = Request::new(()).into_parts();
    parts.method = request.method().clone();
    parts.uri = request.uri().clone();
    parts.version = request.version();
    parts.headers = request.headers().clone();
    Request::from_parts(parts, Upload::Empty)
}
