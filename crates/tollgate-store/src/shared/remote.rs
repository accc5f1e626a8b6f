//! What a node asks of the store that counts for all, beyond the contract.

use std::future::Future;
use std::time::Duration;

use tollgate_core::{Period, State, Timestamp};

use super::lease;
use crate::{Call, LimitId, Store, StoreError, StoreOutcome};

/// The store that counts for all. Each of its answers comes in the time that a decision has, or is
/// [`Trouble::TimedOut`](crate::Trouble::TimedOut); calls beside the decisions may take a little longer. A future that is
/// dropped may have been carried out or not.
pub(crate) trait Remote: Store {
    /// Waits until it can be asked, or for `within`: connections are made in the background.
    fn connected(&self, within: Duration) -> impl Future<Output = ()> + Send;

    /// Its own name of a key, as in [`Taken::key`](crate::Taken::key).
    fn name(&self, limit: LimitId, key: &[u8]) -> u128;

    /// [`Store::charge_all`] of a request that was refused elsewhere: only what is charged all the same is taken.
    fn charge_refused(
        &self,
        call: &Call<'_>,
    ) -> impl Future<Output = Result<StoreOutcome, StoreError>> + Send;

    /// Charges what was admitted already, into debt where need be, as a settle upwards does.
    fn charge_admitted(
        &self,
        admitted: &Admitted,
    ) -> impl Future<Output = Result<Before, StoreError>> + Send;

    /// Says that `node` is alive, and hears who is.
    fn beat(&self, node: u128) -> impl Future<Output = Result<Members, StoreError>> + Send;

    /// Says that `node` goes.
    fn leave(&self, node: u128) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Hears what a node reports of its leases, takes for those who wait, and lends. `period` is the one around now, for a
    /// quota.
    fn lease(
        &self,
        limit: LimitId,
        name: u128,
        request: &lease::Request,
        period: Option<Period>,
        now: Timestamp,
    ) -> impl Future<Output = Result<lease::Answer, StoreError>> + Send;

    /// How long a decision may wait.
    fn budget(&self) -> Duration;

    /// What `work` comes to within `time`, in whatever thread it runs.
    fn within<T: Send>(
        &self,
        time: Duration,
        work: impl Future<Output = T> + Send,
    ) -> impl Future<Output = Option<T>> + Send;

    /// Runs `task` beside the calls, for as long as the process lives or until it ends.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static);
}

/// Units that were admitted without asking.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admitted {
    /// The limit, as the store calls it.
    pub(crate) limit: LimitId,
    /// The key, as the store calls it.
    pub(crate) name: u128,
    pub(crate) units: u64,
    /// The period they were admitted in, for a quota.
    pub(crate) period: Option<Period>,
    /// Now. The store uses its own clock instead.
    pub(crate) now: Timestamp,
}

/// How a key stood before units were charged to it.
#[derive(Clone, Debug)]
pub(crate) struct Before {
    pub(crate) state: State,
    /// The store's moment.
    pub(crate) now: Timestamp,
}

/// Who counts together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Members {
    /// How many nodes are alive, the asking one among them.
    pub(crate) live: u32,
    /// The place of the asking one in the order of their names, from 0.
    pub(crate) rank: u32,
    /// The store's moment.
    pub(crate) now: Timestamp,
}
