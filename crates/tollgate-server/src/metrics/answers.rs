//! Our own answers by status: a refusal is counted without a look-up.

use std::sync::OnceLock;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

use super::labels::Status;

/// The statuses that a policy or this program answers with.
const FIRST: u16 = 400;
const COUNT: usize = 200;

#[derive(Debug)]
pub(super) struct Answers {
    pub(super) family: Family<Status, Counter>,
    /// By status, from [`FIRST`] on; a series begins with its first answer.
    resolved: [OnceLock<Counter>; COUNT],
}

impl Default for Answers {
    fn default() -> Answers {
        Answers { family: Family::default(), resolved: [const { OnceLock::new() }; COUNT] }
    }
}

impl Answers {
    pub(super) fn count(&self, status: u16) {
        let resolve = || self.family.get_or_create_owned(&Status { status });
        let place = usize::from(status.wrapping_sub(FIRST));
        match self.resolved.get(place) {
            Some(counter) => counter.get_or_init(resolve).inc(),
            None => resolve().inc(),
        };
    }
}
