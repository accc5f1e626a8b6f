//! The header fields that describe limits. Each family has its own writer; numbers and names go straight into one buffer
//! that all values of an answer share (the tests hold the bytes equal to what the `sfv` crate writes).

use bytes::Bytes;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use tollgate_core::{Micros, Timestamp};
use tollgate_policy::LimitReport;
use tollgate_policy::settings::ResetForm;

use crate::prepared::Found;
use crate::stated::{self, Jitter, Wait};

/// The largest Integer of a structured field (RFC 9651, 3.3.1): 15 digits.
const LARGEST: u64 = 999_999_999_999_999;

static POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
static RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
static DRAFT03_LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
static DRAFT03_REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
static DRAFT03_RESET: HeaderName = HeaderName::from_static("ratelimit-reset");
static X_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
static X_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
static X_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// Most fields that one answer gets: two of the IETF's, three of draft 03, three of the old ones.
const MOST_FIELDS: usize = 8;

/// A limit as a family describes it.
#[derive(Clone, Copy)]
pub(crate) struct Described<'a> {
    /// Its name as a structured field's String, quotes included.
    pub(crate) name: &'a str,
    /// It counts slots.
    pub(crate) concurrent: bool,
    /// How it stands.
    pub(crate) report: &'a LimitReport,
}

/// The times of the limit that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    /// `t`: seconds until there is more; `None` where nothing is counted.
    more: Option<u64>,
    /// Seconds until `X-RateLimit-Reset`.
    reset_delta: u64,
    /// `X-RateLimit-Reset` in seconds since the epoch.
    reset_epoch: u64,
}

impl Times {
    /// The times of `report`, decided at `now`. `t` is when `remaining` grows, and never later than `Retry-After`, which
    /// the IETF's draft forbids. `X-RateLimit-Reset` is the same moment, the window's end for a window; on a refusal it is
    /// `Retry-After`'s, since clients that know only the old fields wait for it.
    pub(crate) fn of(report: &LimitReport, now: Timestamp, wait: Wait, jitter: Jitter) -> Times {
        let next = jitter.stretch(report.standing.next);
        let more = (next > Micros::ZERO).then(|| next.ceil_secs());
        // Slots that are held free themselves nobody knows when.
        let unknown = more.is_none() && report.standing.remaining < report.quota;
        let (more, reset) = match wait {
            Wait::Passed if unknown => (None, jitter.stretch(stated::UNKNOWN)),
            Wait::Passed | Wait::Never => (more, next),
            Wait::After(span) => {
                let retry = span.ceil_secs();
                (Some(more.map_or(retry, |more| more.min(retry))), span)
            }
        };
        let epoch = Micros::new(now.as_micros().saturating_add(reset.get()));
        Times { more, reset_delta: reset.ceil_secs(), reset_epoch: epoch.ceil_secs() }
    }
}

