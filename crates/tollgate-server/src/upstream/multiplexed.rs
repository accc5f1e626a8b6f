//! HTTP/2 connections, each shared by as many requests as its peer allows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use hyper::client::conn::http2::SendRequest;
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use super::SendError;
use crate::body::Upload;

/// Until a peer says how many streams it takes, one is opened; those behind it wait for its word, a round trip away.
pub(super) const BEFORE_SETTINGS: usize = 1;

/// Connections that a thread opens to one server, where the streams of one are not enough.
const MOST: usize = 8;

/// One connection.
#[derive(Debug)]
pub(super) struct Multiplexed {
    sender: SendRequest<Upload>,
    streams: AtomicUsize,
    most: AtomicUsize,
    /// The peer answered, so that it said how many streams it takes.
    heard: AtomicBool,
    /// It takes no new streams.
    spent: AtomicBool,
    used: AtomicU64,
}

impl Multiplexed {
    pub(super) fn new(sender: SendRequest<Upload>, now: u64) -> Multiplexed {
        Multiplexed {
            sender,
            streams: AtomicUsize::new(0),
            most: AtomicUsize::new(usize::MAX),
            heard: AtomicBool::new(false),
            spent: AtomicBool::new(false),
            used: AtomicU64::new(now),
        }
    }

    /// So many streams are allowed, as far as the connection knows.
    pub(super) fn allows(&self, streams: usize) {
        if streams != BEFORE_SETTINGS || self.heard.load(Ordering::Relaxed) {
            self.most.store(streams, Ordering::Relaxed);
        }
    }

    /// The peer answered.
    pub(super) fn heard(&self) {
        self.heard.store(true, Ordering::Relaxed);
    }

    /// Its peer wants no new streams on it.
    pub(super) fn spend(&self) {
        self.spent.store(true, Ordering::Relaxed);
    }

    /// A stream on it.
    pub(super) fn stream(self: &Arc<Multiplexed>) -> StreamHold {
        StreamHold::on(self)
    }

    fn is_usable(&self) -> bool {
        !self.spent.load(Ordering::Relaxed) && !self.sender.is_closed()
    }

    fn has_room(&self) -> bool {
        self.streams.load(Ordering::Relaxed) < self.most.load(Ordering::Relaxed)
    }
}

/// A request's stream on a connection.
#[derive(Debug)]
pub(super) struct StreamHold(Arc<Multiplexed>);

impl StreamHold {
    fn on(connection: &Arc<Multiplexed>) -> StreamHold {
        connection.streams.fetch_add(1, Ordering::Relaxed);
        StreamHold(Arc::clone(connection))
    }

    pub(super) fn connection(&self) -> &Multiplexed {
        &self.0
    }

    pub(super) fn sender(&self) -> SendRequest<Upload> {
        self.0.sender.clone()
    }

    /// The stream ended at `now`.
    pub(super) fn used(&self, now: u64) {
        self.0.used.store(now, Ordering::Relaxed);
    }
}

impl Drop for StreamHold {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Where one connection is being opened: all that come meanwhile wait for it.
pub(super) type Opening = Arc<OnceCell<Result<(), SendError>>>;

/// The connections of one thread to one server.
#[derive(Debug, Default)]
pub(super) struct Shared(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    open: Vec<Arc<Multiplexed>>,
    opening: Option<Opening>,
}

/// What a request finds.
pub(super) enum Found {
    /// A stream.
    Stream(StreamHold),
    /// None with room: one is being opened, or to be opened by whoever asks first.
    Opening(Opening),
}

impl Shared {
    /// A stream on the least busy connection, unless all are full and another may be opened.
    pub(super) fn find(&self) -> Found {
        let mut state = self.0.lock();
        state.open.retain(|connection| connection.is_usable());
        let streams = |connection: &&Arc<Multiplexed>| connection.streams.load(Ordering::Relaxed);
        let least = state.open.iter().min_by_key(streams);
        if let Some(least) = least
            && (least.has_room() || state.open.len() >= MOST)
        {
            // Beyond what the peer allows, the connection makes it wait.
            return Found::Stream(StreamHold::on(least));
        }
        Found::Opening(Arc::clone(state.opening.get_or_insert_default()))
    }

    /// A stream on the least busy connection, full or not.
    pub(super) fn crowd_in(&self) -> Option<StreamHold> {
        let state = self.0.lock();
        let usable = state.open.iter().filter(|connection| connection.is_usable());
        let least = usable.min_by_key(|connection| connection.streams.load(Ordering::Relaxed));
        least.map(StreamHold::on)
    }

    /// A new connection is there.
    pub(super) fn add(&self, connection: Arc<Multiplexed>) {
        self.0.lock().open.push(connection);
    }

    /// `opening` is over, well or not.
    pub(super) fn opened(&self, opening: &Opening) {
        let mut state = self.0.lock();
        if state.opening.as_ref().is_some_and(|current| Arc::ptr_eq(current, opening)) {
            state.opening = None;
        }
    }

    /// Drops those that are of no use, or were not used since `since`; they close once their streams have ended.
    pub(super) fn sweep(&self, since: u64) {
        self.0.lock().open.retain(|connection| {
            let busy = connection.streams.load(Ordering::Relaxed) > 0;
            connection.is_usable() && (busy || connection.used.load(Ordering::Relaxed) >= since)
        });
    }
}
