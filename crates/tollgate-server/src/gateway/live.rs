//! What of a policy the gateway itself needs, and what a reload exchanges as one piece.

use std::sync::Arc;
use std::time::Duration;

use tollgate_core::Timestamp;
use tollgate_http::Responder;
use tollgate_policy::settings::{GatewaySettings, Settings};
use tollgate_policy::{Bound, ClientAddress};
use tollgate_store::SystemClock;

use crate::access_log::AccessLog;
use crate::metrics::{Metrics, Recorder};
use crate::upstream::Upstreams;

/// One policy, as the gateway sees it.
#[derive(Debug)]
pub(crate) struct Live {
    /// What the engine decides by.
    pub(super) bound: Arc<Bound>,
    pub(super) upstreams: Upstreams,
    pub(super) responder: Responder,
    pub(super) recorder: Recorder,
    pub(super) access_log: Option<Arc<AccessLog>>,
}

impl Live {
    /// `bound` as loaded at `now`, for `workers` threads; upstream connections of `before` are kept.
    pub(crate) fn new(
        bound: Arc<Bound>,
        workers: usize,
        timer: &Arc<SystemClock>,
        metrics: &Arc<Metrics>,
        now: Timestamp,
        before: Option<&Live>,
    ) -> Live {
        let settings = bound.settings();
        let recorder = metrics.recorder(settings, now);
        let access_log = access_log(settings, workers, timer, metrics, before);
        let before = before.map(|live| &live.upstreams);
        Live {
            upstreams: Upstreams::new(settings, workers, timer, metrics, before),
            responder: Responder::new(&settings.answers, &settings.limits),
            recorder,
            access_log,
            bound,
        }
    }

    pub(crate) fn settings(&self) -> &GatewaySettings {
        &self.bound.settings().gateway
    }

    pub(super) fn client_address(&self) -> &ClientAddress {
        self.bound.client_address()
    }

    /// The pool that serves the route at `place`.
    pub(super) fn pool(&self, route: Option<usize>) -> Option<usize> {
        self.bound.settings().routes.get(route?)?.upstream
    }

    /// The name of the pool at `place`; it is copied only for the access log.
    pub(super) fn pool_name(&self, place: usize) -> Option<Arc<str>> {
        self.bound.settings().upstreams.get(place).map(|pool| Arc::clone(&pool.name))
    }

    /// The access log, where the policy has one.
    pub(crate) fn access_log(&self) -> Option<&AccessLog> {
        self.access_log.as_deref()
    }

    /// The longest silence within a body.
    pub(super) fn body_timeout(&self) -> Duration {
        Duration::from_micros(self.settings().body_timeout.get())
    }

    /// Drops kept upstream connections that are of no use any more, of the thread `worker`.
    pub(crate) fn sweep(&self, worker: usize) {
        self.upstreams.sweep(worker);
    }
    /// Looks after the upstream servers: once every [`LOOK_EVERY`](crate::upstream::LOOK_EVERY).
    pub(crate) fn look_after_upstreams(&self) {
        self.upstreams.look_after();
    }
    /// Which upstreams have no server that does well.
    pub(crate) fn upstreams_note(&self) -> Option<String> {
        self.upstreams.note()
    }
}

/// The access log of `settings`; its lines go on where those of the policy `before` went.
fn access_log(
    settings: &Settings,
    workers: usize,
    timer: &Arc<SystemClock>,
    metrics: &Metrics,
    before: Option<&Live>,
) -> Option<Arc<AccessLog>> {
    let before = before.and_then(Live::access_log);
    match AccessLog::start(settings.access_log.as_ref()?, workers, timer, metrics, before) {
        Ok(log) => Some(Arc::new(log)),
        Err(error) => {
            tracing::error!(%error, "no access log is written: no thread for it can be started");
            None
        }
    }
}
