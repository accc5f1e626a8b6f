//! Who sends what in the demo.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// One customer of the demo's platform: who he is, how he sends, and how he fared.
#[derive(Debug)]
pub(super) struct Customer {
    /// Shown in the table.
    pub(super) name: &'static str,
    /// His plan in the example policy.
    pub(super) plan: &'static str,
    /// His API key; the example policy holds its hash.
    pub(super) api_key: &'static str,
    /// One request every so often.
    pub(super) every: Duration,
    /// How he fared so far.
    pub(super) tally: Tally,
}

/// Counts of one customer's answers.
#[derive(Debug, Default)]
pub(super) struct Tally {
    passed: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
    retry_after: AtomicU64,
}

/// The counts at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count {
    /// Answers of the upstream.
    pub(super) passed: u64,
    /// Answers 429 and 503.
    pub(super) refused: u64,
    /// Anything else, and broken connections.
    pub(super) failed: u64,
    /// Seconds that the last refusal told him to wait; 0 if none did.
    pub(super) retry_after: u64,
}

impl Tally {
    /// Counts an answer.
    pub(super) fn answer(&self, status: u16, retry_after: Option<u64>) {
        let counter = match status {
            200..=299 => &self.passed,
            429 | 503 => &self.refused,
            _ => &self.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        if let Some(seconds) = retry_after {
            self.retry_after.store(seconds, Ordering::Relaxed);
        }
    }

    /// Counts a request that got no answer.
    pub(super) fn failure(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    /// The counts now.
    pub(super) fn count(&self) -> Count {
        Count {
            passed: self.passed.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            retry_after: self.retry_after.load(Ordering::Relaxed),
        }
    }
}

/// The cast: a free customer who floods, one who does not, and two who pay. Their keys are those of the example policy.
pub(super) fn cast() -> Vec<Customer> {
    let customer = |name, plan, api_key, every| Customer {
        name,
        plan,
        api_key,
        every: Duration::from_millis(every),
        tally: Tally::default(),
    };
    vec![
        customer("ada, who floods", "free", "demo-free", 10),
        customer("bob", "free", "demo-free-2", 3_000),
        customer("eve", "paid", "demo-paid", 250),
        customer("max", "enterprise", "demo-enterprise", 25),
    ]
}
