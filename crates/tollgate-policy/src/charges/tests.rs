//! Keys, classes and costs of whole requests; the field cases of keys.

use crate::testing::{Charged, Request, at, engine, policy};
use crate::{Charges, Rejection};

const TWO: &str = "
identity:
  tenant: { header: x-tenant, from: anyone }
  user:   { header: x-user, from: anyone }
limits:
  one: { key: [tenant, user], missing: MISSING, token_bucket: { rate: 1/m } }
routes:
  - { limits: [one] }
";

#[test]
fn key_10_numbers_do_not_run_together() {
    let engine = engine(&TWO.replace("MISSING", "ip"));
    let call = |tenant: &str, user: &str| {
        Request::get("/").header("x-tenant", tenant).header("x-user", user).passes(&engine, 0)
    };
    assert!(call("21", "1"));
    assert!(call("2", "11"));
    assert!(!call("21", "1"));
}

#[test]
fn key_06_a_limit_is_skipped_where_its_key_is_missing() {
    let engine = engine(
        "
identity:
  session: { header: x-session, from: anyone }
limits:
  a: { key: [session], missing: skip, token_bucket: { rate: 1/m } }
  b: { key: [ip], token_bucket: { rate: 100/m } }
routes:
  - { limits: [a, b] }
",
    );
    for address in ["192.0.2.1", "192.0.2.2", "192.0.2.3"] {
        let decision = Request::get("/").client(address).decide_at(&engine, at(0));
        let asked: Vec<_> = decision.limits.iter().map(|report| report.name.as_str()).collect();
        assert_eq!(asked, ["b"]);
        assert_eq!(decision.limits[0].standing.remaining, 99);
    }
    let call = || Request::get("/").client("192.0.2.1").header("x-session", "s1");
    assert!(call().passes(&engine, 0));
    assert!(!call().passes(&engine, 0));
    let empty = Request::get("/").header("x-session", "").decide_at(&engine, at(0));
    assert_eq!(empty.limits.len(), 1);
}

#[test]
fn key_07_the_missing_bucket_is_no_word_of_a_client() {
    let engine = engine(
        "
identity:
  tenant: { header: x-tenant, from: anyone }
limits:
  one: { key: [tenant], missing: share, token_bucket: { rate: 1/m } }
routes:
  - { limits: [one] }
",
    );
    assert!(Request::get("/").passes(&engine, 0));
    assert!(Request::get("/").header("x-tenant", "null").passes(&engine, 1));
    assert!(Request::get("/").header("x-tenant", "none").passes(&engine, 2));
    assert!(!Request::get("/").client("192.0.2.77").passes(&engine, 3));
}

// key-08 (an unknown key source) is the file reader's: an identity that is not declared never gets here by its name.

#[test]
fn missing_parts_stand_for_themselves() {
    let key = |missing: &str, request: Request| {
        request.charges_at(&policy(&TWO.replace("MISSING", missing)), at(0))
    };
    let tenant = || Request::get("/").header("x-tenant", "t1");
    let only = |charges: Result<Vec<Charged>, Rejection>| charges.expect("charges").remove(0).2;
    let by_address = only(key("ip", tenant()));
    assert_ne!(by_address, only(key("ip", tenant().client("192.0.2.1"))));
    assert_ne!(by_address, only(key("ip", Request::get("/"))));
    // With no address either, one bucket for all of them.
    assert_eq!(only(key("ip", tenant().nobody())), only(key("share", tenant())));
    assert_eq!(only(key("share", tenant())), only(key("share", tenant().client("192.0.2.1"))));
    assert_eq!(key("skip", tenant()), Ok(vec![]));
    let rejected = Rejection::MissingIdentity { limit: "one".into(), identity: "user".into() };
    assert_eq!(key("reject", tenant()), Err(rejected));
}

