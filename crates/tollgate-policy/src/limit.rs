//! A policy's limits, compiled: which key, which class, and what a decision tells of each.

use std::sync::Arc;

use tollgate_core::{Algorithm, Limit, Micros};
use tollgate_store::{Definition, OnStoreFailure, Shape, Sharing, SyncMode};

use crate::Name;
use crate::calendar::Periods;
use crate::identity::{describe, spelt};
use crate::settings::{Class, Fold, IdentityRef, LimitSettings, Missing, Settings};

/// A compiled limit.
#[derive(Debug)]
pub(crate) struct CompiledLimit {
    pub(crate) name: Name,
    pub(crate) key: Vec<IdentityRef>,
    pub(crate) by: Option<IdentityRef>,
    pub(crate) classes: Vec<CompiledClass>,
    /// The class of a value that is no class.
    pub(crate) default_class: usize,
    pub(crate) missing: Missing,
    pub(crate) charge_when: Option<Arc<[u16]>>,
    pub(crate) shadow: bool,
    /// While the shared store is away, it goes on with a share of its own, so that something is known of it.
    pub(crate) goes_on: bool,
}

/// One class of it.
#[derive(Debug)]
pub(crate) struct CompiledClass {
    /// The value that chooses it, as the identity spells it.
    value: Box<[u8]>,
    /// Its place among the policy's definitions; `None` is unlimited.
    pub(crate) definition: Option<usize>,
    /// The most that it ever admits at once.
    pub(crate) quota: u64,
    /// The window, or the time that a full burst takes to refill.
    pub(crate) window: Option<Micros>,
    /// It holds slots.
    pub(crate) slots: bool,
    /// A quota's calendar.
    pub(crate) periods: Option<Arc<Periods>>,
}

impl CompiledLimit {
    /// Compiles `limit`, adding its definitions to `definitions`; `problem` is told of all that is wrong with it.
    pub(crate) fn new(
        settings: &Settings,
        limit: &LimitSettings,
        definitions: &mut Vec<Definition>,
        problem: &mut dyn FnMut(String),
    ) -> CompiledLimit {
        let fold = fold_of(settings, limit.by);
        let mut classes = Vec::with_capacity(limit.classes.len());
        for class in &limit.classes {
            classes.push(compile_class(settings, limit, class, fold, definitions, problem));
        }
        for reference in limit.key.iter().chain(&limit.by) {
            if matches!(reference, IdentityRef::Declared(place) if *place >= settings.identities.len())
            {
                problem("it counts by an identity that is not there".into());
            }
        }
        CompiledLimit {
            name: Name::from(&*limit.name),
            key: limit.key.clone(),
            by: limit.by,
            default_class: default_class(settings, limit, &classes, problem),
            classes,
            missing: limit.missing,
            charge_when: limit.charge_when.as_deref().map(Arc::from),
            shadow: limit.rules.shadow,
            goes_on: limit.on_store_failure == OnStoreFailure::Share,
        }
    }

    /// The class that `value` chooses.
    pub(crate) fn class(&self, value: &[u8]) -> usize {
        let chosen = self.classes.iter().position(|class| *class.value == *value);
        chosen.unwrap_or(self.default_class)
    }
}

fn fold_of(settings: &Settings, by: Option<IdentityRef>) -> Fold {
    match by {
        Some(IdentityRef::Declared(place)) => {
            settings.identities.get(place).map(|identity| identity.fold).unwrap_or_default()
        }
        _ => Fold::default(),
    }
}

fn compile_class(
    settings: &Settings,
    limit: &LimitSettings,
    class: &Class,
    fold: Fold,
    definitions: &mut Vec<Definition>,
    problem: &mut dyn FnMut(String),
) -> CompiledClass {
    let value = class.name.as_deref().map(|name| spelt(name, fold)).unwrap_or_default().into();
    let unlimited = CompiledClass {
        value,
        definition: None,
        quota: 0,
        window: None,
        slots: false,
        periods: None,
    };
    let Some(algorithm) = &class.algorithm else { return unlimited };
    let periods = match (algorithm, &class.calendar) {
        (Algorithm::Quota(_), None) => {
            problem("a quota needs a calendar".into());
            None
        }
        (Algorithm::Quota(_), Some(calendar)) => {
            Periods::new(calendar).map_err(&mut *problem).ok().map(Arc::new)
        }
        _ => None,
    };
    let checked = match Limit::new(algorithm.clone(), limit.rules.clone()) {
        Ok(checked) => checked,
        Err(error) => {
            problem(error.to_string());
            return unlimited;
        }
    };
    if settings.store.is_shared()
        && let Err(why) = countable(&checked, limit.sync)
    {
        problem(why);
    }
    let (quota, window) = (checked.capacity(), window(&checked));
    definitions.push(Definition {
        name: Arc::clone(&limit.name),
        class: class.name.clone(),
        limit: checked,
        shape: shape(settings, limit, class, algorithm),
        max_keys: limit.max_keys,
        sharing: Sharing {
            sync: limit.sync,
            on_store_failure: limit.on_store_failure,
            given_back: limit.charge_when.is_some(),
        },
    });
    let slots = matches!(algorithm, Algorithm::Concurrency(_));
    CompiledClass {
        definition: Some(definitions.len() - 1),
        quota,
        window,
        slots,
        periods,
        ..unlimited
    }
}

