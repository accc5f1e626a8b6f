//! The algorithms' parameters as they are written, and what each means.

use jiff::tz::TimeZone;
use schemars::{Schema, SchemaGenerator};
use serde_json::json;
use tollgate_core::{
    Algorithm, Burst, Concurrency, FixedWindow, LeakyBucket, Micros, Quota, Rate, SlidingLog,
    SlidingWindow, TokenBucket,
};

use super::diagnostic::Span;
use super::duration::format_duration;
use super::nearest::nearest;
use super::node::{Node, Value};
use super::shape::{At, Shape, choice, into_schema, record};
use super::sink::Sink;
use crate::settings::{Calendar, Every};

record! {
    /// Level grows by a rate, up to a burst.
    TokenBucketForm, "a token bucket" {
        /// How fast the level grows.
        required rate: Rate,
        /// The highest level: units (`20`) or a span of the rate (`2s`). The rate's count unless said otherwise.
        optional burst: Burst,
        /// Whether the level starts full (default) or empty.
        optional initial: Initial,
    }
}

/// How a bucket's level starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Initial {
    Full,
    Empty,
}

choice! { Initial, "start of a bucket" { "full" => Initial::Full, "empty" => Initial::Empty, } }

record! {
    /// Requests leave at a rate; some wait. nginx's `limit_req`, exact.
    LeakyBucketForm, "a leaky bucket" {
        /// How fast requests leave.
        required rate: Rate,
        /// How many may wait behind the one being served; 0 unless said otherwise.
        optional burst: u64,
        /// Those that would wait leave at once.
        optional nodelay: bool,
        /// The longest wait that is admitted, or `unlimited`. Must be said where more than 60 s are possible.
        optional max_wait: MaxWait,
    }
}

/// The longest wait: a duration, or `unlimited`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MaxWait(Option<Micros>);

impl Shape for MaxWait {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<MaxWait> {
        match &node.value {
            Value::Scalar(text) if text == "unlimited" => Some(MaxWait(None)),
            _ => Micros::decode(node, sink).map(|wait| MaxWait(Some(wait))),
        }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let span = Micros::schema(generator);
        into_schema(json!({ "anyOf": [span, { "const": "unlimited" }] }))
    }
}

record! {
    /// Counts in windows aligned to the epoch. Lets twice the limit through around a boundary.
    FixedWindowForm, "a fixed window" {
        /// Units a window; 0 refuses everything.
        required limit: u64,
        /// The window.
        required window: Micros,
    }
}

record! {
    /// Counts in cells of a window that moves along.
    SlidingWindowForm, "a sliding window" {
        /// Units a window; 0 refuses everything.
        required limit: u64,
        /// The window; divisible by `cells`.
        required window: Micros,
        /// In how many cells the window is cut, 1 (default) to 100: more are closer to exact.
        optional cells: u64,
    }
}

record! {
    /// Remembers every admission of the last window: exact, and its memory grows with the limit.
    SlidingLogForm, "a sliding log" {
        /// Units a window, at most 10,000; 0 refuses everything.
        required limit: u64,
        /// The window.
        required window: Micros,
    }
}

record! {
    /// Counts in calendar periods.
    QuotaForm, "a quota" {
        /// Units a period; 0 refuses everything.
        required limit: u64,
        /// The period.
        required every: Every,
        /// An IANA zone such as `Europe/Berlin`; `UTC` unless said otherwise.
        optional time_zone: String,
        /// For months: the local day on which the period begins, 1 to 31, or the month's last day where it has none.
        optional starts: u64,
    }
}

choice! { Every, "calendar period" {
    "hour" => Every::Hour,
    "day" => Every::Day,
    "week" => Every::Week,
    "month" => Every::Month,
} }

record! {
    /// Slots held from admission to release.
    ConcurrencyForm, "a concurrency limit" {
        /// Slots; 0 refuses everything.
        required limit: u64,
        /// After this a slot frees itself, should its holder have died.
        required ttl: Micros,
    }
}

