//! One address of a pool: its connections (each thread has its own), what is on its way to it, and how it stands.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use tokio_rustls::rustls::pki_types::ServerName;
use tollgate_policy::settings::UpstreamAddress;

use super::dial::Endpoint;
use super::kept::Stack;
use super::lease::{Line, Own};
use super::multiplexed::Shared;
use super::queue::Queue;
use super::standing::Standing;
use crate::metrics::{ServerMetrics, UpstreamError};
use crate::spell::Spell;

/// One server at one address.
#[derive(Debug)]
pub(super) struct Server {
    endpoint: Endpoint,
    /// Its address as a log has it.
    text: Arc<str>,
    /// As the policy names it.
    named: UpstreamAddress,
    /// Who it must prove to be.
    proves: Option<ServerName<'static>>,
    workers: Vec<Connections>,
    bounds: Bounds,
    in_flight: AtomicUsize,
    queue: Arc<Queue>,
    standing: Standing,
    /// When it is to be checked next, in microseconds; `u64::MAX` while a check is on its way.
    next_check: AtomicU64,
    exhausted: Spell,
    unproven: Spell,
    metrics: ServerMetrics,
}

/// A thread's connections to a server.
#[derive(Debug, Default)]
struct Connections {
    kept: Stack,
    shared: Shared,
}

/// What a reload may change.
#[derive(Debug, Default)]
struct Bounds {
    weight: AtomicU32,
    most_idle: AtomicUsize,
    most_connections: AtomicUsize,
    idle_for: AtomicU64,
    /// HTTP/2 connections that are open, over all threads.
    shared: AtomicUsize,
    /// It chose HTTP/1.1 where it could have chosen HTTP/2.
    declined: AtomicBool,
}

impl Server {
    pub(super) fn new(
        endpoint: Endpoint,
        named: UpstreamAddress,
        proves: Option<ServerName<'static>>,
        (workers, queue): (usize, &Arc<Queue>),
        metrics: ServerMetrics,
    ) -> Server {
        Server {
            text: endpoint.to_string().into(),
            endpoint,
            named,
            proves,
            workers: (0..workers).map(|_| Connections::default()).collect(),
            bounds: Bounds::default(),
            in_flight: AtomicUsize::new(0),
            queue: Arc::clone(queue),
            standing: Standing::default(),
            next_check: AtomicU64::new(0),
            exhausted: Spell::default(),
            unproven: Spell::default(),
            metrics,
        }
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Its address as a log has it.
    pub(super) fn text(&self) -> &Arc<str> {
        &self.text
    }

    pub(super) fn named(&self) -> &UpstreamAddress {
        &self.named
    }

    pub(super) fn proves(&self) -> Option<&ServerName<'static>> {
        self.proves.as_ref()
    }

    pub(super) fn standing(&self) -> &Standing {
        &self.standing
    }

    pub(super) fn metrics(&self) -> &ServerMetrics {
        &self.metrics
    }

    pub(super) fn next_check(&self) -> &AtomicU64 {
        &self.next_check
    }

    /// Its part of the requests, relative to others'; at least 1.
    pub(super) fn weight(&self) -> u32 {
        self.bounds.weight.load(Ordering::Relaxed).max(1)
    }

    pub(super) fn weigh(&self, weight: u32) {
        self.bounds.weight.store(weight, Ordering::Relaxed);
    }

    /// At most so many idle connections over all threads, each for at most so many microseconds, and so many connections in all.
    pub(super) fn bound(&self, most_idle: usize, idle_for: u64, most_connections: usize) {
        self.bounds.most_idle.store(most_idle, Ordering::Relaxed);
        self.bounds.idle_for.store(idle_for, Ordering::Relaxed);
        self.bounds.most_connections.store(most_connections, Ordering::Relaxed);
    }

    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Counts a request on its way; `false` where each would need a connection of its own and no more are allowed. Ends with
    /// [`Server::leave`].
    pub(super) fn enter(&self, shares: bool) -> bool {
        let before = self.in_flight.fetch_add(1, Ordering::SeqCst);
        let shares = shares && !self.bounds.declined.load(Ordering::Relaxed);
        if shares || before < self.bounds.most_connections.load(Ordering::Relaxed) {
            return true;
        }
        self.in_flight.fetch_sub(1, Ordering::SeqCst);
        false
    }

    pub(super) fn leave(&self) {
        self.in_flight.fetch_sub(1, Ordering::SeqCst);
        self.queue.freed();
    }

