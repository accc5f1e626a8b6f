//! The connections to the shared store, kept in a thread of their own.
//!
//! [`Servers`] knows nothing of limits: it carries a script's call to the server that holds its keys, within a time budget,
//! and says what became of it. A call that was written and not answered is never sent again, since it may have been
//! executed; only an explicit word of the server that it was not (`NOSCRIPT`, `MOVED`, `ASK`, `TRYAGAIN`) is followed.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use redis::{Cmd, Value};
use tokio::runtime::{Builder, Handle};
use tokio::sync::{Notify, oneshot};
use tokio::time::Sleep;

mod backoff;
mod bounded;
mod cluster;
mod deadline;
mod dial;
mod failure;
mod keeper;
mod link;
mod message;
mod node;
mod observed;
mod places;
mod route;
mod sentinel;
mod slot;
mod slot_map;
mod tls;

pub(crate) use deadline::Deadline;
pub use observed::ServersObserved;
pub(crate) use slot::slot_of;

use super::key::KeyName;
use super::options::{RedisOptions, RedisOptionsError};
use super::script::Script;
use crate::Trouble;
use dial::Dialer;
use message::Message;
use observed::Counts;
use places::Places;
use route::Route;

/// The shared store's servers. Dropping it closes every connection and ends what was spawned.
#[derive(Debug)]
pub(crate) struct Servers {
    shared: Arc<Shared>,
    route: Route,
    budget: Duration,
    /// Ends the thread when it is dropped.
    _stop: oneshot::Sender<()>,
}

/// What the parts of the connection layer share.
#[derive(Debug)]
struct Shared {
    runtime: Handle,
    dialer: Dialer,
    counts: Arc<Counts>,
    places: Places,
    /// Connections to each server.
    connections: usize,
    /// A connection was lost or could not be made, or a server said that it is the wrong one.
    lost: Notify,
}

impl Shared {
    /// Sleeps by the background thread's timers, so that callers need no runtime of their own.
    fn sleep(&self, time: Duration) -> Sleep {
        let _timers = self.runtime.enter();
        tokio::time::sleep(time)
    }
}

impl Servers {
    /// Begins to connect, in a thread of its own, and returns at once. Until the first connection is there calls fail with
    /// [`Trouble::Disconnected`]; see [`Servers::ready`].
    ///
    /// # Errors
    /// Where the options contradict themselves, or no thread can be started.
    pub(crate) fn start(options: &RedisOptions) -> Result<Servers, RedisOptionsError> {
        options.check()?;
        let dialer = Dialer::new(options)?;
        let (stop, stopped) = oneshot::channel::<()>();
        let runtime = background(stopped)?;
        let counts = Arc::new(Counts::default());
        let shared = Arc::new(Shared {
            runtime,
            dialer,
            places: Places::new(options.in_flight, Arc::clone(&counts)),
            counts,
            connections: options.connections,
            lost: Notify::new(),
        });
        let route = Route::start(options, &shared);
        Ok(Servers { shared, route, budget: options.budget, _stop: stop })
    }

    /// Waits until a call could be sent.
    ///
    /// # Errors
    /// Why it could not, once `deadline` is over.
    pub(crate) async fn ready(&self, deadline: Deadline) -> Result<(), Trouble> {
        self.route.ready(&self.shared, deadline).await
    }

    /// The budget of a decision that begins now.
    pub(crate) fn deadline(&self) -> Deadline {
        Deadline::within(self.budget)
    }

    /// Which names can go together in one call: those of the same slot. All can, unless the store is a cluster.
    pub(crate) fn slot(&self, name: &KeyName) -> u16 {
        if self.route.has_slots() { slot_of(name.as_bytes()) } else { 0 }
    }

    /// Runs a script on keys of one slot.
    ///
    /// # Errors
    /// Why there is no answer; [`Trouble::leaves_doubt`] says whether it may have been executed nevertheless.
    pub(crate) async fn call(
        &self,
        deadline: Deadline,
        slot: u16,
        script: &Script,
        keys: &[KeyName],
        arguments: &[&[u8]],
    ) -> Result<Value, Trouble> {
        let message = Message::Script { script, keys, arguments };
        self.route.deliver(&self.shared, deadline, slot, &message).await
    }

    /// Sends a command to the server that holds `slot`.
    ///
    /// # Errors
    /// As [`Servers::call`].
    pub(crate) async fn command(
        &self,
        deadline: Deadline,
        slot: u16,
        command: &Cmd,
    ) -> Result<Value, Trouble> {
        self.route.deliver(&self.shared, deadline, slot, &Message::Command(command)).await
    }

    /// Runs `task` in the background thread until it ends or the servers are dropped.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.shared.runtime.spawn(task);
    }

    /// Sleeps, in whatever thread the caller runs.
    pub(crate) fn sleep(&self, time: Duration) -> Sleep {
        self.shared.sleep(time)
    }

    /// What was counted so far.
    pub(crate) fn observed(&self) -> ServersObserved {
        self.shared.counts.observed()
    }
}

/// A runtime in a thread of its own, until `stopped` is.
fn background(stopped: oneshot::Receiver<()>) -> Result<Handle, RedisOptionsError> {
    let failed = |error: std::io::Error| RedisOptionsError::Thread { reason: error.to_string() };
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let handle = runtime.handle().clone();
    std::thread::Builder::new()
        .name("tollgate-redis".to_owned())
        .spawn(move || {
            // The sender is never used: it ends the wait by being dropped.
            let _ = runtime.block_on(stopped);
        })
        .map_err(failed)?;
    Ok(handle)
}

#[cfg(test)]
pub(crate) mod tests;
