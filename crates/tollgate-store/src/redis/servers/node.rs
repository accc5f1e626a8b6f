//! One server and the connections to it.

use std::sync::Arc;

use redis::{Cmd, Value};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::Shared;
use super::deadline::Deadline;
use super::failure::Refusal;
use super::keeper::{Keeper, State};
use super::link::{Live, Request};
use super::places::Place;
use crate::Trouble;
use crate::redis::Endpoint;

/// One server. Its connections are kept in the background until the last handle is dropped.
#[derive(Debug)]
pub(super) struct Node {
    state: Arc<State>,
    keepers: Box<[AbortHandle]>,
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
    pub(super) fn start(endpoint: Endpoint, shared: &Arc<Shared>) -> Arc<Node> {
        let state = Arc::new(State::new(endpoint, shared.connections));
        let keepers = (0..shared.connections)
            .map(|place| {
                let keeper = Keeper::new(Arc::clone(&state), place, Arc::clone(shared));
                shared.runtime.spawn(keeper.run()).abort_handle()
            })
            .collect();
        Arc::new(Node { state, keepers })
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.state.endpoint
    }

    /// Whether a call can be sent now.
    pub(super) fn is_up(&self) -> bool {
        self.state.standing.borrow().up > 0
    }

    /// Waits for the first connection.
    pub(super) async fn ready(&self, shared: &Shared, deadline: Deadline) -> Result<(), Trouble> {
        let mut standing = self.state.standing.subscribe();
        tokio::select! {
            biased;
            _ = standing.wait_for(|standing| standing.up > 0) => Ok(()),
            () = shared.sleep(deadline.remaining()) => Err(self.state.failure()),
        }
    }

    /// A connection; waits for one only where a server that is well has sent us away, which takes a moment.
    async fn live(&self, deadline: Deadline, shared: &Shared) -> Result<Arc<Live>, Trouble> {
        if let Some(live) = self.state.pick() {
            return Ok(live);
        }
        let mut changes = self.state.standing.subscribe();
        loop {
            let standing = *changes.borrow_and_update();
            if let Some(live) = self.state.pick() {
                return Ok(live);
            }
            // One that is up and cannot be picked is about to be replaced.
            if standing.up == 0 && standing.turning == 0 {
                return Err(self.state.failure());
            }
            tokio::select! {
                _ = changes.changed() => {}
                () = shared.sleep(deadline.remaining()) => return Err(self.state.failure()),
            }
        }
    }

    /// Sends a call once and waits for its answer until `deadline`; an error of the server is an answer.
    pub(super) async fn send(
        &self,
        packed: Packed,
        deadline: Deadline,
        shared: &Shared,
    ) -> Result<Value, Trouble> {
        let place = shared.places.take().ok_or(Trouble::Crowded)?;
        self.pass(packed, Some(place), deadline, shared).await
    }

    /// Sends a command of the connection layer's own, which needs no place among the calls in flight.
    pub(super) async fn ask(
        &self,
        command: &Cmd,
        deadline: Deadline,
        shared: &Shared,
    ) -> Result<Value, Trouble> {
        let packed = Packed { bytes: command.get_packed_command(), preamble: 0 };
        self.pass(packed, None, deadline, shared).await
    }

    async fn pass(
        &self,
        packed: Packed,
        place: Option<Place>,
        deadline: Deadline,
        shared: &Shared,
    ) -> Result<Value, Trouble> {
        let live = self.live(deadline, shared).await?;
        let remaining = deadline.remaining();
        if remaining.is_zero() {
            return Err(Trouble::TimedOut);
        }
        let (answer, received) = oneshot::channel();
        let Packed { bytes, preamble } = packed;
        let request = Request { packed: bytes, preamble, answer, place };
        live.send(request).map_err(|_| Trouble::Disconnected)?;
        let value = tokio::select! {
            biased;
            value = received => value.map_err(|_| Trouble::Interrupted)?,
            () = shared.sleep(remaining) => {
                live.timed_out();
                return Err(Trouble::TimedOut);
            }
        };
        if let Value::ServerError(error) = &value
            && Refusal::of(error) == Refusal::Trouble(Trouble::ReadOnly)
        {
            live.condemn();
        }
        Ok(value)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.keepers.iter().for_each(AbortHandle::abort);
    }
}
