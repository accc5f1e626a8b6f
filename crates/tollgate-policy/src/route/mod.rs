//! Which route a request takes: the first that matches.

mod glob;
mod host;

use std::sync::Arc;

use http::HeaderName;

use crate::Facts;
use crate::settings::{Match, Route};
pub(crate) use glob::Glob;
use host::Host;

/// The routes' conditions, compiled. Matching allocates nothing.
#[derive(Debug)]
pub(crate) struct Router {
    routes: Vec<Conditions>,
    /// Some route asks for a host.
    by_host: bool,
}

/// What one route asks for; all of it must hold.
#[derive(Debug)]
struct Conditions {
    /// One of them must match; empty is any path.
    paths: Vec<Glob>,
    methods: Vec<String>,
    hosts: Vec<Host>,
    headers: Vec<(HeaderName, Option<String>)>,
    listeners: Vec<Arc<str>>,
}

impl Router {
    /// Compiles `routes`; `problem` is told of each that cannot be, by its place.
    pub(crate) fn new(routes: &[Route], problem: &mut dyn FnMut(usize, String)) -> Router {
        let compile = |(place, route): (usize, &Route)| {
            Conditions::new(&route.matcher, &mut |text| problem(place, text))
        };
        let by_host = routes.iter().any(|route| !route.matcher.hosts.is_empty());
        Router { routes: routes.iter().enumerate().map(compile).collect(), by_host }
    }

    /// The place of the first route that `facts`, with their path in normal form, match.
    pub(crate) fn find(&self, facts: &Facts<'_>, path: &str) -> Option<usize> {
        let host = if self.by_host { facts.host().map(host::bare) } else { None };
        self.routes.iter().position(|conditions| conditions.hold(facts, path, host))
    }
}

impl Conditions {
    fn new(matcher: &Match, problem: &mut dyn FnMut(String)) -> Conditions {
        let glob =
            |pattern: &String| Glob::new(pattern, matcher.ignore_case).map_err(&mut *problem).ok();
        let paths = matcher.paths.iter().filter_map(glob).collect();
        let mut headers = Vec::new();
        for header in &matcher.headers {
            match HeaderName::from_bytes(header.name.as_bytes()) {
                Ok(name) => headers.push((name, header.value.clone())),
                Err(_) => problem(format!("{:?} is no header's name", header.name)),
            }
        }
        Conditions {
            paths,
            methods: matcher.methods.clone(),
            hosts: matcher.hosts.iter().map(|host| Host::new(host)).collect(),
            headers,
            listeners: matcher.listeners.clone(),
        }
    }

    #[inline]
    fn hold(&self, facts: &Facts<'_>, path: &str, host: Option<&str>) -> bool {
        // Methods are case-sensitive (RFC 9110, 9.1), and HEAD is itself, not GET.
        (self.methods.is_empty() || self.methods.iter().any(|method| method == facts.method))
            && (self.paths.is_empty() || self.paths.iter().any(|glob| glob.matches(path)))
            && (self.hosts.is_empty()
                || host.is_some_and(|host| self.hosts.iter().any(|known| known.matches(host))))
            && (self.listeners.is_empty()
                || facts.listener.is_some_and(|listener| {
                    self.listeners.iter().any(|known| **known == *listener)
                }))
            && self.headers.iter().all(|(name, wanted)| has(facts, name, wanted.as_deref()))
    }
}

/// Whether some field line called `name` is there, with the `wanted` value where one is.
fn has(facts: &Facts<'_>, name: &HeaderName, wanted: Option<&str>) -> bool {
    let mut values = facts.headers.values(name);
    values.any(|value| wanted.is_none_or(|wanted| value == wanted.as_bytes()))
}

/// Whether it is a CORS preflight: OPTIONS with Origin and Access-Control-Request-Method.
pub(crate) fn is_preflight(facts: &Facts<'_>) -> bool {
    facts.method == "OPTIONS"
        && has(facts, &http::header::ORIGIN, None)
        && has(facts, &http::header::ACCESS_CONTROL_REQUEST_METHOD, None)
}

#[cfg(test)]
mod tests;
