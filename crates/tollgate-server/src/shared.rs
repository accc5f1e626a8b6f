//! What a gateway tells of what it relies on (a shared store, upstream servers), and how it takes leave.

use std::sync::Arc;
use std::time::Duration;

use tollgate_store::SharedStore;

use crate::admin::Readiness;
use crate::metrics::Metrics;
use crate::snapshot::Keeper;
use crate::{Engine, GatewayStore, Handle};

/// The other nodes notice by themselves, so taking leave may take no longer.
const FAREWELL: Duration = Duration::from_secs(1);

fn shared(engine: &Engine) -> Option<SharedStore> {
    match engine.store() {
        GatewayStore::Memory(_) => None,
        GatewayStore::Shared(store) => Some(store.clone()),
    }
}

/// The metrics of a gateway with this engine, whose counts `keeper` keeps, if anybody does.
pub(crate) fn metrics(engine: &Arc<Engine>, keeper: Option<&Keeper>) -> Arc<Metrics> {
    let counted = Arc::clone(engine);
    let usage = move || counted.store().usage();
    match (shared(engine), keeper) {
        (Some(store), _) => Metrics::of_node(usage, store),
        (None, Some(keeper)) => Metrics::of_keeper(usage, keeper.metrics()),
        (None, None) => Metrics::new(usage),
    }
}

/// Whether it wants traffic: also while its store is away, or servers behind it, which is noted beside.
pub(crate) fn readiness(engine: &Engine, server: Handle) -> Readiness {
    let store = shared(engine);
    Readiness::with_note(move || {
        let away = store.as_ref().is_some_and(|store| store.observed().degraded);
        let note = "degraded: the shared store is away, and each limit's on_store_failure holds";
        let store = away.then(|| note.to_owned());
        let notes: Vec<String> = store.into_iter().chain(server.upstreams_note()).collect();
        (!notes.is_empty()).then(|| notes.join("\n"))
    })
}

/// Tells the other nodes that this one goes, and gives them its part.
pub(crate) async fn close(engine: &Engine) {
    let Some(store) = shared(engine) else { return };
    if tokio::time::timeout(FAREWELL, store.close()).await.is_err() {
        tracing::warn!("the shared store did not hear that this node goes; the others will notice");
    }
}
