//! Who keeps a connection to a server: opens it, lets it carry calls, and opens another when it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::Shared;
use super::backoff::Backoff;
use super::dial::{DialError, Stream};
use super::link::{End, Live, carry};
use crate::redis::Endpoint;
use crate::{Stopwatch, Trouble};

/// A connection that lasted so long was good: the next attempt to connect comes soon.
const STEADY: Duration = Duration::from_secs(3);

/// What is known of a server, and the connections to it.
#[derive(Debug)]
pub(super) struct State {
    pub(super) endpoint: Endpoint,
    links: Box<[ArcSwapOption<Live>]>,
    turn: AtomicUsize,
    pub(super) standing: watch::Sender<Standing>,
    /// Why there was no connection at the last attempt.
    failure: Mutex<Option<Trouble>>,
    /// Whether the log has been told that it cannot be reached.
    told: AtomicBool,
}

/// How the connections stand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Standing {
    /// Those that are up.
    pub(super) up: usize,
    /// Those that are just replaced, since the server's name may lead to another server by now.
    pub(super) turning: usize,
}

impl State {
    pub(super) fn new(endpoint: Endpoint, connections: usize) -> State {
        State {
            endpoint,
            links: (0..connections).map(|_| ArcSwapOption::empty()).collect(),
            turn: AtomicUsize::new(0),
            standing: watch::Sender::new(Standing::default()),
            failure: Mutex::new(None),
            told: AtomicBool::new(false),
        }
    }

    /// The next connection in turn; one that answers before one that does not.
    pub(super) fn pick(&self) -> Option<Arc<Live>> {
        let links = &self.links;
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
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

    pub(super) fn failure(&self) -> Trouble {
        self.failure.lock().unwrap_or(Trouble::Disconnected)
    }

    /// Ends what `Standing::turning` counts.
    fn turned(&self, was_turning: bool) {
        if was_turning {
            self.standing.send_modify(|standing| standing.turning -= 1);
        }
    }

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
                tracing::debug!(store = %self.endpoint, %error, "a connection broke");
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
        state.standing.send_modify(|standing| standing.up += 1);
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
        self.state.standing.send_modify(|standing| standing.up -= 1);
        self.shared.counts.connections.subtract();
        self.shared.counts.disconnected.add();
    }
}

/// Keeps one connection.
pub(super) struct Keeper {
    state: Arc<State>,
    place: usize,
    shared: Arc<Shared>,
    backoff: Backoff,
    /// Whether it may connect again at once.
    rested: bool,
}

impl Keeper {
    pub(super) fn new(state: Arc<State>, place: usize, shared: Arc<Shared>) -> Keeper {
        Keeper { state, place, shared, backoff: Backoff::by_chance(), rested: true }
    }

    pub(super) async fn run(mut self) {
        let login = self.shared.dialer.login(true);
        let mut turning = false;
        loop {
            let dialled = self.shared.dialer.dial(&self.state.endpoint, &login).await;
            let was_turning = std::mem::take(&mut turning);
            match dialled {
                Ok(stream) => turning = self.serve(stream, was_turning).await,
                Err(error) => {
                    self.shared.counts.connect_failures.add();
                    self.state.missed(&error);
                    self.state.turned(was_turning);
                }
            }
            self.shared.lost.notify_one();
            if !turning {
                tokio::time::sleep(self.backoff.next()).await;
            }
        }
    }

    /// Lets the connection carry calls until it ends, and says whether another is to be opened at once.
    async fn serve(&mut self, stream: Box<dyn Stream>, was_turning: bool) -> bool {
        let (live, requests) = Live::new();
        let live = Arc::new(live);
        let lasted = Stopwatch::start();
        self.state.reached();
        let up = Up::publish(Arc::clone(&live), &self.state, self.place, &self.shared);
        self.state.turned(was_turning);
        let end = carry(stream, &live, requests, &self.shared.counts).await;
        self.state.ended(&end, &self.shared);
        if Duration::from_nanos(lasted.nanos()) >= STEADY {
            self.backoff.reset();
            self.rested = true;
        }
        // Its name may lead to another server by now; not every time that it does not, and never in a storm.
        let turning = matches!(end, End::Condemned) && std::mem::take(&mut self.rested);
        if turning {
            self.state.standing.send_modify(|standing| standing.turning += 1);
        }
        drop(up);
        turning
    }
}
