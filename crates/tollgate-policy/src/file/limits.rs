//! `limits:`, the named rules.

use tollgate_core::{Limit, Rules, SpecError};
use tollgate_store::{OnStoreFailure, SyncMode};

use super::algorithms::{
    ConcurrencyForm, FixedWindowForm, LeakyBucketForm, QuotaForm, SlidingLogForm,
    SlidingWindowForm, TokenBucketForm,
};
use super::classes::{ByClass, Classes};
use super::collections::{AtLeastOne, Later, Named, OneOrMany};
use super::diagnostic::Span;
use super::names::Known;
use super::nearest::listed;
use super::node::Node;
use super::parameters::Written;
use super::shape::{At, choice, record};
use super::sink::Sink;
use super::sync::check_sync;
use crate::limit::countable;
use crate::settings::{Class, Identity, IdentityRef, LimitSettings, Missing, Refusal};

record! {
    /// A named rule: a key, and exactly one algorithm with its parameters.
    LimitForm, "a limit" {
        /// Who is counted: names of identities, or `ip`. `[]` is one bucket for everybody.
        required key: OneOrMany<String>,
        /// The identity whose value (a plan, a tier) chooses among the algorithm's classes.
        optional by: String,
        /// Level grows by a rate, up to a burst.
        optional token_bucket: Later<ByClass<TokenBucketForm>>,
        /// Requests leave at a rate; some wait.
        optional leaky_bucket: Later<ByClass<LeakyBucketForm>>,
        /// Counts in windows aligned to the epoch.
        optional fixed_window: Later<ByClass<FixedWindowForm>>,
        /// Counts in cells of a window that moves along.
        optional sliding_window: Later<ByClass<SlidingWindowForm>>,
        /// Remembers every admission of the last window.
        optional sliding_log: Later<ByClass<SlidingLogForm>>,
        /// Counts in calendar periods.
        optional quota: Later<ByClass<QuotaForm>>,
        /// Slots held from admission to release.
        optional concurrency: Later<ByClass<ConcurrencyForm>>,
        /// Charged also when the request is refused, by this limit or another (brute force).
        optional count_refused: bool,
        /// Gives the charge back where the answer does not count (failed logins).
        optional charge_when: ChargeWhenForm,
        /// Admits while anything is left and may go into debt (costs known late).
        optional overdraw: bool,
        /// With `overdraw`: the deepest debt, in units; one capacity unless said otherwise.
        optional max_debt: u64,
        /// Counts and reports, never decides.
        optional shadow: bool,
        /// How nodes count it together: `exact` (default), `leased`, `estimate`, `share`, `node`.
        optional sync: SyncMode,
        /// What holds while the shared store is away: `share` (default), `allow`, `refuse`.
        optional on_store_failure: OnStoreFailure,
        /// What happens where an identity of the key is missing: `ip` (default) stands in.
        optional missing: Missing,
        /// How a refusal looks.
        optional refusal: RefusalForm,
        /// Most keys that are remembered.
        optional max_keys: u64,
    }
}

record! {
    /// Which answers count.
    ChargeWhenForm, "`charge_when`" {
        /// Status codes that count; others give the charge back.
        required status: AtLeastOne<u64>,
    }
}

record! {
    /// How a refusal looks.
    RefusalForm, "`refusal`" {
        /// 429 unless said otherwise; a limit of the machines' own may say 503.
        optional status: u64,
        /// The problem's title.
        optional title: String,
        /// The problem's detail.
        optional detail: String,
    }
}

choice! { Missing, "stand-in for a missing identity" {
    "ip" => Missing::Ip,
    "share" => Missing::Share,
    "skip" => Missing::Skip,
    "reject" => Missing::Reject,
} }

/// The names of the algorithms, as fields of a limit.
pub(crate) const ALGORITHMS: [&str; 7] = [
    "token_bucket",
    "leaky_bucket",
    "fixed_window",
    "sliding_window",
    "sliding_log",
    "quota",
    "concurrency",
];

