//! What limits keep on the server beside their counts, for other nodes: when they were first loaded, and the parameters of
//! their buckets. It lasts as long as any node that uses the limit lives, and a month more.

use std::sync::Arc;
use std::time::Duration;

use tollgate_core::Timestamp;

use super::RedisStore;
use super::ask::bytes;
use super::carry::spell;
use super::counter::{Counter, Live};
use super::key::Purpose;
use super::scripts::first_load;
use super::servers::Deadline;
use crate::registry::Registry;
use crate::{StoreError, Trouble};

/// For how many milliseconds it is kept, beyond what the longest state lasts.
const MONTH: u64 = 30 * 86_400 * 1000;
/// How often it is written again.
const REFRESH: Duration = Duration::from_secs(6 * 3600);
/// How soon it is tried again where the server was away.
const RETRY: Duration = Duration::from_secs(5);
/// How long one write may take: nobody waits for it.
const PATIENCE: Duration = Duration::from_secs(2);

impl RedisStore {
    /// What decisions on `counter` go by. A limit that begins empty is asked for when it was first loaded, once.
    pub(crate) async fn live<'r>(
        &self,
        counter: &'r Counter,
        deadline: Deadline,
    ) -> Result<&'r Live, StoreError> {
        if counter.live().is_none() {
            let moment = self.first_load(counter, deadline).await?;
            counter.load(counter.limit.loaded_at(moment), self.0.virtual_time);
        }
        match counter.live() {
            Some(Ok(live)) => Ok(live),
            _ => Err(StoreError::Inexact(counter.id)),
        }
    }

    async fn first_load(
        &self,
        counter: &Counter,
        deadline: Deadline,
    ) -> Result<Timestamp, Trouble> {
        let name = counter.scope.own(Purpose::FirstLoad, &[]);
        let slot = self.0.servers.slot(&name);
        let lasting = MONTH.to_string();
        let (keys, arguments) = ([name], [lasting.as_bytes()]);
        let call = self.0.servers.call(deadline, slot, first_load(), &keys, &arguments);
        let text = bytes(call.await?)?;
        let moment = std::str::from_utf8(&text).ok().and_then(|text| text.parse().ok());
        moment.map(Timestamp::from_micros).ok_or(Trouble::Unexpected)
    }

    /// Writes everything that is kept, now and again, until the store is dropped or its limits are others.
    pub(crate) fn keep(&self) {
        let store = Arc::downgrade(&self.0);
        let registry = self.0.registry.load_full();
        self.0.servers.spawn(async move {
            let mut pause = Duration::ZERO;
            loop {
                tokio::time::sleep(pause).await;
                let Some(store) = store.upgrade().map(RedisStore) else { return };
                if !Arc::ptr_eq(&registry, &store.0.registry.load()) {
                    return;
                }
                pause = if store.keep_all(&registry).await.is_ok() { REFRESH } else { RETRY };
            }
        });
    }

    /// Writes what is kept of every limit that is defined.
    async fn keep_all(&self, registry: &Registry<Counter>) -> Result<(), Trouble> {
        self.0.servers.ready(Deadline::within(PATIENCE)).await?;
        for counter in registry.defined() {
            self.keep_parameters(counter).await?;
            if counter.begins_empty() {
                self.first_load(counter, Deadline::within(PATIENCE)).await?;
            }
        }
        Ok(())
    }

    async fn keep_parameters(&self, counter: &Counter) -> Result<(), Trouble> {
        let Some(Ok(live)) = counter.live() else { return Ok(()) };
        let Some(text) = spell(&live.limit) else { return Ok(()) };
        let name = counter.scope.own(Purpose::Parameters, &live.parameters.tag.to_le_bytes());
        let mut set = redis::cmd("SET");
        let lasting = MONTH.saturating_add(live.by_force.milliseconds());
        set.arg(name.as_bytes()).arg(text).arg("PX").arg(lasting);
        let slot = self.0.servers.slot(&name);
        self.0.servers.command(Deadline::within(PATIENCE), slot, &set).await.map(drop)
    }
}