/// Whether a shared store can count `limit` exactly, where it is asked at all.
///
/// # Errors
/// What is too large, and what would be right.
#[cfg(feature = "redis")]
pub(crate) fn countable(limit: &Limit, sync: SyncMode) -> Result<(), String> {
    match sync {
        SyncMode::Share | SyncMode::Node => Ok(()),
        SyncMode::Exact | SyncMode::Leased | SyncMode::Estimate { .. } => {
            tollgate_store::RedisStore::check(limit).map_err(|why| why.to_string())
        }
    }
}

#[cfg(not(feature = "redis"))]
pub(crate) fn countable(_: &Limit, _: SyncMode) -> Result<(), String> {
    Ok(())
}

/// Without `by` the only class; with it, the class that the identity's default chooses.
fn default_class(
    settings: &Settings,
    limit: &LimitSettings,
    classes: &[CompiledClass],
    problem: &mut dyn FnMut(String),
) -> usize {
    let Some(by) = limit.by else {
        if limit.classes.len() != 1 {
            problem("without `by` it needs exactly one set of parameters".into());
        }
        return 0;
    };
    let identity = match by {
        IdentityRef::Ip => None,
        IdentityRef::Declared(place) => settings.identities.get(place),
    };
    let default =
        identity.and_then(|identity| Some(spelt(identity.default.as_ref()?, identity.fold)));
    let chosen = default.and_then(|text| classes.iter().position(|class| *class.value == *text));
    chosen.unwrap_or_else(|| {
        problem("`by` needs an identity with a default that is one of the limit's classes".into());
        0
    })
}

/// What must not change for the counts to survive a reload: algorithm, key, `by`, window, cells, every, zone, starts. The
/// sources of the key's identities are part of the key, for a value says by its place which source it came from.
fn shape(
    settings: &Settings,
    limit: &LimitSettings,
    class: &Class,
    algorithm: &Algorithm,
) -> Shape {
    let name = |reference: &IdentityRef| match reference {
        IdentityRef::Ip => "ip".to_owned(),
        IdentityRef::Declared(place) => describe(settings, *place),
    };
    let key: Vec<_> = limit.key.iter().map(name).collect();
    let by = limit.by.map(|reference| match reference {
        IdentityRef::Ip => "ip",
        IdentityRef::Declared(place) => {
            settings.identities.get(place).map_or("", |known| &known.name)
        }
    });
    let kind = match algorithm {
        Algorithm::TokenBucket(_) => "token_bucket".to_owned(),
        Algorithm::LeakyBucket(_) => "leaky_bucket".to_owned(),
        Algorithm::FixedWindow(window) => format!("fixed_window {}", window.window.get()),
        Algorithm::SlidingWindow(window) => {
            format!("sliding_window {} {}", window.window.get(), window.cells)
        }
        Algorithm::SlidingLog(log) => format!("sliding_log {}", log.window.get()),
        Algorithm::Quota(_) => format!("quota {:?}", class.calendar),
        Algorithm::Concurrency(_) => "concurrency".to_owned(),
    };
    Shape(format!("{kind} key {key:?} by {by:?}"))
}

/// A limit's window; for a bucket the time that a full one takes to refill, rounded up.
fn window(limit: &Limit) -> Option<Micros> {
    match limit.algorithm() {
        Algorithm::FixedWindow(spec) => Some(spec.window),
        Algorithm::SlidingWindow(spec) => Some(spec.window),
        Algorithm::SlidingLog(spec) => Some(spec.window),
        _ => limit.bucket_ticks().map(|ticks| {
            let refill = u128::from(limit.capacity()) * u128::from(ticks.unit);
            let micros = refill.div_ceil(u128::from(ticks.per_micro));
            Micros::new(u64::try_from(micros).unwrap_or(u64::MAX))
        }),
    }
}
