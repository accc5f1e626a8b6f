//! Traps: what may run, and may not do what its writer expects.

use super::{warnings, with_limit};

/// The warnings on a limit's own parameters: not those that every small policy has.
fn of_limit(limit: &str) -> Vec<String> {
    let everywhere = ["address alone", "probes such as"];
    let mut found = warnings(&with_limit(limit));
    found.retain(|line| everywhere.iter().all(|words| !line.contains(words)));
    found
}

#[test]
fn traps_of_parameters() {
    for (limit, place, words) in [
        ("fixed_window: { limit: 100, window: 1m }", "4:5", "200 in a moment, not 100 per 1m"),
        ("token_bucket: { rate: 1/s, burst: 11 }", "4:39", "a burst of 11 is 11s of the rate"),
        ("token_bucket: { rate: 100/m }", "4:5", "a burst of 100 (the rate's count"),
        ("token_bucket: { rate: 100/m, burst: 11s }", "4:41", "a burst of 18 is 11s of the rate"),
        ("token_bucket: { rate: 1/s, burst: 0 }", "4:39", "never admits"),
        ("leaky_bucket: { rate: 1/s, burst: 11, nodelay: true }", "4:39", "11s of the rate"),
        ("leaky_bucket: { rate: 1/s, burst: 11 }", "4:39", "wait up to 11s here"),
        (
            "leaky_bucket: { rate: 1/s, nodelay: true, max_wait: 1s }",
            "4:47",
            "no effect with `nodelay`",
        ),
        ("quota: { limit: 5, every: day }", "4:5", "a restart forgets"),
        ("sliding_window: { limit: 5, window: 1d }", "4:5", "a restart forgets"),
    ] {
        let found = of_limit(limit);
        assert_eq!(found.len(), 1, "{found:#?} of {limit}");
        assert!(found[0].starts_with(&format!("{place} ")), "{found:#?} of {limit}");
        assert!(found[0].contains(words), "{words:?} not in {found:#?}");
    }
}

#[test]
fn no_traps() {
    for limit in [
        "fixed_window: { limit: 0, window: 1m }",
        "sliding_window: { limit: 100, window: 1m }",
        "token_bucket: { rate: 1/s, burst: 10 }",
        "token_bucket: { rate: 1/m, burst: 1 }",
        "token_bucket: { rate: 100/m, burst: 10s }",
        "token_bucket: { rate: 0/s }",
        "token_bucket: { rate: 0/s, burst: 0 }",
        "leaky_bucket: { rate: 0/s, burst: 0 }",
        "leaky_bucket: { rate: 1/s }",
        "leaky_bucket: { rate: 1/s, burst: 10, nodelay: true }",
        "leaky_bucket: { rate: 1/s, burst: 11, max_wait: 2s }",
        "leaky_bucket: { rate: 1/s, burst: 11, max_wait: unlimited }",
        "quota: { limit: 5, every: hour }",
        "concurrency: { limit: 5, ttl: 2d }",
        "fixed_window: unlimited",
    ] {
        assert_eq!(of_limit(limit), Vec::<String>::new(), "{limit}");
    }
}

#[test]
fn a_trap_in_one_class_is_said_there() {
    let found = warnings(
        "identity: { plan: { api_key: { header: k, table: t, column: plan }, default: free } }\n\
         tables: { t: [{ key_sha256: ab, plan: free }] }\n\
         limits:\n  one:\n    key: [plan]\n    by: plan\n    token_bucket:\n\
         \x20     free: { rate: 1/s }\n      paid: { rate: 1/s, burst: 99 }\n\
         routes: [{ match: { path: /a }, limits: [one] }]\n",
    );
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with("9:33 a burst of 99 is 1m39s"), "{found:#?}");
}