impl LimitForm {
    /// Where the algorithm's name stands, and its parameters.
    pub(crate) fn algorithm(&self) -> (Span, Option<&Node>) {
        let written = [
            self.token_bucket.as_ref().map(|at| (at.name, &at.value.0)),
            self.leaky_bucket.as_ref().map(|at| (at.name, &at.value.0)),
            self.fixed_window.as_ref().map(|at| (at.name, &at.value.0)),
            self.sliding_window.as_ref().map(|at| (at.name, &at.value.0)),
            self.sliding_log.as_ref().map(|at| (at.name, &at.value.0)),
            self.quota.as_ref().map(|at| (at.name, &at.value.0)),
            self.concurrency.as_ref().map(|at| (at.name, &at.value.0)),
        ];
        let found = written.into_iter().flatten().next();
        found.map_or((Span::default(), None), |(name, node)| (name, Some(node)))
    }
}

/// Keys that a limit remembers unless it says otherwise.
const MAX_KEYS: usize = 1_000_000;

/// The limits.
pub(crate) fn limits(
    section: Option<&At<Vec<Named<LimitForm>>>>,
    world: &World<'_>,
    sink: &mut Sink<'_>,
) -> Vec<LimitSettings> {
    let declared = section.map_or(&[][..], |section| section.value.as_slice());
    declared.iter().map(|named| limit(named, world, sink)).collect()
}

/// What limits refer to.
pub(crate) struct World<'f> {
    /// The names of the declared identities.
    pub(crate) names: &'f Known,
    /// The identities.
    pub(crate) declared: &'f [Identity],
    /// Whether a shared store counts.
    pub(crate) shared: bool,
}

fn limit(named: &Named<LimitForm>, world: &World<'_>, sink: &mut Sink<'_>) -> LimitSettings {
    let mut made = LimitSettings {
        name: named.name.as_str().into(),
        key: Vec::new(),
        by: None,
        classes: Vec::new(),
        rules: Rules::default(),
        charge_when: None,
        missing: Missing::default(),
        refusal: Refusal { status: 429, title: None, detail: None },
        max_keys: MAX_KEYS,
        sync: SyncMode::default(),
        on_store_failure: OnStoreFailure::default(),
    };
    let Some(form) = named.value.as_ref().map(|form| &form.value) else { return made };
    if let Some(key) = &form.key {
        made.key = key.value.0.iter().filter_map(|name| identity(name, world, sink)).collect();
        refuse_twice(&key.value.0, sink);
    }
    made.by = form.by.as_ref().and_then(|by| identity(by, world, sink));
    made.rules = rules(form);
    made.missing = form.missing.as_ref().map_or(made.missing, |missing| missing.value);
    made.charge_when = form.charge_when.as_ref().map(|form| statuses(form, sink));
    if let Some(refusal) = &form.refusal {
        made.refusal = self::refusal(&refusal.value, sink);
    }
    if let Some(max_keys) = &form.max_keys {
        made.max_keys = self::max_keys(max_keys, sink);
    }
    let classes = algorithm(form, named.name_span, &made, world, sink);
    if let Some(sync) = &form.sync {
        made.sync = sync.value;
        check_sync(form, sync, &classes, sink);
    }
    made.on_store_failure =
        form.on_store_failure.as_ref().map_or(made.on_store_failure, |said| said.value);
    made.classes = classes.into_iter().map(|(class, _)| class).collect();
    made
}

/// The identity that a key or `by` names.
fn identity(name: &At<String>, world: &World<'_>, sink: &mut Sink<'_>) -> Option<IdentityRef> {
    if name.value == "ip" {
        return Some(IdentityRef::Ip);
    }
    if let Some(place) = world.names.look_up(&name.value) {
        return Some(IdentityRef::Declared(place));
    }
    let mut help = world.names.help(&name.value);
    help.push_str(
        ", and `ip` is always there; sources such as a header are named under `identity`",
    );
    sink.error(name.span, format!("there is no identity `{}`", name.value), help);
    None
}

