//! File descriptors: the system's limit on them, held against what a policy can come to need. Without them a gateway
//! neither accepts nor connects, long before `max_connections` is reached.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tollgate_policy::settings::Settings;

/// Listeners, the admin listener's connections, those that are being seen off, files, and what the runtimes need.
const RESERVE: u64 = 512;

/// Raises this process's soft limit to what `settings` can come to need, as far as the hard one allows, and warns where
/// that is not enough.
pub(crate) fn provide(settings: &Settings) {
    let need = Need::of(settings);
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // Without a value there is no limit.
    let Some(soft) = current.filter(|soft| *soft < need.all()) else { return };
    let wanted = maximum.map_or(need.all(), |hard| hard.min(need.all()));
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
    let now = match raised {
        Ok(()) => wanted,
        Err(error) => {
            tracing::debug!(%error, "the limit on file descriptors cannot be raised");
            soft
        }
    };
    if now > soft {
        tracing::info!(from = soft, to = now, "the limit on file descriptors was raised");
    }
    if let Some(advice) = need.advice(now) {
        tracing::warn!("{advice}");
    }
}

/// How many descriptors a policy can come to need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Need {
    /// `max_connections`; each may have a request on its way over a connection of its own.
    connections: u64,
    /// Kept connections to servers.
    idle: u64,
}

impl Need {
    fn of(settings: &Settings) -> Need {
        let servers: usize = settings.upstreams.iter().map(|pool| pool.servers.len()).sum();
        let idle = servers.saturating_mul(settings.gateway.max_idle_per_server);
        Need { connections: settings.gateway.max_connections as u64, idle: idle as u64 }
    }

    fn all(self) -> u64 {
        self.connections.saturating_mul(2).saturating_add(self.idle).saturating_add(RESERVE)
    }

    /// What to do where only `limit` are allowed.
    fn advice(self, limit: u64) -> Option<String> {
        let all = self.all();
        if limit >= all {
            return None;
        }
        let bearable = limit.saturating_sub(RESERVE).saturating_sub(self.idle) / 2;
        let lower = match bearable {
            0 => String::new(),
            _ => format!(", or lower `gateway: {{ max_connections }}` to {bearable}"),
        };
        Some(format!(
            "max_connections: {} can need {all} file descriptors, and the system allows {limit}: beyond them connections \
             are neither accepted nor made; raise the hard limit (`LimitNOFILE={all}` in a systemd unit, `ulimit -n {all}` \
             in a shell){lower}",
            self.connections
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEED: Need = Need { connections: 10_000, idle: 128 };

    #[test]
    fn every_connection_may_need_one_more_behind_it() {
        assert_eq!(NEED.all(), 20_640);
        assert_eq!(Need { connections: u64::MAX, idle: 1 }.all(), u64::MAX);
    }

    #[test]
    fn the_advice_names_numbers_that_would_do() {
        assert_eq!(NEED.advice(20_640), None);
        let advice = NEED.advice(4_096).expect("too few");
        assert!(advice.contains("`LimitNOFILE=20640`"), "{advice}");
        assert!(advice.contains("max_connections }` to 1728"), "{advice}");
        assert_eq!(Need { connections: 1_728, ..NEED }.advice(4_096), None);
        let advice = NEED.advice(256).expect("too few");
        assert!(advice.contains("LimitNOFILE") && !advice.contains("lower"), "{advice}");
    }
}
