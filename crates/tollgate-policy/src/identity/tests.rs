//! Identities: what each source finds, whose word counts, and which keys come of it.

mod bodies;

use std::fs;

use crate::testing::{Request, at, policy, settings_in};
use crate::{Charges, ClientCertificate, Facts, Headers, Policy, Rejection};

/// A policy with one limit, keyed by the identity `who`, which is `identity`.
fn keyed_by(identity: &str, missing: &str) -> Policy {
    policy(&format!(
        "
client_address: {{ trusted_proxies: [10.0.0.0/8] }}
identity:
  who: {identity}
limits:
  one: {{ key: [who], missing: {missing}, fixed_window: {{ limit: 1, window: 1m }} }}
routes:
  - {{ limits: [one] }}
"
    ))
}

/// The key of a request that lacks the identity; its address stands in.
fn address_key(policy: &Policy) -> Vec<u8> {
    Request::get("/").key(policy)
}

#[test]
fn headers_count_from_those_who_are_trusted() {
    let trusted = keyed_by("{ header: x-user }", "ip");
    let request = Request::get("/").header("x-user", "u1");
    assert_eq!(request.key(&trusted), address_key(&trusted));
    assert_ne!(request.clone().trusted().key(&trusted), address_key(&trusted));
    let anyone = keyed_by("{ header: X-User, from: anyone }", "ip");
    assert_ne!(request.key(&anyone), address_key(&anyone));
    assert_eq!(request.key(&anyone), Request::get("/").header("x-user", " u1\t").key(&anyone));
    let cookie = keyed_by("{ cookie: session }", "ip");
    let request = Request::get("/").header("cookie", "a=1; session=s1");
    assert_eq!(request.key(&cookie), address_key(&cookie));
    assert_ne!(request.trusted().key(&cookie), address_key(&cookie));
}

#[test]
fn a_second_header_becomes_nobody() {
    let policy = keyed_by("{ header: x-user, from: anyone }", "ip");
    let victim = Request::get("/").header("x-user", "victim");
    let own = Request::get("/").header("x-user", "me");
    let both = [
        victim.clone().header("x-user", "me"),
        own.clone().header("x-user", "victim"),
        own.clone().header("x-user", "fresh"),
    ];
    for request in both {
        assert_eq!(request.key(&policy), address_key(&policy));
    }
    assert_eq!(own.clone().header("x-user", "me").key(&policy), own.key(&policy));
    // Nor is it a way around a limit that is skipped where the header is missing.
    let skip = keyed_by("{ header: x-user, from: anyone }", "skip");
    assert_eq!(Request::get("/").charges_at(&skip, at(0)), Ok(vec![]));
    let both = own.header("x-user", "fresh").charges_at(&skip, at(0)).expect("charges");
    assert_eq!(both[0].2, address_key(&policy));
}

#[test]
fn queries_and_segments_are_decoded_once() {
    let query = keyed_by("{ query: user }", "ip");
    let key = |path: &str| Request::get(path).key(&query);
    assert_eq!(key("/?user=a%20b"), key("/?x=1&us%65r=a+b"));
    assert_ne!(key("/?user=a%2520b"), key("/?user=a%20b"));
    assert_eq!(key("/?user=a&user=b"), address_key(&query));
    assert_eq!(key("/?user="), address_key(&query));
    let segment = keyed_by("{ path: 1 }", "ip");
    let key = |path: &str| Request::get(path).key(&segment);
    assert_eq!(key("/users/alice/x"), key("//users/./%61lice"));
    assert_eq!(key("/users/a!"), key("/users/a%21"));
    assert_ne!(key("/users/alice"), key("/users/Alice"));
    assert_eq!(key("/users"), address_key(&segment));
    assert_eq!(key("/users/"), address_key(&segment));
}

#[test]
fn basic_users_are_names() {
    let policy = keyed_by("{ basic: user, fold: case }", "ip");
    let key = |value: &str| Request::get("/").header("authorization", value).key(&policy);
    // alice:secret, Alice:other, :secret, and something else.
    assert_eq!(key("Basic YWxpY2U6c2VjcmV0"), key("basic QWxpY2U6b3RoZXI="));
    assert_eq!(key("Basic OnNlY3JldA=="), address_key(&policy));
    assert_eq!(key("Bearer abc"), address_key(&policy));
}