fn refuse_twice(names: &[At<String>], sink: &mut Sink<'_>) {
    for (place, name) in names.iter().enumerate() {
        if names[..place].iter().any(|other| other.value == name.value) {
            let message = format!("`{}` is twice in this list", name.value);
            sink.error(name.span, message, "name it once".to_owned());
        }
    }
}

/// The one algorithm, class by class, each with the place of its parameters.
fn algorithm(
    form: &LimitForm,
    at: Span,
    limit: &LimitSettings,
    world: &World<'_>,
    sink: &mut Sink<'_>,
) -> Vec<(Class, Span)> {
    let chosen = form.written.among(&ALGORITHMS);
    let [(name, _)] = chosen.as_slice() else {
        let (at, message) = match chosen.last() {
            Some((_, at)) => (*at, "a limit has one algorithm, and here is another"),
            None if form.written.strangers() => return Vec::new(),
            None => (at, "a limit without an algorithm"),
        };
        let help = format!("write exactly one of {}", listed(ALGORITHMS));
        sink.error(at, message.to_owned(), help);
        return Vec::new();
    };
    let rules_fit = rules_that_go(form, name, sink) && rules_fit_each_other(form, sink);
    let by = match (&form.by, limit.by) {
        (Some(by), Some(identity)) => Some((by, default_class(by, identity, world, sink))),
        _ => None,
    };
    let unresolved = form.written.place("by").is_some() && by.is_none();
    let classes = Classes { by, unresolved };
    let found = match *name {
        "token_bucket" => classes.read(form.token_bucket.as_ref(), sink),
        "leaky_bucket" => classes.read(form.leaky_bucket.as_ref(), sink),
        "fixed_window" => classes.read(form.fixed_window.as_ref(), sink),
        "sliding_window" => classes.read(form.sliding_window.as_ref(), sink),
        "sliding_log" => classes.read(form.sliding_log.as_ref(), sink),
        "quota" => classes.read(form.quota.as_ref(), sink),
        _ => classes.read(form.concurrency.as_ref(), sink),
    };
    // What the core would say of a rule was said already, and better.
    let rules = if rules_fit { limit.rules.clone() } else { Rules::default() };
    // Where it is in doubt how nodes count it, nothing is said of whether they can.
    let sync = form.sync.as_ref().map_or(SyncMode::Exact, |sync| sync.value);
    let shared = world.shared && (form.sync.is_some() || form.written.place("sync").is_none());
    for (class, at) in &found {
        checked(form, class, *at, &rules, shared.then_some(sync), sink);
    }
    found
}

/// Asks the core whether the parameters can be computed with, and the shared store whether it can count them.
fn checked(
    form: &LimitForm,
    class: &Class,
    at: Span,
    rules: &Rules,
    shared: Option<SyncMode>,
    sink: &mut Sink<'_>,
) {
    let Some(algorithm) = &class.algorithm else { return };
    let wrong = match (Limit::new(algorithm.clone(), rules.clone()), shared) {
        (Err(wrong), _) => wrong,
        (Ok(limit), Some(sync)) => {
            if let Err(wrong) = countable(&limit, sync) {
                sink.error(at, wrong, None);
            }
            return;
        }
        (Ok(_), None) => return,
    };
    let parameter = match &wrong {
        SpecError::ZeroSpan { parameter }
        | SpecError::SpanTooLong { parameter, .. }
        | SpecError::TooLarge { parameter, .. }
        | SpecError::BucketTooLarge { parameter } => Some(*parameter),
        _ => None,
    };
    let written = Written::of(form, class);
    let at = parameter.and_then(|name| written.parameter(name)).unwrap_or(at);
    sink.error(at, wrong.to_string(), None);
}

