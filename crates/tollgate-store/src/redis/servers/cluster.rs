//! A cluster: which node holds which slot, and how that is kept up to date.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::Shared;
use super::backoff::Backoff;
use super::deadline::Deadline;
use super::dial::{CONNECT_TIME, exchange};
use super::node::Node;
use super::slot::SLOTS;
use super::slot_map::{Range, read_ranges};
use crate::Trouble;
use crate::redis::Endpoint;

/// How often the map is looked up while all is well.
const CALM: Duration = Duration::from_secs(15);

/// How often while it is in doubt, and at most so often.
const WORRIED: Duration = Duration::from_millis(150);

/// The nodes of a cluster, each for its slots.
#[derive(Debug)]
pub(super) struct Cluster {
    state: Arc<State>,
    keeper: AbortHandle,
}

#[derive(Debug)]
struct State {
    shared: Arc<Shared>,
    seeds: Box<[Endpoint]>,
    slots: Box<[ArcSwapOption<Node>]>,
    nodes: Mutex<HashMap<Endpoint, Known>>,
    /// Counts the maps so far.
    maps: watch::Sender<u64>,
}

/// A node that somebody spoke of.
#[derive(Debug)]
struct Known {
    node: Arc<Node>,
    /// Whether a redirect led there since the last map, which may not show it yet.
    redirected: bool,
}

impl Cluster {
    pub(super) fn start(seeds: &[Endpoint], shared: &Arc<Shared>) -> Cluster {
        let state = Arc::new(State {
            shared: Arc::clone(shared),
            seeds: seeds.into(),
            slots: (0..SLOTS).map(|_| ArcSwapOption::empty()).collect(),
            nodes: Mutex::default(),
            maps: watch::Sender::new(0),
        });
        let keeper = shared.runtime.spawn(keep(Arc::clone(&state))).abort_handle();
        Cluster { state, keeper }
    }

    /// The node of a slot, as far as is known.
    pub(super) fn node(&self, slot: u16) -> Option<Arc<Node>> {
        self.state.slots.get(usize::from(slot))?.load_full()
    }

    /// The node at `endpoint`, where a redirect leads.
    pub(super) fn node_at(&self, endpoint: Endpoint) -> Arc<Node> {
        self.state.node_at(endpoint, true)
    }

    /// Learns that `slot` is at `endpoint`; other slots may have moved too.
    pub(super) fn moved(&self, slot: u16, endpoint: Endpoint) -> Arc<Node> {
        let node = self.node_at(endpoint);
        if let Some(place) = self.state.slots.get(usize::from(slot)) {
            place.store(Some(Arc::clone(&node)));
        }
        self.doubt();
        node
    }

    /// Says that the map may be wrong by now.
    pub(super) fn doubt(&self) {
        self.state.shared.lost.notify_one();
    }

