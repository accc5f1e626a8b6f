//! Reading certificates again, at every listener that has some.

use std::sync::Arc;

use tollgate_policy::settings::Settings;

use crate::connection::Entrance;
use crate::metrics::Metrics;

/// Tells the metrics which certificates are in use.
pub(super) fn told(entrances: &[Arc<Entrance>], metrics: &Metrics) {
    for entrance in entrances {
        if let Some(tls) = entrance.tls() {
            metrics.certificates(entrance.name(), &tls.expiries());
        }
    }
}

/// Reads what `settings` names.
pub(super) fn refresh(entrances: &[Arc<Entrance>], settings: &Settings, metrics: &Metrics) {
    for entrance in entrances {
        let name = entrance.name();
        let listener = settings.listeners.iter().find(|listener| *listener.name == *name);
        let (Some(tls), Some(wanted)) = (entrance.tls(), listener.and_then(|one| one.tls.as_ref()))
        else {
            continue;
        };
        let refreshed = tls.refresh(wanted);
        for error in &refreshed.kept {
            tracing::error!(listener = name, "the certificate before stays in use: {error}");
        }
        if refreshed.changed {
            tracing::info!(listener = name, "certificates were read again");
        }
        if refreshed.changed || !refreshed.kept.is_empty() {
            metrics.certificates_read(name, refreshed.kept.is_empty());
        }
        metrics.certificates(name, &tls.expiries());
    }
}
