//! One try at one server: a connection, the request over it, and what became of it.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use tollgate_store::Clock;

use super::SendError;
use super::exchange::Exchange;
use super::form;
use super::lease::{Lease, Line, Own};
use super::outbound::Outbound;
use super::server::Server;
use crate::alarm::Alarm;
use crate::body::{Relay, Upload, UploadWatch};

/// How a try ended without an answer.
pub(super) enum Missed {
    /// No server looked at it: the whole request is there again.
    Untaken(SendError),
    /// A server may have looked at it.
    Lost(SendError),
}

/// How sending over one connection failed.
enum Failed {
    /// Nothing was written: the whole request is there again.
    Unsent,
    /// Some of it may have been.
    Sent(SendError),
}

/// What hyper says of a request that was handed to it.
type Reply = Result<Response<Incoming>, TrySendError<Request<Upload>>>;

/// Connections of one server that may turn out to be of no use for a request.
const MOST_CONNECTIONS: usize = 3;

impl Exchange<'_> {
    /// Sends the request to the server of `lease`. Where a kept connection turns out closed, over another one.
    pub(super) async fn try_at(
        &self,
        lease: Lease,
        server: &Arc<Server>,
        outbound: &mut Outbound,
    ) -> Result<Response<Relay>, Missed> {
        let (mut kept_fits, mut rounds) = (true, 0);
        loop {
            let at_hand = if kept_fits { self.at_hand(server) } else { None };
            let (mut line, kept) = match at_hand {
                Some(line) => (line, true),
                None => match Box::pin(self.line(server, kept_fits)).await {
                    Ok(found) => found,
                    Err(error) => return Err(Missed::Untaken(error)),
                },
            };
            let failed = match self.over(server, &mut line, kept, outbound).await {
                Ok(response) => {
                    return Ok(self.answered(response, lease.over(line, self.clock)));
                }
                Err(failed) => failed,
            };
            rounds += 1;
            // Closed ones of a connection each are used up; the shared ones might close for ever.
            let again = (kept && matches!(line, Line::Own(_))) || rounds < MOST_CONNECTIONS;
            match failed {
                Failed::Unsent if again => {}
                Failed::Unsent => return Err(Missed::Untaken(closed())),
                Failed::Sent(SendError::Unprocessed(error)) if outbound.renew() => {
                    if !again {
                        return Err(Missed::Untaken(SendError::Unprocessed(error)));
                    }
                    self.pool.metrics().retried("unprocessed");
                }
                Failed::Sent(error @ SendError::Broken(_))
                    if kept && kept_fits && outbound.may_go_twice() =>
                {
                    if !self.may_retry("stale") {
                        outbound.give_up();
                        return Err(Missed::Lost(error));
                    }
                    kept_fits = false;
                    outbound.renew();
                }
                Failed::Sent(error) => {
                    self.blame(server, &error, kept);
                    return Err(Missed::Lost(error));
                }
            }
        }
    }

    fn answered(&self, response: Response<Incoming>, lease: Lease) -> Response<Relay> {
        let (server, status) = (lease.server(), response.status());
        server.metrics().responded(status);
        let ejection = self.pool.settings().ejection.as_ref();
        if ejection.is_some_and(|ejection| ejection.status.contains(&status.as_u16())) {
            self.pool.failed(server, self.now());
        } else if !server.standing().is_spotless() {
            self.pool.succeeded(server, self.now());
        }
        let longest = self.pool.timing().body;
        response.map(|incoming| Relay::new(incoming, longest, lease))
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
        line: &mut Line,
        kept: bool,
        outbound: &mut Outbound,
    ) -> Result<Response<Incoming>, Failed> {
        server.metrics().requests.inc();
        self.departure.leave();
        let watch = outbound.request().and_then(|request| request.body().watch());
        let watch = watch.as_deref();
        let reply = match line {
            Line::Own(own) => {
                let ready = own.sender.is_ready() || Box::pin(self.becomes_ready(own)).await;
                if !ready {
                    return Err(Failed::Unsent);
                }
                let Some(request) = self.take(outbound, kept, false) else {
                    return Err(Failed::Unsent);
                };
                let reply = pin!(own.sender.try_send_request(form::for_http1(request)));
                self.in_time(reply, watch, own.alarm_of(self.worker)).await
            }
            Line::Stream(stream) => {
                let secure = server.proves().is_some();
                let Some(request) = self.take(outbound, kept, true) else {
                    return Err(Failed::Unsent);
                };
                let request = form::for_http2(request, secure, server.endpoint());
                let reply = pin!(stream.sender().try_send_request(request));
                self.in_time(reply, watch, &mut Alarm::default()).await
            }
        };
        let error = match reply {
            Ok(Ok(response)) => {
                if let Line::Stream(stream) = line {
                    stream.connection().heard();
                }
                return Ok(response);
            }
            Ok(Err(mut error)) => match error.take_message() {
                Some(request) => {
                    outbound.stay(request);
                    return Err(Failed::Unsent);
                }
                None => why(error.into_error(), watch, line),
            },
            Err(slow) => slow,
        };
        if let Some(kind) = error.kind() {
            server.metrics().failed(kind);
        }
        Err(Failed::Sent(error))
    }

    /// The request, as it leaves over a line that is `kept` or `shared`; with a spare where it might go again.
    fn take(&self, outbound: &mut Outbound, kept: bool, shared: bool) -> Option<Request<Upload>> {
        let idempotent = outbound.request()?.method().is_idempotent();
        // Over HTTP/2 a server may say that it did not look at the request, whatever its method.
        if shared || (idempotent && (kept || self.pool.settings().retries.any())) {
            outbound.leave_spare()
        } else {
            outbound.leave()
        }
    }

    /// Whether a connection that was just used, perhaps on another thread, can soon be used again.
    async fn becomes_ready(&self, own: &mut Own) -> bool {
        let longest = self.pool.timing().connect;
        matches!(tokio::time::timeout(longest, own.sender.ready()).await, Ok(Ok(())))
    }

    /// Waits for `reply`, at most `first_byte` since the last byte of the request went on.
    async fn in_time(
        &self,
        mut reply: Pin<&mut impl Future<Output = Reply>>,
        watch: Option<&UploadWatch>,
        alarm: &mut Alarm,
    ) -> Result<Reply, SendError> {
        let longest = micros(self.pool.timing().first_byte);
        let mut deadline = self.now().saturating_add(longest);
        std::future::poll_fn(|cx| {
            if let Poll::Ready(reply) = reply.as_mut().poll(cx) {
                return Poll::Ready(Ok(reply));
            }
            while alarm.poll(deadline, self.clock, cx).is_ready() {
                deadline = match watch {
                    // Its own silence is bounded by body_timeout.
                    Some(watch) if watch.waits_for_client() => self.now().saturating_add(longest),
                    Some(watch) if watch.moved().saturating_add(longest) > self.now() => {
                        watch.moved().saturating_add(longest)
                    }
                    _ => return Poll::Ready(Err(SendError::Slow)),
                };
            }
            Poll::Pending
        })
        .await
    }

    pub(super) fn now(&self) -> u64 {
        self.clock.now().as_micros()
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
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
