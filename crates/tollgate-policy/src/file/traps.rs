//! Warnings on limits that do what they say, and perhaps not what their writer expects.

use tollgate_core::{Algorithm, Burst, LeakyBucket, Micros, TokenBucket};
use tollgate_store::SyncMode;

use super::duration::format_duration;
use super::limits::LimitForm;
use super::parameters::Written;
use super::policy_file::PolicyFile;
use super::sink::Sink;
use crate::settings::{Class, Every, From, Identity, IdentityRef, LimitSettings, Settings, Source};

/// Says what is risky in the limits of a policy without errors.
pub(crate) fn limits(file: &PolicyFile, settings: &Settings, sink: &mut Sink<'_>) {
    let forms = file.limits.as_ref().map_or(&[][..], |limits| limits.value.as_slice());
    for (named, limit) in forms.iter().zip(&settings.limits) {
        let Some(form) = named.value.as_ref().map(|form| &form.value) else { continue };
        client_written_class(form, limit, settings, sink);
        if settings.store.is_shared() {
            slow_estimate(form, limit, sink);
        } else {
            if settings.store.snapshot().is_none() {
                forgotten(form, limit, sink);
            }
            nobody_to_share_with(form, sink);
        }
        for class in &limit.classes {
            one_class(form, class, sink);
        }
    }
    unused(file, settings, sink);
}

/// Longest burst, as a span of the rate, that is no trap.
const LONG_BURST: u128 = 10_000_000;

const DAY: Micros = Micros::from_secs(86_400);

fn one_class(form: &LimitForm, class: &Class, sink: &mut Sink<'_>) {
    let written = Written::of(form, class);
    match &class.algorithm {
        Some(Algorithm::TokenBucket(bucket)) => long_burst(bucket, &written, sink),
        Some(Algorithm::LeakyBucket(bucket)) => leaky(bucket, &written, sink),
        Some(Algorithm::FixedWindow(window)) if window.limit > 0 => {
            edge(window.limit, window.window, &written, sink);
        }
        _ => {}
    }
}

/// Whether a class counts for a day or longer.
fn counts_for_days(class: &Class) -> bool {
    match &class.algorithm {
        Some(Algorithm::FixedWindow(window)) => window.window >= DAY,
        Some(Algorithm::SlidingWindow(window)) => window.window >= DAY,
        Some(Algorithm::SlidingLog(log)) => log.window >= DAY,
        Some(Algorithm::Quota(_)) => {
            class.calendar.as_ref().is_none_or(|calendar| calendar.every != Every::Hour)
        }
        _ => false,
    }
}

/// A memory store without a snapshot forgets at every restart; said once a limit.
fn forgotten(form: &LimitForm, limit: &LimitSettings, sink: &mut Sink<'_>) {
    if limit.classes.iter().any(counts_for_days) {
        sink.warn(
            form.algorithm().0,
            "counts of a day or longer live in memory without a snapshot: a restart forgets them"
                .to_owned(),
            "keep them in a file: `store: { memory: { snapshot: counts.snapshot } }`",
        );
    }
}

/// How nodes share means nothing to a store of one process. A policy may be tried out on such a store, so it is no error.
fn nobody_to_share_with(form: &LimitForm, sink: &mut Sink<'_>) {
    let alone = |sync| matches!(sync, SyncMode::Exact | SyncMode::Node);
    let sync = form.sync.as_ref().filter(|sync| !alone(sync.value)).map(|sync| ("sync", sync.name));
    let failure = form.on_store_failure.as_ref().map(|said| ("on_store_failure", said.name));
    for (field, at) in sync.into_iter().chain(failure) {
        sink.warn(
            at,
            format!("`{field}` has no effect with `store: memory`: one process counts for itself"),
            "name a shared store, such as `store: { url: redis://127.0.0.1:6379 }`, or leave it out",
        );
    }
}

/// A node that learns of the others after the window is over counts for itself.
fn slow_estimate(form: &LimitForm, limit: &LimitSettings, sink: &mut Sink<'_>) {
    let (Some(sync), SyncMode::Estimate { every }) = (&form.sync, limit.sync) else {
        return;
    };
    let window = limit.classes.iter().filter_map(|class| window(class.algorithm.as_ref()?)).min();
    if let Some(window) = window.filter(|window| *window <= every) {
        let (every, window) = (format_duration(every), format_duration(window));
        sink.warn(
            sync.span,
            format!("nodes learn of each other every {every}, and a window is over after {window}"),
            "write an interval of at most a tenth of the window, or use `sync: leased`",
        );
    }
}

fn window(algorithm: &Algorithm) -> Option<Micros> {
    match algorithm {
        Algorithm::FixedWindow(window) => Some(window.window),
        Algorithm::SlidingWindow(window) => Some(window.window),
        _ => None,
    }
}

