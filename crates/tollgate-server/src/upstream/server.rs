//! One server of a pool: its kept connections (a stack for each worker thread), what is on its way to it, and whether it
//! took its last connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use hyper::client::conn::http1::SendRequest;
use parking_lot::Mutex;
use tollgate_store::{Clock, SystemClock};

use crate::body::Upload;
use crate::metrics::{ServerMetrics, UpstreamError};
use crate::spell::Spell;

/// A kept connection is dropped after this many microseconds without use: below the minute after which common servers
/// close theirs, so that a request seldom meets one that is being closed.
const KEPT_FOR: u64 = 50_000_000;

/// The first rest after a failed connect, in microseconds; each further failure doubles it.
const FIRST_REST: u64 = 100_000;

/// The longest rest, in microseconds.
const LONGEST_REST: u64 = 10_000_000;

/// One server.
#[derive(Debug)]
pub(crate) struct Server {
    address: String,
    /// One stack a worker: a connection is driven by the thread that opened it.
    idle: Vec<Mutex<Vec<Kept>>>,
    most_idle: AtomicUsize,
    in_flight: AtomicUsize,
    failures: AtomicU32,
    rests_until: AtomicU64,
    exhausted: Spell,
    metrics: ServerMetrics,
}

#[derive(Debug)]
struct Kept {
    sender: SendRequest<Upload>,
    since: u64,
}

impl Server {
    pub(super) fn new(address: &str, workers: usize, metrics: ServerMetrics) -> Server {
        Server {
            address: address.to_owned(),
            idle: (0..workers).map(|_| Mutex::default()).collect(),
            most_idle: AtomicUsize::new(0),
            in_flight: AtomicUsize::new(0),
            failures: AtomicU32::new(0),
            rests_until: AtomicU64::new(0),
            exhausted: Spell::default(),
            metrics,
        }
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Keeps at most `most` idle connections, over all workers.
    pub(super) fn keep(&self, most: usize) {
        self.most_idle.store(most, Ordering::Relaxed);
    }

    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    pub(super) fn metrics(&self) -> &ServerMetrics {
        &self.metrics
    }

    pub(super) fn rested(&self, now: u64) -> bool {
        self.rests_until.load(Ordering::Relaxed) <= now
    }

    /// It took a connection.
    pub(super) fn succeeded(&self) {
        if self.failures.swap(0, Ordering::Relaxed) > 0 {
            tracing::info!(server = self.address, "an upstream server takes connections again");
            self.metrics.healthy(true);
        }
        self.rests_until.store(0, Ordering::Relaxed);
    }

    /// It took no connection at `now`; answers how often in a row.
    pub(super) fn failed(&self, now: u64) -> u32 {
        let failures = self.failures.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let rest = FIRST_REST.saturating_mul(1 << (failures - 1).min(16)).min(LONGEST_REST);
        self.rests_until.store(now.saturating_add(rest), Ordering::Relaxed);
        self.metrics.healthy(false);
        failures
    }

    /// This machine had nothing left to make a connection with, which is no fault of the server's.
    pub(super) fn exhausted(&self, error: &std::io::Error) {
        self.metrics.failed(UpstreamError::Exhausted);
        if self.exhausted.note() {
            tracing::warn!(server = self.address, %error, "the gateway has nothing left to make a connection with");
        }
    }

    /// A place on the way to `server`, without a connection yet.
    pub(super) fn lend(server: &Arc<Server>, worker: usize) -> Lease {
        server.in_flight.fetch_add(1, Ordering::Relaxed);
        Lease { server: Arc::clone(server), worker, sender: None, clock: None }
    }

    /// The connection that was used last, of those that are ready.
    pub(super) fn take_idle(&self, worker: usize) -> Option<SendRequest<Upload>> {
        let mut idle = self.idle.get(worker)?.lock();
        for place in (0..idle.len()).rev() {
            if idle[place].sender.is_closed() {
                idle.remove(place);
            } else if idle[place].sender.is_ready() {
                return Some(idle.remove(place).sender);
            }
            // Else it may still be taking in the rest of an upload whose answer came early.
        }
        None
    }

    fn put_idle(&self, worker: usize, sender: SendRequest<Upload>, now: u64) {
        let Some(idle) = self.idle.get(worker) else { return };
        let most = self.most_idle.load(Ordering::Relaxed).div_ceil(self.idle.len());
        let mut idle = idle.lock();
        if idle.len() < most {
            idle.push(Kept { sender, since: now });
        }
    }

    pub(super) fn sweep(&self, worker: usize, clock: &SystemClock) {
        if worker == 0
            && let Some(times) = self.exhausted.over()
        {
            tracing::warn!(
                server = self.address,
                times,
                "connections can be made again; so many could not"
            );
        }
        let now = clock.now().as_micros();
        if let Some(idle) = self.idle.get(worker) {
            idle.lock().retain(|kept| {
                !kept.sender.is_closed() && now.saturating_sub(kept.since) < KEPT_FOR
            });
        }
    }
}

/// A request's hold on a server, and on its connection once there is one.
pub(crate) struct Lease {
    server: Arc<Server>,
    worker: usize,
    sender: Option<SendRequest<Upload>>,
    clock: Option<Arc<SystemClock>>,
}

impl Lease {
    /// The request went over `sender`.
    pub(super) fn over(mut self, sender: SendRequest<Upload>, clock: &Arc<SystemClock>) -> Lease {
        self.sender = Some(sender);
        self.clock = Some(Arc::clone(clock));
        self
    }

    /// The server broke off an answer that had begun.
    pub(crate) fn failed(&self, error: UpstreamError) {
        self.server.metrics.failed(error);
    }

    /// The answer is whole: the connection may serve another.
    pub(crate) fn give_back(mut self) {
        if let (Some(sender), Some(clock)) = (self.sender.take(), self.clock.take())
            && !sender.is_closed()
        {
            self.server.put_idle(self.worker, sender, clock.now().as_micros());
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.server.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lease").field("server", &self.server.address).finish_non_exhaustive()
    }
}
