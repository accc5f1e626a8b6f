//! The access log: a line for each request, or for a share of them.
//!
//! ```text
//! request -> Note (what is known of it, borrowed or counted) -> its end -> line in its thread's buffer -> a thread writes
//! ```
//!
//! A request never waits for the log: what finds no room in its thread's buffer is lost, and counted.

mod escape;
mod line;
mod lines;
mod note;
mod target;

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use tollgate_policy::settings::{AccessLogSettings, Share};
use tollgate_store::{Clock, SystemClock};

use crate::metrics::Metrics;
use line::Layout;
use lines::Lines;

pub(crate) use note::{Note, Noted};

/// How long the last lines may take when the gateway ends.
const LAST: Duration = Duration::from_secs(1);

/// The access log of one policy.
#[derive(Debug)]
pub(crate) struct AccessLog {
    settings: AccessLogSettings,
    layout: Layout,
    lines: Arc<Lines>,
    keys: Hmac<Sha256>,
    clock: Arc<SystemClock>,
    random: RandomState,
    drawn: AtomicU64,
}

impl AccessLog {
    /// The log that `settings` describe, of `workers` threads. One that goes where `before` went goes on with its lines,
    /// and a log without a secret with its way of hashing keys.
    ///
    /// # Errors
    /// Where the system has no thread for it. A file that cannot be opened is tried again with every batch of lines; until
    /// then they are lost.
    pub(crate) fn start(
        settings: &AccessLogSettings,
        workers: usize,
        clock: &Arc<SystemClock>,
        metrics: &Metrics,
        before: Option<&AccessLog>,
    ) -> io::Result<AccessLog> {
        let lines = match before {
            Some(log) if log.settings.to == settings.to => Arc::clone(&log.lines),
            _ => Arc::new(Lines::start(&settings.to, workers, metrics.access_log.clone())?),
        };
        let keys = match (&settings.secret, before) {
            (Some(secret), _) => keyed_with(&secret.0),
            (None, Some(log)) if log.settings.secret.is_none() => log.keys.clone(),
            (None, _) => keyed_with(&made_anew()),
        };
        Ok(AccessLog {
            layout: Layout::new(&settings.format),
            settings: settings.clone(),
            lines,
            keys,
            clock: Arc::clone(clock),
            random: RandomState::new(),
            drawn: AtomicU64::new(0),
        })
    }

    /// Looks whether the log's file is still the one that is open, with the next lines or at once.
    pub(crate) fn reopen(&self) {
        self.lines.reopen();
    }

    /// Waits until what was noted is written, for a while at most.
    pub(crate) fn close(&self) {
        self.lines.close(LAST);
    }

    /// Whether any request can have a line.
    fn is_idle(&self) -> bool {
        let sample = self.settings.sample;
        [sample.admitted, sample.refused, sample.errors].iter().all(|share| share.0 == 0)
    }

    /// Whether a request of which `share` have lines has one.
    fn draws(&self, share: Share) -> bool {
        if share.0 == 0 || share >= Share::ALL {
            return share.0 > 0;
        }
        let drawn = self.random.hash_one(self.drawn.fetch_add(1, Ordering::Relaxed));
        drawn % u64::from(Share::ALL.0) < u64::from(share.0)
    }

    fn now(&self) -> u64 {
        self.clock.now().as_micros()
    }

    /// The hash that stands for `key`.
    fn hash(&self, key: &[u8]) -> [u8; 16] {
        let mut keys = self.keys.clone();
        keys.update(key);
        let whole: [u8; 32] = keys.finalize().into_bytes().into();
        let mut half = [0; 16];
        half.copy_from_slice(&whole[..16]);
        half
    }
}

fn keyed_with(secret: &[u8]) -> Hmac<Sha256> {
    // HMAC takes keys of every length.
    Hmac::new_from_slice(secret).unwrap_or_else(|_| Hmac::new(&Default::default()))
}

/// A secret that the system's randomness stands behind.
fn made_anew() -> [u8; 32] {
    let mut secret = [0; 32];
    for piece in secret.chunks_exact_mut(8) {
        piece.copy_from_slice(&RandomState::new().hash_one(0_u8).to_ne_bytes());
    }
    secret
}
