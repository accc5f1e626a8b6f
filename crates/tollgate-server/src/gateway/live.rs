//! What of a policy the gateway itself needs, and what a reload exchanges as one piece.

use std::sync::Arc;
use std::time::Duration;

use tollgate_core::Timestamp;
use tollgate_http::Responder;
use tollgate_policy::settings::GatewaySettings;
use tollgate_policy::{Bound, ClientAddress};
use tollgate_store::SystemClock;

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
        let before = before.map(|live| &live.upstreams);
        Live {
            upstreams: Upstreams::new(settings, workers, timer, metrics, before),
            responder: Responder::new(&settings.answers, &settings.limits),
            recorder,
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

    /// The longest silence within a body.
    pub(super) fn body_timeout(&self) -> Duration {
        Duration::from_micros(self.settings().body_timeout.get())
    }

    /// Drops kept upstream connections that are of no use any more, of the thread `worker`.
    pub(crate) fn sweep(&self, worker: usize) {
        self.upstreams.sweep(worker);
    }
}
