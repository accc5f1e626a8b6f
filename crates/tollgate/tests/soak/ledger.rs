//! What the clients saw.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// For how long after a service was killed, or is back, its requests may be answered by 502 or 504 or break off.
const AFTERMATH: Duration = Duration::from_secs(2);

/// What the clients saw.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    over: AtomicBool,
    /// Requests of the limited client that were not refused.
    counted: AtomicU64,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// Answers as they should be, by client.
    right: BTreeMap<&'static str, u64>,
    /// What a dying service may do to a request.
    lost: Vec<(SystemTime, String)>,
    /// What nothing excuses.
    wrong: Vec<String>,
    /// The certificates that the gateway presented.
    certificates: BTreeSet<Vec<u8>>,
    /// When a service was dying or dead.
    troubles: Vec<(SystemTime, SystemTime)>,
}

impl Ledger {
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Clients come to an end.
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().expect("no panic")
    }

    pub(crate) fn right(&self, client: &'static str) {
        *self.seen().right.entry(client).or_default() += 1;
    }

    /// The request broke off, or its answer says that the service did not.
    pub(crate) fn lost(&self, client: &'static str, what: String) {
        self.seen().lost.push((SystemTime::now(), format!("{client}: {what}")));
    }

    pub(crate) fn wrong(&self, client: &'static str, what: String) {
        self.seen().wrong.push(format!("{client}: {what}"));
    }

    /// The gateway presented this certificate.
    pub(crate) fn presented(&self, certificate: &[u8]) {
        let mut seen = self.seen();
        if !seen.certificates.contains(certificate) {
            seen.certificates.insert(certificate.to_owned());
        }
    }

    /// How many certificates the gateway presented.
    pub(crate) fn certificates(&self) -> usize {
        self.seen().certificates.len()
    }

    /// The limit took a request.
    pub(crate) fn count(&self) {
        self.counted.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn counted(&self) -> u64 {
        self.counted.load(Ordering::Relaxed)
    }

    /// A service was dying or dead from `since` until now.
    pub(crate) fn trouble(&self, since: SystemTime) {
        self.seen().troubles.push((since, SystemTime::now() + AFTERMATH));
    }

    /// Every request was answered rightly, but for those that a service took along.
    #[track_caller]
    pub(crate) fn assert_no_wrong_answer(&self) {
        let seen = self.seen();
        assert!(
            seen.wrong.is_empty(),
            "{} wrong, the first: {:?}",
            seen.wrong.len(),
            &seen.wrong[0]
        );
        let excused =
            |at: &SystemTime| seen.troubles.iter().any(|(since, until)| since <= at && at <= until);
        let lost = seen.lost.iter().find(|(at, _)| !excused(at));
        assert!(lost.is_none(), "lost while every service was well: {lost:?}");
        let all: u64 = seen.right.values().sum();
        let lost = seen.lost.len() as u64;
        // A death takes along what is on its way then, and no more: others are sent elsewhere.
        assert!(lost * 50 <= all, "{lost} lost of {all}");
        assert!(seen.right.len() >= 6, "every kind of client got answers: {:?}", seen.right);
    }
}

impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seen = self.seen();
        write!(f, "right: {:?}; lost to dying services: {}", seen.right, seen.lost.len())
    }
}
