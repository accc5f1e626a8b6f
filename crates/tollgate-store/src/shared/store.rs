//! The store that a node opens.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use tollgate_core::{Standing, Timestamp};

use super::tend::tend;
use super::{Node, NodeObserved};
use crate::{
    Call, Charge, Clock, Definition, LimitId, RedisObserved, RedisOptions, RedisOptionsError,
    RedisStore, Store, StoreError, StoreOutcome, Taken, Trouble, Usage,
};

/// Counts that several nodes share, each limit as its [`Sharing`](crate::Sharing) says, on Redis or Valkey. A clone is the
/// same node.
///
/// What a node can know by itself is decided by itself: its own limits (`sync: node`), its share of a limit (`share`), its
/// estimate of the sum (`estimate`), and keys that the server said are exhausted. For the rest the server is asked, in one
/// call within the time budget of [`RedisOptions`]; while it is away, each limit's `on_store_failure` holds, and what was
/// admitted meanwhile is charged to it when it is back. A decision is never an error because the server is away.
///
/// A caller that drops a decision's future before its end takes nothing of what the node counts by itself; what the server
/// had charged by then stands, as after a time-out.
///
/// It can be used from any number of threads and runtimes: its own work goes on in a thread of its own.
#[derive(Clone)]
pub struct SharedStore(Arc<Node<RedisStore>>);

impl SharedStore {
    /// Begins to connect in the background and returns at once; see [`SharedStore::ready`]. `clock` is what callers' moments
    /// are read from.
    ///
    /// # Errors
    /// Where the options contradict themselves, or no thread can be started.
    pub fn start(
        options: &RedisOptions,
        clock: Arc<dyn Clock>,
    ) -> Result<SharedStore, RedisOptionsError> {
        let random = RandomState::new();
        let name = (u128::from(random.hash_one(0)) << 64) | u128::from(random.hash_one(1));
        let remote = RedisStore::start(options)?;
        let mut node = Node::new(remote, clock, name, NonZeroU32::MIN);
        node.virtual_time = options.virtual_time;
        let node = Arc::new(node);
        tend(&node);
        Ok(SharedStore(node))
    }

    /// Waits until the server can be asked and has said how many nodes there are, at most for `within`. Until it has, this
    /// node takes itself for the only one.
    ///
    /// # Errors
    /// Why it cannot.
    pub async fn ready(&self, within: Duration) -> Result<(), Trouble> {
        self.0.remote.ready(within).await?;
        self.0.beat().await;
        Ok(())
    }

    /// Tells the other nodes that this one goes, so that they take over its share within a second; without it they do within
    /// six. Decisions go on being made by what the node knows.
    pub async fn close(&self) {
        self.0.leave().await;
    }

    /// What this node counted so far.
    #[must_use]
    pub fn observed(&self) -> NodeObserved {
        self.0.observed()
    }

    /// What its connections counted so far.
    #[must_use]
    pub fn redis_observed(&self) -> RedisObserved {
        self.0.remote.observed()
    }

    /// How much the node itself remembers of each limit, by name.
    #[must_use]
    pub fn usage(&self) -> Vec<Usage> {
        self.0.usage()
    }

    /// Does a bounded piece of the sweep that forgets keys as fresh as new, as
    /// [`MemoryStore::sweep`](crate::MemoryStore::sweep) does; `true` when a whole round is done.
    pub fn sweep(&self, now: Timestamp) -> bool {
        self.0.local.sweep(self.0.shared_time(now))
    }
}

impl fmt::Debug for SharedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let node = &self.0;
        f.debug_struct("SharedStore")
            .field("node", &format_args!("{:032x}", node.name))
            .field("remote", &node.remote)
            .finish_non_exhaustive()
    }
}

impl Store for SharedStore {
    fn define(&self, definitions: &[Definition], now: Timestamp) -> Vec<LimitId> {
        self.0.follow_definitions(definitions, now)
    }

    async fn charge_all(&self, call: &Call<'_>) -> Result<StoreOutcome, StoreError> {
        self.0.decide(call).await
    }

    async fn settle(&self, taken: Taken, units: u64, now: Timestamp) -> Result<(), StoreError> {
        self.0.settle_one(taken, units, now).await
    }

    async fn release(&self, taken: Taken, now: Timestamp) -> Result<(), StoreError> {
        self.0.release_one(taken, now).await
    }

    async fn peek(&self, charge: &Charge<'_>, now: Timestamp) -> Result<Standing, StoreError> {
        self.0.look(charge, now).await
    }

    async fn reset(&self, limit: LimitId, key: &[u8]) -> Result<(), StoreError> {
        self.0.forget(limit, key).await
    }
}