#[test]
fn the_first_present_source_wins_and_each_is_its_own() {
    let policy = keyed_by("[{ header: x-user, from: anyone }, { query: user }, ip]", "reject");
    let header = Request::get("/?user=u1").header("x-user", "u1").key(&policy);
    let query = Request::get("/?user=u1").key(&policy);
    let empty = Request::get("/?user=u1").header("x-user", "").key(&policy);
    assert_ne!(header, query);
    assert_eq!(query, empty);
    // A user named like an address is not that address.
    let named = Request::get("/").header("x-user", "203.0.113.9").key(&policy);
    assert_ne!(named, Request::get("/").key(&policy));
    let nobody = Request::get("/").nobody().charges_at(&policy, at(0));
    assert!(
        matches!(nobody, Err(Rejection::MissingIdentity { identity, .. }) if &*identity == "who")
    );
}

#[test]
fn a_default_is_no_word_of_a_client() {
    let policy = keyed_by("{ header: x-user, from: anyone, default: guest }", "reject");
    let guest = Request::get("/").key(&policy);
    assert_eq!(guest, Request::get("/").client("192.0.2.1").key(&policy));
    assert_ne!(guest, Request::get("/").header("x-user", "guest").key(&policy));
}

#[test]
fn names_are_folded_where_the_policy_says_so() {
    let folded = keyed_by("{ header: x-user, from: anyone, fold: case }", "ip");
    let key = |name: &str| Request::get("/").header("x-user", name).key(&folded);
    assert_eq!(key("ÉCOLE"), key("e\u{301}cole"));
    assert_eq!(key("ＡＬＩＣＥ"), key("alice"));
    let plain = keyed_by("{ header: x-user, from: anyone }", "ip");
    let key = |name: &str| Request::get("/").header("x-user", name).key(&plain);
    assert_ne!(key("Alice"), key("alice"));
}

#[test]
fn v6_07_addresses_are_one_in_every_spelling() {
    let policy = keyed_by("ip", "ip");
    let key = |address: &str| Request::get("/").client(address).key(&policy);
    assert_eq!(key("2001:DB8::1"), key("2001:0db8:0:0::ffff"));
    assert_eq!(key("::ffff:198.51.100.23"), key("198.51.100.23"));
    assert_ne!(key("2001:db8:0:1::1"), key("2001:db8::1"));
}

#[test]
fn values_are_looked_up_in_tables() {
    let policy = policy(
        "
tables:
  accounts:
    - { user: Alice, tenant: t1, plan: paid }
    - { user: bob,   tenant: t1 }
identity:
  user:   { header: x-user, from: anyone, fold: case }
  tenant: { table: { name: accounts, key_column: user, value_of: user, column: tenant } }
  plan:   { table: { name: accounts, key_column: user, value_of: user, column: plan }, default: free }
limits:
  per-tenant:
    key: [tenant]
    by: plan
    fixed_window: { free: { limit: 1, window: 1m }, paid: { limit: 2, window: 1m } }
routes:
  - { limits: [per-tenant] }
",
    );
    let charge = |user: &str| {
        let request = Request::get("/").header("x-user", user);
        request.charges_at(&policy, at(0)).expect("charges").remove(0)
    };
    let (alice, bob, carol) = (charge("aLICE"), charge("BOB"), charge("carol"));
    assert_eq!(alice.2, bob.2);
    assert_eq!(alice.1.as_deref(), Some("paid"));
    assert_eq!(bob.1.as_deref(), Some("free"));
    assert_eq!(carol.2, charge("dave").2, "both are their address");
    assert_ne!(carol.2, bob.2);
}

