//! The primary, as sentinels know it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use redis::{Cmd, Value};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::Shared;
use super::backoff::Backoff;
use super::deadline::Deadline;
use super::dial::{CONNECT_TIME, Login, Stream, exchange};
use super::node::Node;
use crate::Trouble;
use crate::redis::{Credentials, Endpoint};

/// How often sentinels are asked while all is well.
const CALM: Duration = Duration::from_secs(1);

/// How often while the primary cannot be reached.
const WORRIED: Duration = Duration::from_millis(150);

/// The server that sentinels call the primary, followed through fail-overs.
#[derive(Debug)]
pub(super) struct Primary {
    state: Arc<State>,
    shared: Arc<Shared>,
    follower: AbortHandle,
}

#[derive(Debug)]
struct State {
    node: ArcSwapOption<Node>,
    /// Counts the primaries so far.
    changes: watch::Sender<u64>,
}

impl Primary {
    pub(super) fn follow(
        sentinels: &[Endpoint],
        name: &str,
        credentials: &Credentials,
        shared: &Arc<Shared>,
    ) -> Primary {
        let state =
            Arc::new(State { node: ArcSwapOption::empty(), changes: watch::Sender::new(0) });
        let mut question = redis::cmd("SENTINEL");
        question.arg("get-master-addr-by-name").arg(name);
        let follower = Follower {
            state: Arc::clone(&state),
            shared: Arc::clone(shared),
            sentinels: sentinels.to_vec(),
            login: Login { credentials: credentials.clone(), database: 0, primary: false },
            question,
            asked: 0,
            open: None,
        };
        let follower = shared.runtime.spawn(follower.run()).abort_handle();
        Primary { state, shared: Arc::clone(shared), follower }
    }

    pub(super) fn node(&self) -> Option<Arc<Node>> {
        self.state.node.load_full()
    }

    /// Says that the primary may be another one by now.
    pub(super) fn doubt(&self) {
        self.shared.lost.notify_one();
    }

    pub(super) async fn ready(&self, shared: &Shared, deadline: Deadline) -> Result<(), Trouble> {
        let mut changes = self.state.changes.subscribe();
        loop {
            changes.borrow_and_update();
            let Some(node) = self.node() else {
                tokio::select! {
                    _ = changes.changed() => continue,
                    () = shared.sleep(deadline.remaining()) => return Err(Trouble::Disconnected),
                }
            };
            // A node that is replaced meanwhile never comes up.
            tokio::select! {
                ready = node.ready(shared, deadline) => return ready,
                _ = changes.changed() => {}
            }
        }
    }
}

impl Drop for Primary {
    fn drop(&mut self) {
        self.follower.abort();
    }
}

/// The task that asks.
struct Follower {
    state: Arc<State>,
    shared: Arc<Shared>,
    sentinels: Vec<Endpoint>,
    login: Login,
    question: Cmd,
    /// Which sentinel is asked.
    asked: usize,
    open: Option<Box<dyn Stream>>,
}

impl Follower {
    async fn run(mut self) {
        let mut backoff = Backoff::by_chance();
        let mut told = false;
        loop {
            self.shared.counts.lookups.add();
            match self.ask().await {
                Ok(endpoint) => {
                    backoff.reset();
                    told = false;
                    self.turn_to(endpoint);
                    self.pause().await;
                }
                Err(error) => {
                    let sentinel = self.sentinels.get(self.asked).map(ToString::to_string);
                    if !std::mem::replace(&mut told, true) {
                        tracing::warn!(sentinel, %error, "a sentinel does not name the primary");
                    }
                    self.next_sentinel();
                    tokio::time::sleep(backoff.next()).await;
                }
            }
        }
    }

    /// Asks one sentinel, on the connection of the last time where it is still open.
    async fn ask(&mut self) -> io::Result<Endpoint> {
        let asked = async {
            let mut stream = match self.open.take() {
                Some(stream) => stream,
                None => {
                    let sentinel = self.sentinels.get(self.asked).ok_or(io::ErrorKind::NotFound)?;
                    let dialled = self.shared.dialer.dial(sentinel, &self.login).await;
                    dialled.map_err(|error| io::Error::other(error.to_string()))?
                }
            };
            let reply = exchange(&mut stream, [&self.question].into_iter()).await?.pop();
            let endpoint = address(reply)?;
            self.open = Some(stream);
            Ok(endpoint)
        };
        tokio::time::timeout(CONNECT_TIME, asked).await.map_err(|_| io::ErrorKind::TimedOut)?
    }

    fn turn_to(&self, endpoint: Endpoint) {
        let node = self.state.node.load_full();
        if node.is_none_or(|node| *node.endpoint() != endpoint) {
            tracing::info!(store = %endpoint, "sentinels name a primary of the shared store");
            self.state.node.store(Some(Node::start(endpoint, &self.shared)));
            self.state.changes.send_modify(|changes| *changes += 1);
        }
    }

    /// Until it is time to ask again.
    async fn pause(&mut self) {
        let mut spread = Backoff::by_chance();
        // Never at once, however often somebody doubts.
        tokio::time::sleep(WORRIED + spread.next()).await;
        let up = self.state.node.load().as_ref().is_some_and(|node| node.is_up());
        if !up {
            // Another sentinel may know more.
            self.next_sentinel();
            return;
        }
        tokio::select! {
            () = self.shared.lost.notified() => {}
            () = tokio::time::sleep(CALM) => {}
        }
    }

    fn next_sentinel(&mut self) {
        self.open = None;
        self.asked = (self.asked + 1) % self.sentinels.len().max(1);
    }
}

/// Two strings, a host and a port.
fn address(reply: Option<Value>) -> io::Result<Endpoint> {
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    match reply {
        Some(Value::Array(words)) => {
            let (host, port): (String, u16) = redis::from_redis_value(Value::Array(words))
                .map_err(|error| wrong(&error.to_string()))?;
            Ok(Endpoint::Tcp { host: host.into(), port })
        }
        Some(Value::ServerError(error)) => {
            Err(wrong(&format!("{} {}", error.code(), error.details().unwrap_or_default())))
        }
        _ => Err(wrong("it knows no primary of that name")),
    }
}