/// An algorithm's form: what it means, with everything that is wrong with its own parameters said.
pub(crate) trait Parameters: Shape {
    fn algorithm(&self, sink: &mut Sink<'_>) -> Option<(Algorithm, Option<Calendar>)>;
}

/// A span that is not zero.
fn span(of: Option<&At<Micros>>, what: &str, sink: &mut Sink<'_>) -> Option<Micros> {
    let at = of?;
    if at.value == Micros::ZERO {
        let help = format!("write how long the {what} is, such as `1m`");
        sink.error(at.span, format!("a {what} of no time at all"), help);
        return None;
    }
    Some(at.value)
}

impl Parameters for TokenBucketForm {
    fn algorithm(&self, sink: &mut Sink<'_>) -> Option<(Algorithm, Option<Calendar>)> {
        let rate = self.rate.as_ref()?.value;
        let burst = self.burst.as_ref().map_or(Burst::Units(rate.count), |burst| burst.value);
        if burst == Burst::Units(0) && rate.count > 0 {
            let at = self.burst.as_ref().map_or(Span::default(), |burst| burst.span);
            let help = "write at least 1, unless it is meant to be shut";
            sink.warn(at, "a bucket that holds nothing never admits".to_owned(), help);
        }
        never_refilled(rate, self.burst.as_ref().filter(|at| holds(at.value)), sink);
        let empty = self.initial.as_ref().is_some_and(|initial| initial.value == Initial::Empty);
        let empty_at = empty.then(|| sink.surroundings.moment());
        Some((Algorithm::TokenBucket(TokenBucket { rate, burst, empty_at }), None))
    }
}

/// Whether a burst was written to hold something.
fn holds(burst: Burst) -> bool {
    burst != Burst::Units(0) && burst != Burst::Span(Micros::ZERO)
}

/// A rate of 0 refuses everything, and a burst beside it says that something passes: which of them is meant is not known.
fn never_refilled<T>(rate: Rate, burst: Option<&At<T>>, sink: &mut Sink<'_>) {
    if let (0, Some(burst)) = (rate.count, burst) {
        let message = "a rate of 0 refuses everything, so nothing of this burst would pass";
        let help = "leave `burst` out to refuse everything, or write the rate that refills it";
        sink.error(burst.span, message.to_owned(), help.to_owned());
    }
}

/// The longest wait that a leaky bucket may have without saying so.
const SILENT_WAIT: u128 = 60_000_000;

impl Parameters for LeakyBucketForm {
    fn algorithm(&self, sink: &mut Sink<'_>) -> Option<(Algorithm, Option<Calendar>)> {
        let at = self.rate.as_ref()?;
        let rate = at.value;
        let burst = self.burst.as_ref().map_or(0, |burst| burst.value);
        never_refilled(rate, self.burst.as_ref().filter(|at| at.value > 0), sink);
        let nodelay = self.nodelay.as_ref().is_some_and(|nodelay| nodelay.value);
        let max_wait = self.max_wait.as_ref().and_then(|wait| wait.value.0);
        let waits = u128::from(rate.per.get()) * (u128::from(burst) + 1);
        let unknown = self.nodelay.is_none() && self.written.place("nodelay").is_some();
        let said = self.written.place("max_wait").is_some() || unknown;
        let silent = !said && !nodelay && rate.count > 0;
        if silent && waits > SILENT_WAIT * u128::from(rate.count) {
            let most = u64::try_from(waits / u128::from(rate.count)).map(Micros::new);
            let most = most.map_or("longer".to_owned(), format_duration);
            let help = "add `max_wait: 10s`, or `max_wait: unlimited` where that is meant";
            let at = self.burst.as_ref().map_or(at.span, |burst| burst.span);
            sink.error(at, format!("requests may wait {most} here"), help.to_owned());
        }
        if let (true, Some(wait)) = (nodelay, &self.max_wait) {
            let message = "`max_wait` has no effect with `nodelay`".to_owned();
            sink.warn(wait.name, message, "leave one of them out");
        }
        Some((Algorithm::LeakyBucket(LeakyBucket { rate, burst, nodelay, max_wait }), None))
    }
}

impl Parameters for FixedWindowForm {
    fn algorithm(&self, sink: &mut Sink<'_>) -> Option<(Algorithm, Option<Calendar>)> {
        let window = span(self.window.as_ref(), "window", sink)?;
        let limit = self.limit.as_ref()?.value;
        Some((Algorithm::FixedWindow(FixedWindow { limit, window }), None))
    }
}

impl Parameters for SlidingWindowForm {
    fn algorithm(&self, sink: &mut Sink<'_>) -> Option<(Algorithm, Option<Calendar>)> {
        let window = span(self.window.as_ref(), "window", sink);
        let cells = match &self.cells {
            Some(cells) => cell_count(cells, window, sink)?,
            None => 1,
        };
        let limit = self.limit.as_ref()?.value;
        Some((Algorithm::SlidingWindow(SlidingWindow { limit, window: window?, cells }), None))
    }
}

fn cell_count(cells: &At<u64>, window: Option<Micros>, sink: &mut Sink<'_>) -> Option<u32> {
    let Some(count) = u32::try_from(cells.value).ok().filter(|count| (1..=100).contains(count))
    else {
        let message = format!("a window of {} cells", cells.value);
        sink.error(cells.span, message, "write 1 to 100".to_owned());
        return None;
    };
    let micros = window?.get();
    if micros % u64::from(count) != 0 {
        let fits = (1..=count).rev().find(|fewer| micros % u64::from(*fewer) == 0).unwrap_or(1);
        let window = format_duration(Micros::new(micros));
        let message = format!("a window of {window} cannot be cut in {count} equal cells");
        sink.error(cells.span, message, format!("`cells: {fits}` fits"));
        return None;
    }
    Some(count)
}

impl Parameters for SlidingLogForm {
    fn algorithm(&self, sink: &mut Sink<'_>) -> Option<(Algorithm, Option<Calendar>)> {
        let window = span(self.window.as_ref(), "window", sink);
        let limit = self.limit.as_ref()?;
        if limit.value > 10_000 {
            let help = "at most 10000; `sliding_window` with `cells: 100` comes close at any limit";
            let message = format!("a log of {} entries a key", limit.value);
            sink.error(limit.span, message, help.to_owned());
            return None;
        }
        Some((Algorithm::SlidingLog(SlidingLog { limit: limit.value, window: window? }), None))
    }
}

impl Parameters for QuotaForm {
    fn algorithm(&self, sink: &mut Sink<'_>) -> Option<(Algorithm, Option<Calendar>)> {
        let time_zone = match &self.time_zone {
            Some(zone) => zone_name(zone, sink),
            None => Some("UTC".to_owned()),
        };
        let every = self.every.as_ref().map(|every| every.value);
        let starts = match &self.starts {
            Some(starts) => starting_day(starts, every, sink),
            None => Some(1),
        };
        let calendar = Calendar { every: every?, time_zone: time_zone?, starts: starts? };
        let limit = self.limit.as_ref()?.value;
        Some((Algorithm::Quota(Quota { limit }), Some(calendar)))
    }
}

fn zone_name(zone: &At<String>, sink: &mut Sink<'_>) -> Option<String> {
    let name = zone.value.as_str();
    if TimeZone::get(name).is_ok() {
        return Some(name.to_owned());
    }
    if sink.full() {
        return None;
    }
    let known: Vec<String> = jiff::tz::db().available().map(|name| name.to_string()).collect();
    let help = match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "write an IANA name such as `Europe/Berlin`, or `UTC`".to_owned(),
    };
    sink.error(zone.span, format!("`{name}` is no time zone"), help);
    None
}

fn starting_day(starts: &At<u64>, every: Option<Every>, sink: &mut Sink<'_>) -> Option<u8> {
    if starts.value != 1 && every.is_some_and(|every| every != Every::Month) {
        let help = "leave it out: days begin at midnight, weeks on Monday";
        sink.error(starts.name, "`starts` goes with `every: month`".to_owned(), help.to_owned());
        return None;
    }
    match u8::try_from(starts.value) {
        Ok(day @ 1..=31) => Some(day),
        _ => {
            let message = format!("no month has a day {}", starts.value);
            sink.error(starts.span, message, "write 1 to 31".to_owned());
            None
        }
    }
}

impl Parameters for ConcurrencyForm {
    fn algorithm(&self, sink: &mut Sink<'_>) -> Option<(Algorithm, Option<Calendar>)> {
        let ttl = span(self.ttl.as_ref(), "ttl", sink)?;
        let limit = self.limit.as_ref()?.value;
        Some((Algorithm::Concurrency(Concurrency { limit, ttl }), None))
    }
}