#[test]
fn claims_of_verified_tokens() {
    use crate::lookups::tests_of_tokens::{HMAC, JWKS, RSA, SECRET};
    let folder = tempfile::TempDir::new().expect("a folder");
    fs::write(folder.path().join("secret"), SECRET).expect("room");
    fs::write(folder.path().join("keys.json"), JWKS).expect("room");
    let policy = |keys: &str| {
        let yaml = format!(
            "
identity:
  user:   {{ jwt: {{ claim: sub, {keys} }} }}
  tenant: {{ jwt: {{ claim: tenant, {keys} }} }}
limits:
  one: {{ key: [tenant, user], fixed_window: {{ limit: 1, window: 1m }} }}
routes:
  - {{ limits: [one] }}
"
        );
        Policy::compile(settings_in(&yaml, folder.path())).expect("a policy")
    };
    let secret = policy("secret: { file: secret }, audience: shop");
    let set = policy("jwks: keys.json, issuer: 'https://issuer.example'");
    let bearer =
        |token: &str| Request::get("/").header("authorization", &format!("Bearer {token}"));
    let bare = |token: &str| Request::get("/").header("authorization", token);
    assert_ne!(bearer(HMAC).key(&secret), address_key(&secret));
    assert_eq!(bearer(HMAC).key(&secret), bare(HMAC).key(&secret));
    assert_eq!(bearer(RSA).key(&secret), address_key(&secret));
    assert_eq!(bearer(RSA).key(&set), bearer(HMAC).key(&secret), "the same tenant and user");
    assert_eq!(bearer(HMAC).key(&set), address_key(&set));
    let late = bearer(HMAC).charges_at(&secret, at(3_600)).expect("charges");
    assert_eq!(late[0].2, address_key(&secret), "an expired token is none");
}

#[test]
fn key_12_a_credential_is_never_shown() {
    let policy = keyed_by("{ header: authorization, from: anyone }", "ip");
    let request = Request::get("/").header("authorization", "Bearer tok_example_123");
    let other = Request::get("/").header("authorization", "Bearer tok_example_124");
    assert_ne!(request.key(&policy), other.key(&policy));
    let engine = crate::Engine::new(
        policy,
        tollgate_store::MemoryStore::default(),
        crate::Mode::Enforce,
        at(0),
    );
    let refused = [request.decide_at(&engine, at(0)), request.decide_at(&engine, at(0))];
    for shown in [format!("{refused:?}"), format!("{engine:?}")] {
        assert!(!shown.contains("tok_example_123"));
        assert!(!shown.contains(&format!("{:?}", b"tok_example_123").replace(['[', ']'], "")));
    }
}

#[test]
fn a_certificate_counts_from_anyone_who_proved_it() {
    let certificate = |names: &[&str]| ClientCertificate {
        subject: "CN=billing,O=Acme".to_owned(),
        common_names: names.iter().map(|&name| name.to_owned()).collect(),
        uris: vec!["spiffe://acme/billing".to_owned()],
        ..ClientCertificate::default()
    };
    let key = |policy: &Policy, shown: Option<&ClientCertificate>| {
        let client = Some([203, 0, 113, 9].into());
        let headers = Headers::Pairs(&[]);
        let facts = Facts { client, certificate: shown, ..Facts::new("GET", "/", headers) };
        let mut charges = Charges::default();
        policy.charges(&facts, at(0), |subject| subject.class, &mut charges).expect("charges");
        charges.iter().map(|(_, key): (_, &[u8])| key.to_vec()).collect::<Vec<_>>()
    };
    for field in ["common_name", "subject", "uri"] {
        let policy = keyed_by(&format!("{{ client_certificate: {field} }}"), "ip");
        let nobody = key(&policy, None);
        assert_ne!(key(&policy, Some(&certificate(&["billing"]))), nobody, "{field}");
    }
    let policy = keyed_by("{ client_certificate: common_name }", "ip");
    let nobody = key(&policy, None);
    assert_eq!(key(&policy, Some(&certificate(&[]))), nobody);
    assert_eq!(key(&policy, Some(&certificate(&["billing", "search"]))), nobody, "which of them?");
    let policy = keyed_by("{ client_certificate: email }", "ip");
    assert_eq!(key(&policy, Some(&certificate(&["billing"]))), key(&policy, None));
}
