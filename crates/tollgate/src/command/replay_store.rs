//! The store of `tollgate replay --store URL`: a server's scripts, the trace's clock, and keys that touch nobody else's.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tollgate_policy::Policy;
use tollgate_sim::replay::Counts;
use tollgate_store::{RedisOptions, RedisStore, Secret};

use crate::outcome::Failure;

/// How long the server may take to be there, and for each answer: a replay is in no hurry, and an answer that is missing
/// ends it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Opens the store at `url` for one replay of `policy`.
///
/// # Errors
/// Where the URL is wrong, nobody answers there, or one of the policy's limits cannot be counted exactly there.
pub(super) fn open(url: &str, policy: &Policy) -> Result<Counts, Failure> {
    let wrong = |what: &dyn std::fmt::Display| Failure::wrong(format!("--store: {what}"));
    for definition in policy.definitions() {
        RedisStore::check(&definition.limit)
            .map_err(|why| wrong(&format!("the limit {}: {why}", definition.name)))?;
    }
    let mut options = RedisOptions::from_url(url).map_err(|error| wrong(&error))?;
    options.virtual_time = true;
    options.budget = PATIENCE;
    options.namespace = format!("replay-{:016x}", random());
    options.secret = Secret([random(), random()].map(u64::to_le_bytes).concat());
    let store = RedisStore::start(&options).map_err(|error| wrong(&error))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| wrong(&error))?;
    runtime
        .block_on(store.ready(PATIENCE))
        .map_err(|trouble| wrong(&format!("the store cannot be asked: {trouble}")))?;
    Ok(Counts::Redis(store))
}

/// No two replays have the same keys.
fn random() -> u64 {
    RandomState::new().hash_one(std::process::id())
}
