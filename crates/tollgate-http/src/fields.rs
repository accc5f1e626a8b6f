//! The header fields that describe limits. Each family has its own writer; numbers and names are written as they are (the
//! tests hold the bytes equal to what the `sfv` crate writes).

use http::header::{HeaderMap, HeaderName, HeaderValue};
use tollgate_core::{Micros, Timestamp};
use tollgate_policy::LimitReport;
use tollgate_policy::settings::{HeaderFamily, ResetForm};

use crate::prepared::Found;
use crate::stated::{self, Jitter, Wait};
use crate::text::Text;

/// The largest Integer of a structured field (RFC 9651, 3.3.1): 15 digits.
const LARGEST: u64 = 999_999_999_999_999;

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const DRAFT03_LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const DRAFT03_REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const DRAFT03_RESET: HeaderName = HeaderName::from_static("ratelimit-reset");
const X_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const X_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const X_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// The fields of `family`, in the order in which they are written.
pub(crate) fn names(family: HeaderFamily) -> &'static [HeaderName] {
    static IETF: [HeaderName; 2] = [POLICY, RATE_LIMIT];
    static X_RATE_LIMIT: [HeaderName; 3] = [X_LIMIT, X_REMAINING, X_RESET];
    static DRAFT03: [HeaderName; 3] = [DRAFT03_LIMIT, DRAFT03_REMAINING, DRAFT03_RESET];
    match family {
        HeaderFamily::Ietf => &IETF,
        HeaderFamily::XRateLimit => &X_RATE_LIMIT,
        HeaderFamily::Draft03 => &DRAFT03,
    }
}

/// The limit that decides, as the families describe it.
pub(crate) struct Deciding<'a> {
    pub(crate) limit: Found<'a>,
    /// How it stands.
    pub(crate) report: &'a LimitReport,
    pub(crate) times: Times,
}

/// Where the fields of an answer go. What is written is ASCII without control characters, so no value is left out.
pub(crate) trait Fields {
    /// Puts a list beside what another server said of its own limits.
    fn append(&mut self, name: HeaderName, value: &str);

    /// Puts one value in place of another server's.
    fn insert(&mut self, name: HeaderName, value: &str);
}

impl Fields for HeaderMap {
    fn append(&mut self, name: HeaderName, value: &str) {
        if let Ok(value) = HeaderValue::from_str(value) {
            HeaderMap::append(self, name, value);
        }
    }

    fn insert(&mut self, name: HeaderName, value: &str) {
        if let Ok(value) = HeaderValue::from_str(value) {
            HeaderMap::insert(self, name, value);
        }
    }
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

/// Writes the fields of one answer. The IETF's are lists, which stand beside what another server said of its own limits; the
/// others hold one value, which is ours.
pub(crate) struct Writer<'a, F> {
    pub(crate) text: &'a mut Text,
    pub(crate) fields: &'a mut F,
}

impl<F: Fields> Writer<'_, F> {
    /// `RateLimit-Policy`, the list of all limits, as in drafts 08 to 11.
    pub(crate) fn policy(&mut self, list: &str) {
        self.fields.append(POLICY, list);
    }

    /// `RateLimit`, the limit that decides, as in drafts 08 to 11.
    pub(crate) fn rate_limit(&mut self, deciding: &Deciding<'_>) {
        self.text.push(&deciding.limit.field_name);
        parameter(self.text, ";r=", remaining(deciding.report));
        if let Some(seconds) = deciding.times.more {
            parameter(self.text, ";t=", seconds);
        }
        self.fields.append(RATE_LIMIT, self.text.as_str());
        self.text.clear();
    }

    /// `RateLimit-Limit`, `-Remaining` and `-Reset` as in draft 03: the list of policies stands in `-Limit`. A policy
    /// whose window is no whole number of seconds cannot be written there.
    pub(crate) fn draft03<'a>(
        &mut self,
        limits: impl Iterator<Item = &'a LimitReport>,
        deciding: &Deciding<'_>,
    ) {
        integer(self.text, deciding.report.quota);
        for limit in limits {
            if let Some(seconds) = whole_seconds(limit.window) {
                self.text.push(", ");
                integer(self.text, limit.quota);
                parameter(self.text, ";w=", seconds);
            }
        }
        self.fields.insert(DRAFT03_LIMIT, self.text.as_str());
        self.text.clear();
        self.number(DRAFT03_REMAINING, remaining(deciding.report));
        self.number(DRAFT03_RESET, deciding.times.reset_delta);
    }

    /// `X-RateLimit-Limit`, `-Remaining` and `-Reset`.
    pub(crate) fn x_rate_limit(&mut self, deciding: &Deciding<'_>, form: ResetForm) {
        self.number(X_LIMIT, deciding.report.quota);
        self.number(X_REMAINING, remaining(deciding.report));
        let reset = match form {
            ResetForm::Epoch => deciding.times.reset_epoch,
            ResetForm::Delta => deciding.times.reset_delta,
        };
        self.number(X_RESET, reset);
    }

    /// A field that is one number.
    pub(crate) fn number(&mut self, name: HeaderName, number: u64) {
        self.fields.insert(name, itoa::Buffer::new().format(number.min(LARGEST)));
    }
}

/// The value of `RateLimit-Policy`: an item for each of `limits`.
pub(crate) fn policy_list<'a>(limits: impl Iterator<Item = (Found<'a>, &'a LimitReport)>) -> Text {
    let mut list = Text::with_capacity(128);
    for (limit, report) in limits {
        if !list.is_empty() {
            list.push(", ");
        }
        list.push(&limit.field_name);
        parameter(&mut list, ";q=", report.quota);
        if let Some(seconds) = whole_seconds(report.window) {
            parameter(&mut list, ";w=", seconds);
        }
        if limit.concurrent {
            list.push(";qu=\"concurrent-requests\"");
        }
    }
    list
}

fn parameter(text: &mut Text, key: &str, value: u64) {
    text.push(key);
    integer(text, value);
}

/// Writes `number` as an Integer of a structured field can tell it.
fn integer(text: &mut Text, number: u64) {
    text.number(number.min(LARGEST));
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
