//! What a gateway that shares its store tells of it, and how it takes leave.

use std::sync::Arc;
use std::time::Duration;

use tollgate_store::SharedStore;

use crate::admin::Readiness;
use crate::metrics::Metrics;
use crate::snapshot::Keeper;
use crate::{Engine, GatewayStore};

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

/// Whether it wants traffic: also while its store is away, which is noted beside.
pub(crate) fn readiness(engine: &Engine) -> Readiness {
    let Some(store) = shared(engine) else { return Readiness::default() };
    Readiness::with_note(move || {
        let note = "degraded: the shared store is away, and each limit's on_store_failure holds";
        store.observed().degraded.then(|| note.to_owned())
    })
}

/// Tells the other nodes that this one goes, and gives them its part.
pub(crate) async fn close(engine: &Engine) {
    let Some(store) = shared(engine) else { return };
    if tokio::time::timeout(FAREWELL, store.close()).await.is_err() {
        tracing::warn!("the shared store did not hear that this node goes; the others will notice");
    }
}