#[test]
fn classes_choose_their_parameters_and_unlimited_lifts_the_limit() {
    let policy = policy(
        "
identity:
  plan: { header: x-plan, from: anyone, default: Free, fold: case }
limits:
  one:
    key: [ip]
    by: plan
    token_bucket: { Free: { rate: 1/m }, paid: { rate: 2/m }, staff: unlimited }
  two: { key: [], token_bucket: { rate: 9/m } }
routes:
  - { limits: [one, two] }
",
    );
    let classes = |request: Request| -> Vec<_> {
        let charges = request.charges_at(&policy, at(0)).expect("charges");
        charges.into_iter().map(|(name, class, _)| (name, class.unwrap_or_default())).collect()
    };
    let pair = |name: &str, class: &str| (name.to_owned(), class.to_owned());
    let plan = |plan: &str| Request::get("/").header("x-plan", plan);
    assert_eq!(classes(plan("PAID")), [pair("one", "paid"), pair("two", "")]);
    assert_eq!(classes(plan("free")), [pair("one", "Free"), pair("two", "")]);
    assert_eq!(classes(plan("gold")), [pair("one", "Free"), pair("two", "")]);
    assert_eq!(classes(Request::get("/")), [pair("one", "Free"), pair("two", "")]);
    assert_eq!(classes(plan("staff")), [pair("two", "")]);
}

#[test]
fn an_override_counts_a_key_under_another_class_until_it_ends() {
    let policy = policy(
        "
identity:
  user: { header: x-user, from: anyone }
  plan: { header: x-plan, from: anyone, default: free }
limits:
  one:
    key: [user]
    by: plan
    token_bucket: { free: { rate: 1/m }, raised: { rate: 100/m } }
routes:
  - { limits: [one] }
",
    );
    let key = Request::get("/").header("x-user", "u1").key(&policy);
    let raised = |user: &str, seconds: u64| {
        let mut charges = Charges::default();
        let class_of = |subject: &crate::Subject<'_>| {
            let meant = subject.limit == 0 && subject.key == key && subject.now < at(60);
            if meant { 1 } else { subject.class }
        };
        let request = Request::get("/").header("x-user", user);
        request
            .facts(|facts| policy.charges(facts, at(seconds), class_of, &mut charges))
            .expect("charges");
        charges.iter().all(|(planned, _)| planned.class == 1 && planned.definition == 1)
    };
    assert!(raised("u1", 59));
    assert!(!raised("u1", 60));
    assert!(!raised("u2", 59));
}

#[test]
fn cost_is_the_routes_or_the_requests() {
    let policy = policy(
        "
limits:
  one: { key: [], token_bucket: { rate: 100/m } }
routes:
  - { match: { path: /big }, limits: [one], cost: 7 }
  - { match: { path: /said }, limits: [one], cost: { header: x-cost, max: 9, from: anyone } }
  - { limits: [one] }
",
    );
    let cost = |request: Request| {
        let mut charges = Charges::default();
        let class_of = |subject: &crate::Subject<'_>| subject.class;
        request
            .facts(|facts| policy.charges(facts, at(0), class_of, &mut charges))
            .expect("charges");
        charges.iter().next().map(|(planned, _)| planned.cost)
    };
    assert_eq!(cost(Request::get("/big")), Some(7));
    assert_eq!(cost(Request::get("/x")), Some(1));
    assert_eq!(cost(Request::get("/said").header("x-cost", "4")), Some(4));
    assert_eq!(cost(Request::get("/said").header("x-cost", "4000")), Some(9));
    assert_eq!(cost(Request::get("/big").cost(0)), Some(0));
}

#[test]
fn any_request_has_charges_or_a_reason() {
    use proptest::prelude::*;
    let policy = policy(
        "
identity:
  user:
    - { header: x-user, from: anyone, fold: case }
    - { cookie: session, from: anyone }
    - { query: user }
    - { path: 1 }
    - { basic: user }
limits:
  one: { key: [user], fixed_window: { limit: 1, window: 1m } }
routes:
  - { match: { path: /**/x*y, host: '*.a' }, limits: [one] }
  - { limits: [one] }
",
    );
    proptest!(|(path in "/\\PC{0,12}", value in "\\PC{0,12}", cookie in "\\PC{0,12}", query in "\\PC{0,12}")| {
        let request = Request::get(&path).header("x-user", &value).header("cookie", &cookie);
        let request = request.header("authorization", &format!("Basic {value}"));
        let request = Request { query: Some(query), ..request };
        match request.charges_at(&policy, at(0)) {
            Ok(charges) => prop_assert_eq!(charges.len(), 1),
            Err(rejection) => prop_assert_eq!(rejection, Rejection::BadPath),
        }
    });
}