/// The class that stands in: the `default` of the identity that `by` names.
fn default_class(
    by: &At<String>,
    identity: IdentityRef,
    world: &World<'_>,
    sink: &mut Sink<'_>,
) -> Option<String> {
    let declared = match identity {
        IdentityRef::Ip => None,
        IdentityRef::Declared(place) => world.declared.get(place),
    };
    let default = declared.and_then(|identity| identity.default.as_deref());
    if default.is_none() {
        let message =
            format!("`{}` has no default, so some requests would have no class", by.value);
        let help = "give the identity a `default:` that is one of the classes";
        sink.error(by.span, message, help.to_owned());
    }
    default.map(str::to_owned)
}

/// Whether the rules go with the algorithm.
fn rules_that_go(form: &LimitForm, algorithm: &str, sink: &mut Sink<'_>) -> bool {
    let mut fit = true;
    if let Some(At { value: true, name, .. }) = form.count_refused
        && algorithm == "concurrency"
    {
        let help = "leave it out: a refused request holds no slot";
        let message = "`count_refused` goes not with `concurrency`".to_owned();
        sink.error(name, message, help.to_owned());
        fit = false;
    }
    if let Some(At { value: true, name, .. }) = form.overdraw {
        let fitting = ["token_bucket", "fixed_window", "sliding_window", "quota"];
        if !fitting.contains(&algorithm) {
            let help = format!("it goes with {}", listed(fitting));
            sink.error(name, format!("`overdraw` goes not with `{algorithm}`"), help);
            fit = false;
        }
    }
    fit
}

fn rules_fit_each_other(form: &LimitForm, sink: &mut Sink<'_>) -> bool {
    let overdraws = form.overdraw.as_ref().is_some_and(|overdraw| overdraw.value);
    let (Some(debt), false) = (&form.max_debt, overdraws) else { return true };
    let help = "add `overdraw: true`, or leave it out";
    sink.error(debt.name, "`max_debt` goes with `overdraw`".to_owned(), help.to_owned());
    false
}

fn rules(form: &LimitForm) -> Rules {
    let yes = |flag: &Option<At<bool>>| flag.as_ref().is_some_and(|flag| flag.value);
    Rules {
        count_refused: yes(&form.count_refused),
        overdraw: yes(&form.overdraw),
        max_debt: form.max_debt.as_ref().map(|debt| debt.value),
        shadow: yes(&form.shadow),
    }
}

fn statuses(form: &At<ChargeWhenForm>, sink: &mut Sink<'_>) -> Vec<u16> {
    let Some(list) = &form.value.status else { return Vec::new() };
    list.value.0.iter().filter_map(|status| in_range(status, 100..=599, sink)).collect()
}

/// A status within `range`.
fn in_range(
    status: &At<u64>,
    range: std::ops::RangeInclusive<u16>,
    sink: &mut Sink<'_>,
) -> Option<u16> {
    let fitting = u16::try_from(status.value).ok().filter(|status| range.contains(status));
    if fitting.is_none() {
        let help = format!("write {} to {}", range.start(), range.end());
        sink.error(status.span, format!("{} is no status for this", status.value), help);
    }
    fitting
}

fn refusal(form: &RefusalForm, sink: &mut Sink<'_>) -> Refusal {
    let status = form.status.as_ref().and_then(|status| in_range(status, 400..=599, sink));
    Refusal {
        status: status.unwrap_or(429),
        title: form.title.as_ref().map(|title| title.value.clone()),
        detail: form.detail.as_ref().map(|detail| detail.value.clone()),
    }
}

fn max_keys(max_keys: &At<u64>, sink: &mut Sink<'_>) -> usize {
    match usize::try_from(max_keys.value) {
        Ok(count @ 1..=1_000_000_000) => count,
        _ => {
            let help = "write 1 to 1000000000";
            sink.error(max_keys.span, format!("{} keys", max_keys.value), help.to_owned());
            MAX_KEYS
        }
    }
}