    /// A kept connection of the thread `worker`.
    pub(super) fn take_kept(&self, worker: usize) -> Option<Line> {
        let own = self.workers.get(worker)?.kept.pop().map(Line::Own);
        let bounded = self.bounds.most_connections.load(Ordering::Relaxed) != usize::MAX;
        if own.is_none() && bounded { self.take_any() } else { own }
    }

    /// A kept connection of any thread: a new one might be one too many. It may have to be waited for until it is ready.
    fn take_any(&self) -> Option<Line> {
        self.workers.iter().find_map(|of| of.kept.pop_any()).map(Line::Own)
    }

    /// Keeps a connection for the thread that drives it.
    pub(super) fn keep(&self, own: Own, now: u64) {
        let Some(of) = self.workers.get(own.worker) else { return };
        let most = self.bounds.most_idle.load(Ordering::Relaxed).div_ceil(self.workers.len());
        of.kept.push(own, now, most);
    }

    /// The HTTP/2 connections of the thread `worker`.
    pub(super) fn shared(&self, worker: usize) -> Option<&Shared> {
        self.workers.get(worker).map(|of| &of.shared)
    }

    /// A stream on any thread's connection, full or not.
    pub(super) fn crowd_in(&self) -> Option<Line> {
        self.workers.iter().find_map(|of| of.shared.crowd_in()).map(Line::Stream)
    }

    /// Counts one more HTTP/2 connection, unless that is too many. Ends with [`Server::shared_closed`].
    pub(super) fn shared_opens(&self) -> bool {
        let before = self.bounds.shared.fetch_add(1, Ordering::SeqCst);
        if before < self.bounds.most_connections.load(Ordering::Relaxed) {
            return true;
        }
        self.bounds.shared.fetch_sub(1, Ordering::SeqCst);
        false
    }

    /// One more is there, though it may be one too many.
    pub(super) fn shared_opened(&self) {
        self.bounds.shared.fetch_add(1, Ordering::SeqCst);
    }

    /// A stream on another thread's connection where the thread `worker` has none and may open none.
    pub(super) fn crowd_in_at_bound(&self, worker: usize) -> Option<Line> {
        let most = self.bounds.most_connections.load(Ordering::Relaxed);
        let at_bound = self.bounds.shared.load(Ordering::SeqCst) >= most;
        let own = self.shared(worker)?.crowd_in().map(Line::Stream);
        if at_bound { own.or_else(|| self.crowd_in()) } else { None }
    }

    pub(super) fn shared_closed(&self) {
        self.bounds.shared.fetch_sub(1, Ordering::SeqCst);
        self.queue.freed();
    }

    /// It chose HTTP/1.1, or HTTP/2 after all.
    pub(super) fn declines_http2(&self, declines: bool) {
        if self.bounds.declined.load(Ordering::Relaxed) != declines {
            self.bounds.declined.store(declines, Ordering::Relaxed);
        }
    }

    pub(super) fn has_declined_http2(&self) -> bool {
        self.bounds.declined.load(Ordering::Relaxed)
    }

    /// This machine had nothing left to make a connection with, which is no fault of the server's.
    pub(super) fn exhausted(&self, error: &std::io::Error) {
        self.metrics.failed(UpstreamError::Exhausted);
        if self.exhausted.note() {
            tracing::warn!(server = %self.endpoint, %error, "the gateway has nothing left to make a connection with");
        }
    }

    /// It did not prove who it is.
    pub(super) fn unproven(&self, error: &str) {
        self.metrics.failed(UpstreamError::Tls);
        if self.unproven.note() {
            tracing::warn!(server = %self.endpoint, error, "an upstream server does not prove who it is: no request is sent to it");
        }
    }

    /// Looks through the connections of the thread `worker` at `now`.
    pub(super) fn sweep(&self, worker: usize, now: u64) {
        if worker == 0 {
            self.sum_up();
        }
        let since = now.saturating_sub(self.bounds.idle_for.load(Ordering::Relaxed));
        if let Some(of) = self.workers.get(worker) {
            of.kept.sweep(since);
            of.shared.sweep(since);
        }
    }

    fn sum_up(&self) {
        if let Some(times) = self.exhausted.over() {
            tracing::warn!(server = %self.endpoint, times, "connections can be made again; so many could not");
        }
        if let Some(times) = self.unproven.over() {
            tracing::info!(server = %self.endpoint, times, "no more connections to it fail to be encrypted; so many did");
        }
    }
}
