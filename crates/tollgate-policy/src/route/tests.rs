//! Routes: the first that matches, by path, method, host and headers; and the field cases of matching.

use crate::testing::{Request, at, engine, policy};
use crate::{Charges, Policy, Rejection, Verdict};

fn route(policy: &Policy, request: &Request) -> Result<Option<usize>, Rejection> {
    let mut charges = Charges::default();
    request.facts(|facts| policy.charges(facts, at(0), |subject| subject.class, &mut charges))?;
    Ok(charges.route)
}

const LIMIT: &str = "
limits:
  one: { key: [ip], token_bucket: { rate: 3/m, burst: 3 } }
  two: { key: [ip], token_bucket: { rate: 1/m, burst: 1 } }
";

fn policy_of(routes: &str) -> Policy {
    policy(&format!("{LIMIT}routes:\n{routes}"))
}

#[test]
fn one_of_several_paths_is_enough() {
    let policy = policy_of(
        "
  - { match: { path: [/login, /v1/auth/**], method: POST }, limits: [two] }
  - { match: [/a, /b/*], limits: [one] }
  - { match: /v1/**, limits: [one] }
",
    );
    let cases = [
        (Request::get("/login").method("POST"), Some(0)),
        (Request::get("/v1/auth/token").method("POST"), Some(0)),
        (Request::get("/v1/auth/token"), Some(2)),
        (Request::get("/a"), Some(1)),
        (Request::get("/b/1"), Some(1)),
        (Request::get("/b"), None),
    ];
    for (request, place) in cases {
        assert_eq!(route(&policy, &request), Ok(place), "{request:?}");
    }
}

#[test]
fn the_first_match_wins() {
    let policy = policy_of(
        "
  - { match: { path: /v1/admin, method: [POST, PUT] }, limits: [one] }
  - { match: { path: /v1/admin }, limits: [one] }
  - { match: { path: /v1/**, host: [api.example.com, '*.internal'] }, limits: [one] }
  - { match: { path: /v1/**, headers: { x-beta: 'yes' } }, limits: [one] }
  - { match: { path: /v1/** }, limits: [one] }
",
    );
    let get = Request::get;
    let on = |host: &'static str, request: Request| Request { host: Some(host), ..request };
    let cases = [
        (get("/v1/admin").method("POST"), Some(0)),
        (get("/v1/admin").method("PUT"), Some(0)),
        // HEAD and a method in lower case are themselves.
        (get("/v1/admin").method("HEAD"), Some(1)),
        (get("/v1/admin").method("post"), Some(1)),
        (get("/v1/admin"), Some(1)),
        (on("API.example.com.:8080", get("/v1/x")), Some(2)),
        (on("a.b.internal", get("/v1/x")), Some(2)),
        (on("internal", get("/v1/x")), Some(4)),
        (get("/v1/x").header("x-beta", "yes"), Some(3)),
        (get("/v1/x").header("x-beta", "no").header("x-beta", "yes"), Some(3)),
        (get("/v1/x").header("x-beta", "no"), Some(4)),
        (get("/v1"), Some(4)),
        (get("/v2"), None),
    ];
    for (request, wanted) in cases {
        assert_eq!(route(&policy, &request), Ok(wanted), "{request:?}");
    }
}

#[test]
fn no_route_is_admitted_or_refused_as_the_policy_says() {
    let admit = policy_of("  - { match: { path: /a }, limits: [one] }\n");
    assert_eq!(route(&admit, &Request::get("/b")), Ok(None));
    let refuse = policy(&format!(
        "default: refuse\n{LIMIT}routes:\n  - {{ match: {{ path: /a }}, limits: [one] }}\n"
    ));
    assert_eq!(route(&refuse, &Request::get("/b")), Err(Rejection::NoRoute));
    assert_eq!(route(&refuse, &Request::get("/b%2Fc")), Err(Rejection::BadPath));
    assert_eq!(route(&refuse, &Request::get("/a")), Ok(Some(0)));
}

#[test]
fn key_02_spellings_of_a_login_path_meet_one_limit() {
    let engine = engine(&format!(
        "{LIMIT}routes:
  - {{ match: {{ path: /api/login, ignore_case: true }}, limits: [one] }}
  - {{ match: {{ path: /** }}, limits: [] }}
"
    ));
    let spellings = ["/api/login", "/api/Login", "/api/login/", "/api/%6Cogin"];
    let passed = spellings.map(|path| Request::get(path).passes(&engine, 0));
    assert_eq!(passed, [true, true, true, false]);
    for path in ["//api/./login", "/x/../api/login", "/API/%4cOGIN//"] {
        assert!(!Request::get(path).passes(&engine, 1), "{path}");
    }
}

#[test]
fn http_03_preflights_are_free_where_the_policy_says_so() {
    let engine = engine(&format!(
        "{}routes:\n  - {{ match: {{ path: /** }}, limits: [one], count_preflight: false }}\n",
        LIMIT.replace("3/m, burst: 3", "2/m, burst: 2")
    ));
    let preflight = || {
        let options = Request::get("/").method("OPTIONS").header("origin", "https://a.example");
        options.header("access-control-request-method", "POST")
    };
    let get = || Request::get("/");
    for (request, passes) in [
        (preflight(), true),
        (get(), true),
        (preflight(), true),
        (get(), true),
        (preflight(), true),
        (get(), false),
        // Without both fields it is an ordinary request.
        (get().method("OPTIONS"), false),
        (get().method("OPTIONS").header("origin", "https://a.example"), false),
    ] {
        assert_eq!(request.passes(&engine, 0), passes, "{request:?}");
    }
    assert!(preflight().decide_at(&engine, at(0)).limits.is_empty());
}

#[test]
fn http_05_head_is_where_the_policy_puts_it() {
    let engine = engine(
        "
limits:
  reads:  { key: [ip], token_bucket: { rate: 5/s } }
  writes: { key: [ip], token_bucket: { rate: 1/s } }
routes:
  - { match: { method: [GET, HEAD] }, limits: [reads] }
  - { match: { method: [POST, PUT, PATCH, DELETE] }, limits: [writes] }
",
    );
    let remaining = |method| {
        let decision = Request::get("/").method(method).decide_at(&engine, at(0));
        assert_eq!(decision.verdict, Verdict::Admit);
        (decision.limits[0].name.to_string(), decision.limits[0].standing.remaining)
    };
    assert_eq!(remaining("HEAD"), ("reads".into(), 4));
    assert_eq!(remaining("HEAD"), ("reads".into(), 3));
    assert_eq!(remaining("POST"), ("writes".into(), 0));
}

#[test]
fn http_07_a_probe_is_exempt_by_its_normal_path_alone() {
    let engine = engine(
        "
limits:
  per-address: { key: [ip], fixed_window: { limit: 2, window: 24h } }
routes:
  - { match: { path: /health-check }, limits: [] }
  - { match: { path: /** }, limits: [per-address] }
",
    );
    let probe = || Request::get("/health-check").client("127.0.0.1");
    for second in 0..8_640 {
        let decision = probe().decide_at(&engine, at(second * 10));
        assert!(decision.limits.is_empty() && decision.verdict == Verdict::Admit);
    }
    let other = |path: &str| Request::get(path).client("127.0.0.1").passes(&engine, 86_400);
    assert!(other("/health-check/../admin"));
    assert!(other("/x"));
    assert!(!other("/health-check/x"));
}

#[test]
fn http_08_a_window_is_not_prolonged_by_hits() {
    let engine = engine(
        "
limits:
  probe: { key: [ip], fixed_window: { limit: 120, window: 60s } }
routes:
  - { limits: [probe] }
",
    );
    for call in 0..241 {
        let decision = Request::get("/").decide_at(&engine, at(call * 30));
        assert!(decision.limits[0].standing.remaining >= 118, "call {call}");
    }
}