/// Values of one answer, written one after the other and cut apart at the end.
pub(crate) struct Writer {
    bytes: Vec<u8>,
    fields: [(Option<&'static HeaderName>, usize); MOST_FIELDS],
    count: usize,
    /// `RateLimit-Policy`.
    list: Option<HeaderValue>,
}

impl Writer {
    pub(crate) fn new() -> Writer {
        Writer {
            bytes: Vec::with_capacity(256),
            fields: [(None, 0); MOST_FIELDS],
            count: 0,
            list: None,
        }
    }

    /// `RateLimit-Policy`, the `list` of all limits, and `RateLimit`, the one that decides, as in drafts 08 to 11.
    pub(crate) fn ietf(
        &mut self,
        list: Option<HeaderValue>,
        deciding: Described<'_>,
        times: Times,
    ) {
        self.list = list;
        self.text(deciding.name);
        self.parameter(";r=", remaining(deciding.report));
        if let Some(seconds) = times.more {
            self.parameter(";t=", seconds);
        }
        self.end(&RATE_LIMIT);
    }

    /// `RateLimit-Limit`, `-Remaining` and `-Reset` as in draft 03: the list of policies stands in `-Limit`. A policy
    /// whose window is no whole number of seconds cannot be written there.
    pub(crate) fn draft03<'a>(
        &mut self,
        limits: impl Iterator<Item = &'a LimitReport>,
        deciding: &LimitReport,
        times: Times,
    ) {
        self.number(deciding.quota);
        for limit in limits {
            if let Some(seconds) = whole_seconds(limit.window) {
                self.text(", ");
                self.number(limit.quota);
                self.parameter(";w=", seconds);
            }
        }
        self.end(&DRAFT03_LIMIT);
        self.number(remaining(deciding));
        self.end(&DRAFT03_REMAINING);
        self.number(times.reset_delta);
        self.end(&DRAFT03_RESET);
    }

    /// `X-RateLimit-Limit`, `-Remaining` and `-Reset`.
    pub(crate) fn x_rate_limit(&mut self, deciding: &LimitReport, times: Times, form: ResetForm) {
        self.number(deciding.quota);
        self.end(&X_LIMIT);
        self.number(remaining(deciding));
        self.end(&X_REMAINING);
        self.number(match form {
            ResetForm::Epoch => times.reset_epoch,
            ResetForm::Delta => times.reset_delta,
        });
        self.end(&X_RESET);
    }

    /// Puts the fields into `headers`. The IETF's are lists, so they stand beside what another server said of its own
    /// limits; the others hold one value, which is ours.
    pub(crate) fn finish(self, headers: &mut HeaderMap) {
        if let Some(list) = self.list {
            headers.append(&POLICY, list);
        }
        let bytes = Bytes::from(self.bytes);
        let mut start = 0;
        for (name, end) in &self.fields[..self.count] {
            let value = HeaderValue::from_maybe_shared(bytes.slice(start..*end));
            start = *end;
            // What is written here is ASCII without control characters, so no value is left out.
            let (Some(name), Ok(value)) = (*name, value) else { continue };
            if *name == RATE_LIMIT {
                headers.append(name, value);
            } else {
                headers.insert(name, value);
            }
        }
    }

    fn end(&mut self, name: &'static HeaderName) {
        self.fields[self.count] = (Some(name), self.bytes.len());
        self.count += 1;
    }

    fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn number(&mut self, number: u64) {
        self.text(itoa::Buffer::new().format(number.min(LARGEST)));
    }

    fn parameter(&mut self, key: &str, value: u64) {
        self.text(key);
        self.number(value);
    }
}

/// The value of `RateLimit-Policy`: an item for each of `limits`.
pub(crate) fn policy_list<'a>(
    limits: impl Iterator<Item = (Found<'a>, &'a LimitReport)>,
) -> Vec<u8> {
    let mut list = Vec::with_capacity(256);
    for (limit, report) in limits {
        if !list.is_empty() {
            list.extend_from_slice(b", ");
        }
        list.extend_from_slice(policy_item(limit.describe(report)).as_bytes());
    }
    list
}

/// An item of `RateLimit-Policy`.
fn policy_item(Described { name, concurrent, report }: Described<'_>) -> String {
    let mut item = format!("{name};q={}", report.quota.min(LARGEST));
    if let Some(seconds) = whole_seconds(report.window) {
        item.push_str(&format!(";w={}", seconds.min(LARGEST)));
    }
    if concurrent {
        item.push_str(";qu=\"concurrent-requests\"");
    }
    item
}

/// What is left, never more than the limit itself.
fn remaining(report: &LimitReport) -> u64 {
    report.standing.remaining.min(report.quota)
}

/// A window as `w` can tell it: whole seconds, at least one.
fn whole_seconds(window: Option<Micros>) -> Option<u64> {
    let micros = window?.get();
    (micros > 0 && micros % 1_000_000 == 0).then_some(micros / 1_000_000)
}

/// `name` as a structured field's String, with its quotes. Bytes that a String cannot hold are percent-encoded.
pub(crate) fn sf_string(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 2);
    text.push('"');
    for byte in name.bytes() {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(byte)]),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text.push('"');
    text
}
