//! One server and the connections to it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use parking_lot::Mutex;
use redis::Value;
use tokio::sync::{oneshot, watch};
use tokio::task::AbortHandle;

use super::Shared;
use super::backoff::Backoff;
use super::deadline::Deadline;
use super::dial::{DialError, Login, dial};
use super::link::{End, Live, Request, carry};
use crate::redis::Endpoint;
use crate::{Stopwatch, Trouble};

/// A connection that lasted so long was good: the next attempt to connect comes soon.
const STEADY: Duration = Duration::from_secs(3);

/// One server. Its connections are kept in the background until the last handle is dropped.
#[derive(Debug)]
pub(super) struct Node {
    state: Arc<State>,
    keepers: Box<[AbortHandle]>,
}

#[derive(Debug)]
struct State {
    endpoint: Endpoint,
    links: Box<[ArcSwapOption<Live>]>,
    turn: AtomicUsize,
    /// Connections that are up.
    up: watch::Sender<usize>,
    /// Why there was no connection at the last attempt.
    failure: Mutex<Option<Trouble>>,
    /// Whether the log has been told that it cannot be reached.
    told: AtomicBool,
}

/// A call as the wire has it.
#[derive(Debug)]
pub(super) struct Packed {
    pub(super) bytes: Vec<u8>,
    /// Replies that come before its own.
    pub(super) preamble: usize,
}

impl Node {
    /// Begins to connect to `endpoint`.
    pub(super) fn start(endpoint: Endpoint, login: &Login, shared: &Arc<Shared>) -> Arc<Node> {
        let state = Arc::new(State {
            endpoint,
            links: (0..shared.connections).map(|_| ArcSwapOption::empty()).collect(),
            turn: AtomicUsize::new(0),
            up: watch::Sender::new(0),
            failure: Mutex::new(None),
            told: AtomicBool::new(false),
        });
        let keepers = (0..shared.connections)
            .map(|place| {
                let keeper = keep(Arc::clone(&state), place, login.clone(), Arc::clone(shared));
                shared.runtime.spawn(keeper).abort_handle()
            })
            .collect();
        Arc::new(Node { state, keepers })
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.state.endpoint
    }

    /// Whether a call can be sent now.
    pub(super) fn is_up(&self) -> bool {
        *self.state.up.borrow() > 0
    }

    /// Waits for the first connection.
    pub(super) async fn ready(&self, shared: &Shared, deadline: Deadline) -> Result<(), Trouble> {
        let mut up = self.state.up.subscribe();
        tokio::select! {
            biased;
            _ = up.wait_for(|up| *up > 0) => Ok(()),
            () = shared.sleep(deadline.remaining()) => Err(self.failure()),
        }
    }

    /// Sends a call once and waits for its answer until `deadline`; an error of the server is an answer.
    pub(super) async fn send(
        &self,
        packed: Packed,
        deadline: Deadline,
        shared: &Shared,
    ) -> Result<Value, Trouble> {
        let live = self.pick().ok_or_else(|| self.failure())?;
        let place = shared.places.take().ok_or(Trouble::Crowded)?;
        let remaining = deadline.remaining();
        if remaining.is_zero() {
            return Err(Trouble::TimedOut);
        }
        let (answer, received) = oneshot::channel();
        let Packed { bytes, preamble } = packed;
        let request = Request { packed: bytes, preamble, answer, place: Some(place) };
        live.send(request).map_err(|_| Trouble::Disconnected)?;
        let value = tokio::select! {
            biased;
            value = received => value.map_err(|_| Trouble::Disconnected)?,
            () = shared.sleep(remaining) => {
                live.timed_out();
                return Err(Trouble::TimedOut);
            }
        };
        if matches!(&value, Value::ServerError(error) if error.code() == "READONLY") {
            live.condemn();
        }
        Ok(value)
    }

