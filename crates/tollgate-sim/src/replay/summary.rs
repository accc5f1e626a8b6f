//! What came of a whole replay, for a person to read.

use tollgate_core::{Micros, Timestamp};
use tollgate_policy::{Charges, Decision, LimitReport, Policy, Ruling, Verdict, readable_key};

use super::peaks::{Busiest, Peak};
use super::top::{Counted, Top};
use crate::format::Strangers;

/// Counts of a replay.
#[derive(Debug)]
pub struct Summary {
    /// Requests that passed at once.
    pub admitted: u64,
    /// Requests that passed later.
    pub delayed: u64,
    /// Requests that limits refused.
    pub refused: u64,
    /// Requests that were refused before any limit was asked: bad path, missing identity, no route.
    pub rejected: u64,
    /// Bad lines that were passed over.
    pub skipped: u64,
    /// The longest delay.
    pub longest_delay: Micros,
    /// The first request's time and the last's.
    pub span: Option<(Timestamp, Timestamp)>,
    /// Fields that had no influence.
    pub strangers: Strangers,
    /// The keys that limits refused most often, the most frequent first.
    pub most_refused: Vec<RefusedKey>,
    tallies: Vec<Tally>,
    /// By the places of limits and of their classes.
    counts: Vec<Vec<Count>>,
    refused_keys: Top,
    peaks: [Peak; 3],
    /// Room for a key.
    key: Vec<u8>,
}

/// How often one class of a limit was asked, and refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// The limit's name.
    pub limit: String,
    /// The class, where the limit has `by`.
    pub class: Option<String>,
    /// The limit never decides: its refusals are those that would have been.
    pub shadow: bool,
    /// How often it was asked.
    pub asked: u64,
    /// How often it refused.
    pub refused: u64,
}

/// The same while it is counted.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    asked: u64,
    refused: u64,
}

/// A key and how often a limit refused it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedKey {
    /// The limit's name.
    pub limit: String,
    /// The key, to be read.
    pub key: String,
    /// How often it was refused.
    pub refusals: u64,
    /// By how much that may be too high.
    pub over: u64,
}

/// How many keys are shown.
const SHOWN: usize = 10;

/// Room for keys whose refusals are counted: more than are shown, so that those are hardly ever wrong.
const KEYS: usize = 1_024;

impl Default for Summary {
    fn default() -> Summary {
        Summary {
            admitted: 0,
            delayed: 0,
            refused: 0,
            rejected: 0,
            skipped: 0,
            longest_delay: Micros::ZERO,
            span: None,
            strangers: Strangers::default(),
            most_refused: Vec::new(),
            tallies: Vec::new(),
            counts: Vec::new(),
            refused_keys: Top::new(KEYS),
            peaks: [Peak::default(); 3],
            key: Vec::new(),
        }
    }
}

impl Summary {
    /// Requests that were decided or rejected.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.admitted + self.delayed + self.refused + self.rejected
    }

    /// The limits that were asked, by class.
    #[must_use]
    pub fn tallies(&self) -> &[Tally] {
        &self.tallies
    }

    /// The busiest second of all requests, of those that passed, and of those that did not.
    #[must_use]
    pub fn busiest(&self) -> [Busiest; 3] {
        self.peaks.map(|peak| peak.most())
    }

    pub(super) fn note(&mut self, now: Timestamp, charges: &Charges, ruling: &Ruling) {
        self.span.get_or_insert((now, now)).1 = now;
        let passed = match ruling {
            Ruling::Decided(decision) => self.note_decision(charges, decision),
            Ruling::Rejected(_) => {
                self.rejected += 1;
                false
            }
        };
        let second = now.as_micros() / 1_000_000;
        self.peaks[0].note(second);
        self.peaks[if passed { 1 } else { 2 }].note(second);
    }

    fn note_decision(&mut self, charges: &Charges, decision: &Decision) -> bool {
        for report in &decision.limits {
            let count = self.count(report);
            count.asked += 1;
            count.refused += u64::from(report.refused);
        }
        match decision.judged {
            Verdict::Admit => self.admitted += 1,
            Verdict::Delay(delay) => {
                self.delayed += 1;
                self.longest_delay = self.longest_delay.max(delay);
            }
            Verdict::Refuse(_) => {
                self.refused += 1;
                self.note_keys(charges, decision);
            }
        }
        !matches!(decision.judged, Verdict::Refuse(_))
    }

    fn note_keys(&mut self, charges: &Charges, decision: &Decision) {
        for report in decision.refused_by() {
            // Not by its place in the list: limits that were not asked are absent from the decision.
            let of_limit = charges.iter().find(|(planned, _)| planned.limit == report.limit);
            if let Some((_, key)) = of_limit {
                self.key.clear();
                self.key.extend_from_slice(&(report.limit as u32).to_le_bytes());
                self.key.extend_from_slice(key);
                self.refused_keys.note(&self.key);
            }
        }
    }

    /// The count of what `report` tells of.
    #[inline]
    fn count(&mut self, report: &LimitReport) -> &mut Count {
        let (limit, class) = (report.limit, report.class.unwrap_or(0));
        if self.counts.get(limit).is_none_or(|classes| classes.len() <= class) {
            self.make_room(limit, class);
        }
        &mut self.counts[limit][class]
    }

    #[cold]
    fn make_room(&mut self, limit: usize, class: usize) {
        if self.counts.len() <= limit {
            self.counts.resize_with(limit + 1, Vec::new);
        }
        self.counts[limit].resize(class + 1, Count::default());
    }

    /// Ends the count: gives limits, classes and keys their names, in the policy's order.
    pub(super) fn name(&mut self, policy: &Policy) {
        let limits = self.counts.iter().zip(&policy.settings().limits).enumerate();
        let tallies = limits.flat_map(|(place, (counts, limit))| {
            counts.iter().enumerate().map(move |(class, count)| Tally {
                limit: limit.name.to_string(),
                class: policy.class_name(place, class).map(str::to_owned),
                shadow: limit.rules.shadow,
                asked: count.asked,
                refused: count.refused,
            })
        });
        self.tallies = tallies.filter(|tally| tally.asked > 0).collect();
        self.most_refused = self
            .refused_keys
            .most(SHOWN)
            .into_iter()
            .filter_map(|counted| refused_key(policy, counted))
            .collect();
    }
}

fn refused_key(policy: &Policy, counted: &Counted) -> Option<RefusedKey> {
    let (limit, key) = counted.key.split_first_chunk()?;
    let name = policy.limit_name(usize::try_from(u32::from_le_bytes(*limit)).ok()?)?;
    let (refusals, over) = (counted.count, counted.over);
    Some(RefusedKey { limit: name.to_string(), key: readable_key(key), refusals, over })
}