fn long_burst(bucket: &TokenBucket, written: &Written<'_>, sink: &mut Sink<'_>) {
    let (count, per) = (u128::from(bucket.rate.count), u128::from(bucket.rate.per.get()));
    let (units, span) = match bucket.burst {
        _ if count == 0 => return,
        Burst::Units(units) => (u128::from(units), u128::from(units) * per / count),
        Burst::Span(span) => {
            let span = u128::from(span.get());
            (span * count / per, span)
        }
    };
    if units < 2 || span <= LONG_BURST {
        return;
    }
    let said = written.parameter("burst");
    let whence = if said.is_some() { "" } else { " (the rate's count, since `burst` is not said)" };
    sink.warn(
        said.unwrap_or(written.name),
        format!(
            "a burst of {units}{whence} is {} of the rate: who was idle may send {units} at once",
            words(span)
        ),
        "write a smaller `burst`, such as `burst: 2s`, where a sudden rush hurts",
    );
}

fn words(micros: u128) -> String {
    let whole_seconds = u64::try_from(micros / 1_000_000).unwrap_or(u64::MAX);
    format_duration(Micros::from_secs(whole_seconds))
}

/// A wait below a millisecond, in microseconds, is no news to anybody.
const SHORT_WAIT: u128 = 1_000;

fn leaky(bucket: &LeakyBucket, written: &Written<'_>, sink: &mut Sink<'_>) {
    let LeakyBucket { rate, burst, nodelay, .. } = *bucket;
    if burst == 0 || rate.count == 0 {
        return;
    }
    let at = written.parameter("burst").unwrap_or(written.name);
    let queue = u128::from(burst) * u128::from(rate.per.get()) / u128::from(rate.count);
    if nodelay {
        if queue > LONG_BURST {
            let span = words(queue);
            let message =
                format!("a burst of {burst} is {span} of the rate, all let through at once");
            sink.warn(at, message, "write a smaller `burst` where a sudden rush hurts");
        }
    } else if queue >= SHORT_WAIT && written.parameter("max_wait").is_none() {
        let wait = format_duration(Micros::new(u64::try_from(queue).unwrap_or(u64::MAX)));
        sink.warn(
            at,
            format!("requests may wait up to {wait} here, and `max_wait` is not said"),
            "say how long a client may be kept waiting, such as `max_wait: 2s`, or `unlimited`",
        );
    }
}

fn edge(limit: u64, window: Micros, written: &Written<'_>, sink: &mut Sink<'_>) {
    let twice = u128::from(limit) * 2;
    let window = format_duration(window);
    sink.warn(
        written.name,
        format!(
            "a fixed window lets twice its limit through around a boundary: {twice} in a moment, \
             not {limit} per {window}"
        ),
        "use `sliding_window` with the same parameters where such a burst hurts",
    );
}

fn client_written_class(
    form: &LimitForm,
    limit: &LimitSettings,
    settings: &Settings,
    sink: &mut Sink<'_>,
) {
    let (Some(by), Some(IdentityRef::Declared(place))) = (&form.by, limit.by) else { return };
    let Some(source) = client_written(place, &settings.identities) else { return };
    sink.warn(
        by.span,
        format!("the class comes from {source}, so a client can choose its own plan"),
        "take the class from a verified source: `api_key`, `jwt`, or a table",
    );
}

/// The first source of an identity, or of one that it is looked up by, whose value a client can make up.
fn client_written(place: usize, identities: &[Identity]) -> Option<&'static str> {
    let mut left = vec![place];
    let mut seen = Vec::new();
    while let Some(place) = left.pop() {
        if seen.contains(&place) {
            continue;
        }
        seen.push(place);
        for source in &identities.get(place)?.sources {
            match source {
                Source::Header { from: From::Anyone, .. } => return Some("a header from anyone"),
                Source::Cookie { from: From::Anyone, .. } => return Some("a cookie from anyone"),
                Source::Query { .. } => return Some("the query"),
                Source::Path { .. } => return Some("the path"),
                Source::BasicUser => return Some("an unverified name"),
                Source::Json { .. } | Source::Form { .. } => return Some("the body"),
                Source::Table { value_of, .. } => left.push(*value_of),
                _ => {}
            }
        }
    }
    None
}

fn unused(file: &PolicyFile, settings: &Settings, sink: &mut Sink<'_>) {
    let mut used = vec![false; settings.limits.len()];
    for place in settings.routes.iter().flat_map(|route| &route.limits) {
        if let Some(used) = used.get_mut(*place) {
            *used = true;
        }
    }
    let forms = file.limits.as_ref().map_or(&[][..], |limits| limits.value.as_slice());
    for (named, _) in forms.iter().zip(used).filter(|(_, used)| !used) {
        let message = format!("no route asks the limit `{}`", named.name);
        sink.warn(named.name_span, message, "list it in a route's `limits`, or remove it");
    }
}