    /// Ends all connections, for others to be made: the server is the wrong one.
    pub(super) fn condemn(&self) {
        self.state.links.iter().filter_map(|link| link.load_full()).for_each(|live| live.condemn());
    }

    /// The next connection in turn; one that answers before one that does not.
    fn pick(&self) -> Option<Arc<Live>> {
        let links = &self.state.links;
        let turn = self.state.turn.fetch_add(1, Ordering::Relaxed);
        let mut suspect = None;
        for step in 0..links.len() {
            let live = links.get(turn.wrapping_add(step) % links.len())?.load_full();
            match live.filter(|live| !live.is_condemned()) {
                Some(live) if !live.is_suspect() => return Some(live),
                Some(live) => suspect = Some(live),
                None => {}
            }
        }
        suspect
    }

    fn failure(&self) -> Trouble {
        self.state.failure.lock().unwrap_or(Trouble::Disconnected)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.keepers.iter().for_each(AbortHandle::abort);
    }
}

/// A connection that is open, for as long as this lives.
struct Up<'a> {
    state: &'a State,
    place: usize,
    shared: &'a Shared,
}

impl<'a> Up<'a> {
    fn publish(live: Arc<Live>, state: &'a State, place: usize, shared: &'a Shared) -> Up<'a> {
        if let Some(link) = state.links.get(place) {
            link.store(Some(live));
        }
        state.up.send_modify(|up| *up += 1);
        shared.counts.connected.add();
        shared.counts.connections.add();
        Up { state, place, shared }
    }
}

impl Drop for Up<'_> {
    fn drop(&mut self) {
        if let Some(link) = self.state.links.get(self.place) {
            link.store(None);
        }
        self.state.up.send_modify(|up| *up -= 1);
        self.shared.counts.connections.subtract();
        self.shared.counts.disconnected.add();
    }
}

/// Keeps one connection: opens it, lets it carry calls, and opens another when it ends.
async fn keep(state: Arc<State>, place: usize, login: Login, shared: Arc<Shared>) {
    let mut backoff = Backoff::by_chance();
    loop {
        match dial(&state.endpoint, &login).await {
            Ok(stream) => {
                state.reached();
                let (live, requests) = Live::new();
                let live = Arc::new(live);
                let lasted = Stopwatch::start();
                let end = {
                    let _up = Up::publish(Arc::clone(&live), &state, place, &shared);
                    carry(stream, &live, requests, &shared.counts).await
                };
                state.ended(&end, &shared);
                if Duration::from_nanos(lasted.nanos()) >= STEADY {
                    backoff.reset();
                }
            }
            Err(error) => {
                shared.counts.connect_failures.add();
                state.missed(&error);
            }
        }
        shared.lost.notify_one();
        tokio::time::sleep(backoff.next()).await;
    }
}

impl State {
    fn reached(&self) {
        *self.failure.lock() = None;
        if self.told.swap(false, Ordering::Relaxed) {
            tracing::info!(store = %self.endpoint, "the shared store can be reached again");
        }
    }

    fn missed(&self, error: &DialError) {
        *self.failure.lock() = Some(error.trouble());
        if !self.told.swap(true, Ordering::Relaxed) {
            tracing::warn!(store = %self.endpoint, %error, "the shared store cannot be reached");
        }
    }

    fn ended(&self, end: &End, shared: &Shared) {
        let trouble = match end {
            End::Broken(error) => {
                let expected = error.kind() == io::ErrorKind::UnexpectedEof;
                tracing::debug!(store = %self.endpoint, %error, expected, "a connection broke");
                Trouble::Disconnected
            }
            End::Silent => {
                tracing::warn!(store = %self.endpoint, "a connection fell silent and is replaced");
                shared.counts.silent.add();
                Trouble::Disconnected
            }
            End::Condemned => {
                shared.counts.read_only.add();
                Trouble::ReadOnly
            }
        };
        *self.failure.lock() = Some(trouble);
    }
}