#[test]
fn a_class_that_a_client_can_write() {
    for (source, words) in [
        ("{ header: p, from: anyone, default: free }", "a header from anyone"),
        ("{ cookie: p, from: anyone, default: free }", "a cookie from anyone"),
        ("{ query: p, default: free }", "the query"),
        ("{ basic: user, default: free }", "an unverified name"),
        ("{ json: /plan, default: free }", "the body"),
        ("{ form: plan, default: free }", "the body"),
        ("{ table: { name: t, value_of: user, column: plan }, default: free }", "the query"),
    ] {
        let found = warnings(&format!(
            "tables: {{ t: [{{ user: u, plan: free }}] }}\n\
             identity:\n  user: {{ query: u }}\n  plan: {source}\n\
             limits:\n  one:\n    key: [user]\n    by: plan\n\
             \x20   sliding_window: {{ free: {{ limit: 1, window: 1s }} }}\n\
             routes: [{{ match: {{ path: /a }}, limits: [one] }}]\n"
        ));
        assert_eq!(found.len(), 1, "{found:#?} of {source}");
        assert!(found[0].starts_with("8:9 the class comes from "), "{found:#?}");
        assert!(found[0].contains(words), "{found:#?}");
    }
}

/// Warnings of a policy with a limit for each of a few keys, and these routes.
fn of_routes(routes: &str) -> Vec<String> {
    let window = "sliding_window: { limit: 5, window: 1m }";
    let policy = format!(
        "identity: {{ user: {{ query: u }}, where: ip }}\n\
         limits:\n  by-user: {{ key: [user], {window} }}\n  by-ip: {{ key: [ip], {window} }}\n\
         \x20 by-where: {{ key: [where], {window} }}\n  all: {{ key: [], {window} }}\nroutes:\n{routes}"
    );
    let mut found = warnings(&policy);
    found.retain(|line| !line.contains("no route asks"));
    found
}

#[test]
fn traps_of_routes() {
    for (routes, words) in [
        ("- { match: { path: /a }, limits: [all] }", "8:34 only one bucket for everybody"),
        (
            "- { match: { path: /a }, limits: [by-ip, all] }",
            "4:17 clients are known by address alone",
        ),
        (
            "- { match: { path: /a }, limits: [by-where] }",
            "5:20 clients are known by address alone",
        ),
        (
            "- { match: { path: /ping }, limits: [by-user] }",
            "8:37 probes such as `/ping` are limited",
        ),
        ("- { limits: [by-user] }", "8:13 probes such as `/healthz`, `/livez`, `/readyz` are"),
        (
            "- { match: { path: /v1 }, limits: [] }\n- { match: { path: /v1 }, limits: [] }",
            "9:3 no request reaches this route",
        ),
        (
            "- { match: { path: /** }, limits: [] }\n- { match: { path: /v1 }, limits: [] }",
            "9:3 no request reaches this route",
        ),
    ] {
        let found = of_routes(routes);
        assert_eq!(found.len(), 1, "{found:#?} of {routes}");
        assert!(found[0].starts_with(words), "{words:?} not in {found:#?}");
    }
    for routes in [
        "- { match: { path: /a }, limits: [by-user, all] }",
        "- { match: { path: /a }, limits: [by-user, by-ip] }",
        "- { match: { path: /a }, limits: [] }",
        "- { match: { path: /v1/** }, limits: [by-user] }",
        "- { match: { method: POST }, limits: [by-user] }",
        "- { match: { path: /v1, method: GET }, limits: [] }\n- { match: { path: /v1 }, limits: [] }",
    ] {
        assert_eq!(of_routes(routes), Vec::<String>::new(), "{routes}");
    }
}

#[test]
fn a_policy_that_limits_nothing() {
    assert!(warnings("routes: []\n")[0].contains("nothing is limited"));
    let unused = "limits: { a: { key: [ip], sliding_window: { limit: 1, window: 1s } } }\n\
                  routes: [{ limits: [] }]\n";
    assert_eq!(
        warnings(unused),
        ["1:11 no route asks the limit `a` (list it in a route's `limits`, or remove it)"]
    );
}

#[test]
fn a_proxy_network_of_everybody() {
    let found =
        warnings("client_address: { trusted_proxies: [0.0.0.0/0] }\nroutes: [{ limits: [] }]\n");
    assert!(found[0].starts_with("1:37 `0.0.0.0/0` trusts everybody"), "{found:#?}");
}
