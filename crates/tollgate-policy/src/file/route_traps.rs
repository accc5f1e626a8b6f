//! Warnings on routes: whom their limits tell apart, probes that are limited, and routes that nothing reaches.

use std::collections::HashSet;

use super::nearest::listed;
use super::policy_file::PolicyFile;
use super::shape::At;
use super::sink::Sink;
use crate::route::Glob;
use crate::settings::{IdentityRef, Match, Route, Settings, Source};

/// Says what is risky in the routes of a policy without errors.
pub(crate) fn routes(file: &PolicyFile, settings: &Settings, sink: &mut Sink<'_>) {
    let Some(forms) = &file.routes else { return };
    if forms.value.is_empty() {
        let message = "no routes, so nothing is limited".to_owned();
        sink.warn(forms.name, message, "add `- match: { path: /** }` with `limits`");
    }
    let mut warned = HashSet::new();
    for (form, route) in forms.value.iter().zip(&settings.routes) {
        let Some(limits) = &form.value.limits else { continue };
        everybody(route, settings, limits, sink);
        if let Some(limit) = by_address_alone(route, settings)
            && warned.insert(limit)
        {
            address_alone(file, limit, sink);
        }
    }
    probes(file, settings, sink);
    unreachable(file, settings, sink);
}

fn everybody<T>(route: &Route, settings: &Settings, limits: &At<T>, sink: &mut Sink<'_>) {
    let keyless = |place: &usize| settings.limits[*place].key.is_empty();
    if !route.limits.is_empty() && route.limits.iter().all(keyless) {
        sink.warn(
            limits.span,
            "only one bucket for everybody: one client can use it up for all".to_owned(),
            "list a narrower limit with a key before it",
        );
    }
}

/// The first limit of a route whose limits know clients by address only.
fn by_address_alone(route: &Route, settings: &Settings) -> Option<usize> {
    let by_address = |identity: &IdentityRef| match identity {
        IdentityRef::Ip => true,
        IdentityRef::Declared(place) => {
            let sources = &settings.identities[*place].sources;
            sources.iter().all(|source| matches!(source, Source::Ip))
        }
    };
    let mut keyed = route.limits.iter().filter(|place| !settings.limits[**place].key.is_empty());
    let first = *keyed.clone().next()?;
    keyed.all(|place| settings.limits[*place].key.iter().all(by_address)).then_some(first)
}

fn address_alone(file: &PolicyFile, limit: usize, sink: &mut Sink<'_>) {
    let named = file.limits.as_ref().and_then(|limits| limits.value.get(limit));
    let key = named.and_then(|named| named.value.as_ref()?.value.key.as_ref());
    if let Some(key) = key {
        sink.warn(
            key.span,
            "clients are known by address alone: people behind one NAT share a budget, and one who \
             has many addresses has many budgets"
                .to_owned(),
            "add a limit by account or API key where there is one",
        );
    }
}

/// Paths that orchestrators and load balancers ask again and again.
const PROBES: [&str; 9] = [
    "/healthz",
    "/livez",
    "/readyz",
    "/health",
    "/health-check",
    "/healthcheck",
    "/ready",
    "/live",
    "/ping",
];

fn probes(file: &PolicyFile, settings: &Settings, sink: &mut Sink<'_>) {
    let Some(forms) = &file.routes else { return };
    let open: Vec<Vec<Glob>> = settings.routes.iter().map(open_to_probes).collect();
    let first =
        |probe: &&str| open.iter().position(|globs| globs.iter().any(|glob| glob.matches(probe)));
    let met = PROBES.map(|probe| first(&probe));
    for (place, (form, route)) in forms.value.iter().zip(&settings.routes).enumerate() {
        let Some(limits) = &form.value.limits else { continue };
        let mut limited =
            PROBES.into_iter().zip(met).filter(|(_, met)| *met == Some(place)).peekable();
        let Some((example, _)) = limited.peek().copied().filter(|_| !route.limits.is_empty())
        else {
            continue;
        };
        let help = format!(
            "put `- match: {{ path: {example} }}` with `limits: []` first, if it is asked here"
        );
        let shown = listed(limited.take(3).map(|(probe, _)| probe));
        sink.warn(limits.span, format!("probes such as {shown} are limited here"), &help);
    }
}

/// The globs of a route that a plain GET can meet; none where it cannot.
fn open_to_probes(route: &Route) -> Vec<Glob> {
    let Match { paths, ignore_case, methods, hosts, headers, listeners } = &route.matcher;
    let get = methods.is_empty() || methods.iter().any(|method| method == "GET");
    if !get || !hosts.is_empty() || !headers.is_empty() || !listeners.is_empty() {
        return Vec::new();
    }
    let any = ["/**".to_owned()];
    let paths = if paths.is_empty() { &any } else { paths.as_slice() };
    paths.iter().filter_map(|glob| Glob::new(glob, *ignore_case).ok()).collect()
}

/// Routes behind one that takes everything, or that match what an earlier one matches word for word.
fn unreachable(file: &PolicyFile, settings: &Settings, sink: &mut Sink<'_>) {
    let Some(forms) = &file.routes else { return };
    let mut seen = HashSet::new();
    let mut everything = false;
    for (form, route) in forms.value.iter().zip(&settings.routes) {
        let Match { paths, methods, hosts, headers, listeners, .. } = &route.matcher;
        if everything || !seen.insert(format!("{:?}", route.matcher)) {
            sink.warn(
                form.span,
                "no request reaches this route: one above takes them".to_owned(),
                "the first route that matches wins; put the narrower one first",
            );
        }
        everything |= (paths.is_empty() || paths.iter().any(|glob| glob == "/**"))
            && methods.is_empty()
            && hosts.is_empty()
            && headers.is_empty()
            && listeners.is_empty();
    }
}
