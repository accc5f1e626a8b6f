//! A request's hold on a server, from the choice of the server to the end of the answer.

use std::sync::Arc;

use hyper::client::conn::http1::SendRequest;
use tollgate_store::{Clock, SystemClock};

use super::multiplexed::StreamHold;
use super::server::Server;
use crate::alarm::Alarm;
use crate::body::Upload;
use crate::metrics::UpstreamError;

/// What a request goes over.
#[derive(Debug)]
pub(super) enum Line {
    /// A connection of its own.
    Own(Own),
    /// A stream of a connection that others use, too.
    Stream(StreamHold),
}

/// A connection for one request at a time.
#[derive(Debug)]
pub(super) struct Own {
    pub(super) sender: SendRequest<Upload>,
    /// The thread that drives it.
    pub(super) worker: usize,
    /// Times the answers to its requests, and the thread whose timers it uses.
    alarm: (Alarm, usize),
}

impl Own {
    pub(super) fn new(sender: SendRequest<Upload>, worker: usize) -> Own {
        Own { sender, worker, alarm: (Alarm::default(), worker) }
    }

    /// What times an answer on the thread `worker`.
    pub(super) fn alarm_of(&mut self, worker: usize) -> &mut Alarm {
        if self.alarm.1 != worker {
            self.alarm = (Alarm::default(), worker);
        }
        &mut self.alarm.0
    }
}

/// A request's hold on a server, and on its connection once there is one.
pub(crate) struct Lease {
    server: Arc<Server>,
    line: Option<Line>,
    clock: Option<Arc<SystemClock>>,
}

impl Lease {
    /// A place on the way to `server`, which [`Server::enter`] counted.
    pub(super) fn new(server: Arc<Server>) -> Lease {
        Lease { server, line: None, clock: None }
    }

    pub(super) fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// The request went over `line`.
    pub(super) fn over(mut self, line: Line, clock: &Arc<SystemClock>) -> Lease {
        self.line = Some(line);
        self.clock = Some(Arc::clone(clock));
        self
    }

    /// The server broke off an answer that had begun.
    pub(crate) fn failed(&self, error: UpstreamError) {
        self.server.metrics().failed(error);
    }

    /// The answer is whole: the connection may serve another.
    pub(crate) fn give_back(mut self) {
        let (Some(line), Some(clock)) = (self.line.take(), self.clock.take()) else { return };
        let now = clock.now().as_micros();
        match line {
            Line::Own(own) if !own.sender.is_closed() => self.server.keep(own, now),
            Line::Own(_) => {}
            Line::Stream(stream) => stream.used(now),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // A connection that is not given back is closed before its place is free.
        self.line = None;
        self.server.leave();
    }
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lease").field("server", self.server.endpoint()).finish_non_exhaustive()
    }
}
