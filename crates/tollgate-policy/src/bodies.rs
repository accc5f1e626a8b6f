//! Which requests must show their body before they can be decided.

use crate::identity::{Identity, body_may_speak};
use crate::limit::CompiledLimit;
use crate::route::is_preflight;
use crate::settings::{IdentityRef, Route};
use crate::{Facts, Policy, normalise};

/// Whether a limit of each route counts by something that the body says. Empty where none does, as most policies have it.
#[derive(Debug)]
pub(crate) struct Bodies(Vec<bool>);

impl Bodies {
    pub(crate) fn new(
        routes: &[Route],
        limits: &[CompiledLimit],
        identities: &[Identity],
    ) -> Bodies {
        let reads = |reference: &IdentityRef| match reference {
            IdentityRef::Ip => false,
            IdentityRef::Declared(place) => reads_body(*place, identities),
        };
        let by_body: Vec<bool> =
            limits.iter().map(|limit| limit.key.iter().chain(&limit.by).any(reads)).collect();
        if !by_body.contains(&true) {
            return Bodies(Vec::new());
        }
        let of_route = |route: &Route| {
            route.limits.iter().any(|limit| by_body.get(*limit).copied().unwrap_or_default())
        };
        Bodies(routes.iter().map(of_route).collect())
    }
}

/// Whether the identity at `start`, or one whose value it looks up, is looked for in the body.
fn reads_body(start: usize, identities: &[Identity]) -> bool {
    let (mut left, mut seen) = (vec![start], vec![false; identities.len()]);
    while let Some(place) = left.pop() {
        let Some(identity) = identities.get(place) else { continue };
        if identity.reads_body() {
            return true;
        }
        if !std::mem::replace(&mut seen[place], true) {
            left.extend(identity.looked_up());
        }
    }
    false
}

impl Policy {
    /// Whether any of its limits counts by what a body says.
    #[must_use]
    pub fn reads_bodies(&self) -> bool {
        !self.bodies.0.is_empty()
    }

    /// Whether the request of `facts` has to show its body, up to `gateway.max_identity_body` bytes of it, before it is
    /// decided: one of its route's limits counts by something that a body of this type may say. A body that is not shown
    /// says nothing, and the limit's `missing` holds.
    #[must_use]
    pub fn needs_body(&self, facts: &Facts<'_>) -> bool {
        if !self.reads_bodies() || !body_may_speak(facts.headers) {
            return false;
        }
        let Ok(path) = normalise(facts.path) else { return false };
        let Some(route) = self.router.find(facts, &path) else { return false };
        let counted = self.settings().routes[route].count_preflight || !is_preflight(facts);
        counted && self.bodies.0.get(route) == Some(&true)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Request, policy};

    #[test]
    fn only_those_who_are_counted_by_their_body_show_it() {
        let policy = policy(
            "
tables: { accounts: [{ name: ada, tenant: t1 }] }
identity:
  account: [{ json: /user }, { form: user }]
  tenant: { table: { name: accounts, key_column: name, value_of: account, column: tenant } }
limits:
  by-account: { key: [account], fixed_window: { limit: 1, window: 1m } }
  by-tenant: { key: [ip, tenant], fixed_window: { limit: 1, window: 1m } }
  by-address: { key: [ip], fixed_window: { limit: 1, window: 1m } }
routes:
  - { match: /login, limits: [by-address, by-account] }
  - { match: /tenant, limits: [by-tenant], count_preflight: false }
  - { match: /open, limits: [] }
  - { match: /address, limits: [by-address] }
",
        );
        let needs = |request: Request| request.facts(|facts| policy.needs_body(facts));
        let to = |path: &str| needs(Request::get(path));
        assert!(to("/login"));
        assert!(to("/x/..//login"), "by the normalised path");
        assert!(to("/tenant"), "what is looked up by it counts by it");
        assert!(!to("/open"));
        assert!(!to("/address"));
        assert!(!to("/nowhere"));
        assert!(!to("/a%2Fb"));
        let preflight = |path: &str| {
            let request =
                Request::get(path).method("OPTIONS").header("origin", "https://a.example");
            needs(request.header("access-control-request-method", "POST"))
        };
        assert!(preflight("/login"));
        assert!(!preflight("/tenant"), "it is not counted");
        let typed = |kind: &str| needs(Request::get("/login").header("content-type", kind));
        assert!(typed("application/json"));
        assert!(!typed("image/png"), "it says nothing that is read");
    }

    #[test]
    fn a_policy_that_reads_no_body_asks_for_none() {
        let policy = policy("routes: [{ match: /a, limits: [] }]");
        assert!(!policy.reads_bodies());
        assert!(!Request::get("/a").facts(|facts| policy.needs_body(facts)));
    }
}
