//! What a node asks of the store beyond the contract.

use std::future::Future;
use std::time::Duration;

use tollgate_core::{Charged, Period, Timestamp};

use super::RedisStore;
use super::ask::bytes;
use super::plan::Amount;
use super::scripts::{Kind, beat};
use super::servers::Deadline;
use crate::shared::lease::{Answer, Request};
use crate::shared::{Admitted, Before, Members, Remote};
use crate::{Call, LimitId, StoreError, StoreOutcome, Trouble};

/// How long what goes on beside the decisions may take.
const PATIENCE: Duration = Duration::from_millis(250);

/// After so many microseconds without a word a node counts as dead.
const SILENCE: u64 = 5_000_000;

impl Remote for RedisStore {
    async fn connected(&self, within: Duration) {
        // Why it cannot be asked, whoever asks it then is told.
        let _ = self.ready(within).await;
    }

    fn name(&self, limit: LimitId, key: &[u8]) -> u128 {
        // A limit that is gone has no keys; whatever is asked of this one is answered so.
        self.0.registry.load().get(limit).map_or(0, |counter| counter.digest(key))
    }

    async fn charge_refused(&self, call: &Call<'_>) -> Result<StoreOutcome, StoreError> {
        self.decide(call, false).await
    }

    async fn charge_admitted(&self, admitted: &Admitted) -> Result<Before, StoreError> {
        let Admitted { limit, name, units, period, now } = *admitted;
        let deadline = Deadline::within(PATIENCE);
        let registry = self.0.registry.load_full();
        let counter = registry.get(limit)?;
        let ask = self.ask_of(counter, name, Amount::Units(0), period, deadline).await?;
        if ask.parameters.part.kind == Kind::Concurrency {
            return Err(Trouble::Unexpected.into());
        }
        let nothing = Charged { units: 0, fraction: 0, at: now, ticket: self.ticket() };
        let told = self.take_by_force(&ask, &nothing, units, now, deadline).await?;
        let state = told.states.into_iter().next().ok_or(Trouble::Unexpected)?;
        Ok(Before { state, now: told.now })
    }

    async fn beat(&self, node: u128) -> Result<Members, StoreError> {
        let name = self.0.names.nodes();
        let slot = self.0.servers.slot(&name);
        let (node, silence) = (spelt(node), SILENCE.to_string());
        let (keys, arguments) = ([name], [node.as_bytes(), silence.as_bytes()]);
        let deadline = Deadline::within(PATIENCE);
        let reply = bytes(self.0.servers.call(deadline, slot, beat(), &keys, &arguments).await?)?;
        Ok(members(&reply).ok_or(Trouble::Unexpected)?)
    }

    async fn leave(&self, node: u128) -> Result<(), StoreError> {
        let name = self.0.names.nodes();
        let remove = redis::cmd("ZREM").arg(name.as_bytes()).arg(spelt(node)).to_owned();
        let slot = self.0.servers.slot(&name);
        self.0.servers.command(Deadline::within(PATIENCE), slot, &remove).await?;
        Ok(())
    }

    async fn lease(
        &self,
        limit: LimitId,
        name: u128,
        request: &Request,
        period: Option<Period>,
        now: Timestamp,
    ) -> Result<Answer, StoreError> {
        self.exchange(limit, name, request, period, now).await
    }

    fn budget(&self) -> Duration {
        self.0.servers.deadline().remaining()
    }

    async fn within<T: Send>(
        &self,
        time: Duration,
        work: impl Future<Output = T> + Send,
    ) -> Option<T> {
        tokio::select! {
            biased;
            done = work => Some(done),
            () = self.0.servers.sleep(time) => None,
        }
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.servers.spawn(task);
    }
}

fn spelt(node: u128) -> String {
    format!("{node:032x}")
}

/// Reads what `beat.lua` answers.
fn members(reply: &[u8]) -> Option<Members> {
    let mut words = std::str::from_utf8(reply).ok()?.split(' ');
    let (live, rank) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let now = Timestamp::from_micros(words.next()?.parse().ok()?);
    words.next().is_none().then_some(Members { live, rank, now })
}
