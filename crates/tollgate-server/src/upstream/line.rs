//! What a request goes over: a kept connection, a stream of a shared one, or a new connection.

use std::sync::Arc;

use super::SendError;
use super::connect::{Opened, connect};
use super::dial::DialError;
use super::exchange::Exchange;
use super::lease::{Line, Own};
use super::multiplexed::{Found, Shared};
use super::server::Server;
use crate::metrics::UpstreamError;

/// New connections in a row that close before they carry anything.
const MOST_CLOSED: usize = 3;

impl Exchange<'_> {
    /// A kept connection to `server`, unless streams of shared ones are taken.
    pub(super) fn at_hand(&self, server: &Server) -> Option<Line> {
        let shares = self.pool.settings().http2 && !server.has_declined_http2();
        if shares { None } else { server.take_kept(self.worker) }
    }

    /// A line to `server`, and whether it was there before; a kept one only where that would do.
    pub(super) async fn line(
        &self,
        server: &Arc<Server>,
        kept_fits: bool,
    ) -> Result<(Line, bool), SendError> {
        let shared = server.shared(self.worker).filter(|_| self.pool.settings().http2);
        match shared {
            Some(shared) if !server.has_declined_http2() => self.stream(server, shared).await,
            _ => self.own(server, kept_fits).await,
        }
    }

    async fn own(&self, server: &Arc<Server>, kept_fits: bool) -> Result<(Line, bool), SendError> {
        if kept_fits && let Some(line) = server.take_kept(self.worker) {
            return Ok((line, true));
        }
        match self.open(server).await? {
            Opened::Own(sender) => Ok((Line::Own(Own::new(sender, self.worker)), false)),
            Opened::Shared(connection) => {
                // It speaks HTTP/2 after all, though nobody counted on that.
                server.declines_http2(false);
                server.shared_opened();
                let stream = connection.stream();
                if let Some(shared) = server.shared(self.worker) {
                    shared.add(connection);
                }
                Ok((Line::Stream(stream), false))
            }
        }
    }

    async fn stream(
        &self,
        server: &Arc<Server>,
        shared: &Shared,
    ) -> Result<(Line, bool), SendError> {
        let mut was_there = true;
        for _ in 0..MOST_CLOSED {
            let opening = match shared.find() {
                Found::Stream(stream) => return Ok((Line::Stream(stream), was_there)),
                Found::Opening(opening) => opening,
            };
            was_there = false;
            let opened = opening.get_or_init(|| self.open_shared(server, shared)).await.clone();
            shared.opened(&opening);
            opened?;
            if server.has_declined_http2() {
                return self.own(server, true).await;
            }
            if let Some(line) = server.crowd_in_at_bound(self.worker) {
                return Ok((line, true));
            }
        }
        Err(SendError::Connect(Arc::new(std::io::ErrorKind::ConnectionReset.into())))
    }

    /// Opens one more HTTP/2 connection to `server`, unless it may have no more: then it waits until another thread's is there.
    async fn open_shared(&self, server: &Arc<Server>, shared: &Shared) -> Result<(), SendError> {
        if !server.shared_opens() {
            return self.wait_for(|| server.crowd_in().map(drop)).await;
        }
        match self.open(server).await {
            Ok(Opened::Shared(connection)) => {
                server.declines_http2(false);
                shared.add(connection);
                self.pool.queue().freed();
                Ok(())
            }
            Ok(Opened::Own(sender)) => {
                server.declines_http2(true);
                server.keep(Own::new(sender, self.worker), self.now());
                server.shared_closed();
                Ok(())
            }
            Err(error) => {
                server.shared_closed();
                Err(error)
            }
        }
    }

    async fn open(&self, server: &Arc<Server>) -> Result<Opened, SendError> {
        let error = match connect(server, self.pool, self.clock).await {
            Ok(opened) => {
                if server.standing().connected() {
                    tracing::info!(server = %server.endpoint(), "an upstream server takes connections again");
                    self.pool.tell(self.now());
                }
                return Ok(opened);
            }
            Err(error) => error,
        };
        Err(match error {
            DialError::Exhausted(error) => {
                server.exhausted(&error);
                SendError::Exhausted(Arc::new(error))
            }
            DialError::Unproven(reason) => {
                server.unproven(&reason);
                server.standing().refused(self.now());
                self.pool.doubt(server);
                SendError::Unproven(reason.into())
            }
            DialError::Refused(error) => {
                self.refused(server, &error);
                SendError::Connect(Arc::new(error))
            }
        })
    }

    /// `server` took no connection: it rests. One that let us wait in vain is a failure besides, for that cost a request time.
    fn refused(&self, server: &Arc<Server>, error: &std::io::Error) {
        let now = self.now();
        server.metrics().failed(UpstreamError::Connect);
        if server.standing().refused(now) == 1 {
            tracing::warn!(server = %server.endpoint(), %error, "an upstream server takes no connection");
            self.pool.tell(now);
        }
        if error.kind() == std::io::ErrorKind::TimedOut {
            self.pool.failed(server, now);
        }
        self.pool.doubt(server);
    }
}