    /// Waits until every slot has a node that is up.
    pub(super) async fn ready(&self, shared: &Shared, deadline: Deadline) -> Result<(), Trouble> {
        let mut maps = self.state.maps.subscribe();
        loop {
            maps.borrow_and_update();
            let slots = self.state.slots.iter();
            let missing = slots.map(|slot| slot.load_full()).find(|node| match node {
                Some(node) => !node.is_up(),
                None => true,
            });
            let waited = async {
                match missing {
                    None => Ok(true),
                    Some(Some(node)) => tokio::select! {
                        ready = node.ready(shared, deadline) => ready.map(|()| false),
                        _ = maps.changed() => Ok(false),
                    },
                    Some(None) => tokio::select! {
                        _ = maps.changed() => Ok(false),
                        () = shared.sleep(deadline.remaining()) => Err(Trouble::ClusterDown),
                    },
                }
            };
            if waited.await? {
                return Ok(());
            }
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

impl State {
    fn node_at(&self, endpoint: Endpoint, redirected: bool) -> Arc<Node> {
        let mut nodes = self.nodes.lock();
        let known = nodes.entry(endpoint).or_insert_with_key(|endpoint| Known {
            node: Node::start(endpoint.clone(), &self.shared),
            redirected,
        });
        known.redirected |= redirected;
        Arc::clone(&known.node)
    }

    /// Puts a map in force, and forgets nodes that it does not show.
    fn apply(&self, ranges: &[Range]) {
        let mut owners: Vec<Option<Arc<Node>>> = vec![None; self.slots.len()];
        for range in ranges {
            let node = self.node_at(range.primary.clone(), false);
            let first = usize::from(range.first);
            if let Some(part) = owners.get_mut(first..=usize::from(range.last)) {
                part.fill(Some(node));
            }
        }
        for (slot, owner) in self.slots.iter().zip(owners) {
            let is_new = match (&*slot.load(), &owner) {
                (Some(old), Some(new)) => !Arc::ptr_eq(old, new),
                (old, new) => old.is_some() || new.is_some(),
            };
            if is_new {
                slot.store(owner);
            }
        }
        let shown = |endpoint: &Endpoint| ranges.iter().any(|range| range.primary == *endpoint);
        self.nodes
            .lock()
            .retain(|endpoint, known| shown(endpoint) || std::mem::take(&mut known.redirected));
        self.maps.send_modify(|maps| *maps += 1);
    }

    /// Whether every slot has a node, and every node a connection.
    fn is_well(&self) -> bool {
        self.slots.iter().all(|slot| slot.load().is_some())
            && self.nodes.lock().values().all(|known| known.node.is_up())
    }

    /// Asks one of the nodes, or one of the seeds where none answers.
    async fn look_up(&self, turn: usize) -> io::Result<Vec<Range>> {
        let mut question = redis::cmd("CLUSTER");
        question.arg("SLOTS");
        let mut nodes: Vec<Arc<Node>> =
            self.nodes.lock().values().map(|known| Arc::clone(&known.node)).collect();
        nodes.retain(|node| node.is_up());
        nodes.sort_by(|a, b| a.endpoint().cmp(b.endpoint()));
        if let Some(node) = nodes.get(turn % nodes.len().max(1)) {
            let deadline = Deadline::within(CONNECT_TIME);
            if let Ok(reply) = node.ask(&question, deadline, &self.shared).await {
                return read_ranges(reply, node.endpoint());
            }
        }
        let seed = self.seeds.get(turn % self.seeds.len().max(1)).ok_or(io::ErrorKind::NotFound)?;
        // A replica knows the map as well as a primary.
        let login = self.shared.dialer.login(false);
        let dialled = self.shared.dialer.dial(seed, &login).await;
        let mut stream = dialled.map_err(|error| io::Error::other(error.to_string()))?;
        let asked = exchange(&mut stream, [&question].into_iter());
        let mut replies = tokio::time::timeout(CONNECT_TIME, asked)
            .await
            .map_err(|_| io::ErrorKind::TimedOut)??;
        read_ranges(replies.pop().unwrap_or_default(), seed)
    }
}

/// Keeps the map up to date.
async fn keep(state: Arc<State>) {
    let mut backoff = Backoff::by_chance();
    let mut told = false;
    // Another node is asked each time: one that was cut off from the others does not know that its map is old.
    for turn in 0_usize.. {
        state.shared.counts.lookups.add();
        match state.look_up(turn).await {
            Ok(ranges) => {
                backoff.reset();
                told = false;
                state.apply(&ranges);
                // Never at once, however often somebody doubts.
                tokio::time::sleep(WORRIED + Backoff::by_chance().next()).await;
                if state.is_well() {
                    tokio::select! {
                        () = state.shared.lost.notified() => {}
                        () = tokio::time::sleep(CALM) => {}
                    }
                }
            }
            Err(error) => {
                if !std::mem::replace(&mut told, true) {
                    tracing::warn!(%error, "no node of the cluster says who holds which slot");
                }
                tokio::time::sleep(backoff.next()).await;
            }
        }
    }
}
