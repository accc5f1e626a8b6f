//! From a request's head to what its sender reads: the field cases of `client-address` and `ip-prefix` that count. The reading
//! of single entries is tested beside the parsers.

mod support;

use std::net::IpAddr;

use http::Request;
use support::{body, field};
use tollgate_core::Timestamp;
use tollgate_http::{Answer, Responder, facts_of};
use tollgate_policy::file::{Surroundings, read};
use tollgate_policy::{Charges, Engine, Mode, Policy, Ruling, Verdict};
use tollgate_store::{MemoryOptions, MemoryStore};

/// A policy in force.
struct Gate {
    engine: Engine<MemoryStore>,
    responder: Responder,
}

/// Seconds after a full minute.
fn moment(seconds: u64) -> Timestamp {
    Timestamp::from_micros((1_796_000_040 + seconds) * 1_000_000)
}

impl Gate {
    /// One limit by address, with these parameters.
    fn new(client_address: &str, limit: &str) -> Gate {
        let text = format!(
            "client_address: {client_address}\nlimits:\n  by-address: {{ key: [ip], {limit} }}\n\
             routes:\n  - {{ match: {{ path: /** }}, limits: [by-address] }}\n"
        );
        let settings = read("policy.yaml", &text, &Surroundings::new("."))
            .map_err(|report| report.to_string())
            .expect("the tests' policy is sound")
            .settings;
        let responder = Responder::new(&settings.answers, &settings.limits);
        let policy = Policy::compile(settings).expect("the tests' policy compiles");
        let store = MemoryStore::new(MemoryOptions::default());
        Gate { engine: Engine::new(policy, store, Mode::Enforce, moment(0)), responder }
    }

    /// What a request with this field is answered; `None` where it passes.
    fn ask(&self, seconds: u64, peer: &str, name: &str, value: &str) -> Option<Answer> {
        let request = Request::get("/v1/x").header(name, value).body(()).expect("a request");
        let (parts, ()) = request.into_parts();
        let bound = self.engine.policy();
        let peer: IpAddr = peer.parse().expect("an address");
        let facts = facts_of(bound.client_address(), Some(peer), &parts);
        let ruling = self.engine.decide_now(&facts, moment(seconds), None, &mut Charges::default());
        let Ok(Ruling::Decided(decision)) = ruling else { panic!("{ruling:?}") };
        let refused = matches!(decision.verdict, Verdict::Refuse(_));
        refused.then(|| self.responder.refuse(&decision, 0))
    }

    /// Which of the requests, one a second, are refused.
    fn refused(&self, peer: &str, name: &str, values: &[&str]) -> Vec<bool> {
        let times = (0..).zip(values);
        times.map(|(second, value)| self.ask(second, peer, name, value).is_some()).collect()
    }
}

const TRUSTED: &str = "{ trusted_proxies: ['10.0.0.0/8'], ipv6_prefix: 128 }";
const TWO_A_MINUTE: &str = "fixed_window: { limit: 2, window: 1m }";
const PEER: &str = "10.0.0.5";

#[test]
fn addr_01_a_client_that_writes_its_own_address_gains_nothing() {
    let gate = Gate::new("{ trusted_proxies: [] }", "token_bucket: { rate: 3/minute, burst: 3 }");
    let spoofed = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];
    assert_eq!(gate.refused("203.0.113.50", "x-forwarded-for", &spoofed), [false; 3]);
    let fourth = gate.ask(3, "203.0.113.50", "x-forwarded-for", "192.0.2.4").expect("a refusal");
    assert_eq!(field(&fourth.headers, "retry-after"), "17");
    assert_eq!(body(&fourth)["retry_after_ms"], 17_000);
    assert_eq!(gate.engine.store().usage()[0].keys, 1, "no bucket for what was written");
    let text = String::from_utf8_lossy(&fourth.body).into_owned();
    assert!(!text.contains("203.0.113.50") && !text.contains("192.0.2.4"), "{text}");
}

#[test]
fn addr_05_another_header_changes_no_key() {
    let gate = Gate::new(TRUSTED, TWO_A_MINUTE);
    let forwarded = ["for=198.51.100.1", "for=198.51.100.2", "for=198.51.100.3"];
    assert_eq!(gate.refused(PEER, "forwarded", &forwarded), [false, false, true]);
}

#[test]
fn addr_10_hidden_identifiers_are_one_key() {
    let trusted = "{ trusted_proxies: ['10.0.0.0/8'], header: forwarded }";
    let gate = Gate::new(trusted, TWO_A_MINUTE);
    let hidden = ["for=_a1", "for=_b2", "for=_c3"];
    assert_eq!(gate.refused(PEER, "forwarded", &hidden), [false, false, true]);
}

#[test]
fn v6_02_one_address_is_one_key_in_bits() {
    let gate = Gate::new("{ trusted_proxies: ['10.0.0.0/8'], ipv6_prefix: 56 }", TWO_A_MINUTE);
    let mapped = ["::ffff:198.51.100.23", "::ffff:c633:6417", "198.51.100.23"];
    assert_eq!(gate.refused(PEER, "x-forwarded-for", &mapped), [false, false, true]);
    let one_net =
        ["2001:db8:77:88ff::198.51.100.23", "2001:db8:77:88ff::c633:6417", "2001:db8:77:8800::1"];
    assert_eq!(gate.refused(PEER, "x-forwarded-for", &one_net), [false, false, true]);
}

#[test]
fn v6_05_nat64_is_unwrapped_only_where_the_policy_says_so() {
    let both = ["64:ff9b::c000:201", "64:ff9b::c000:202"];
    let one = "fixed_window: { limit: 1, window: 1m }";
    let unwrapped = Gate::new("{ trusted_proxies: ['10.0.0.0/8'], nat64: true }", one);
    assert_eq!(unwrapped.refused(PEER, "x-forwarded-for", &both), [false, false]);
    let plain = Gate::new("{ trusted_proxies: ['10.0.0.0/8'] }", one);
    assert_eq!(plain.refused(PEER, "x-forwarded-for", &both), [false, true]);
}

#[test]
fn v6_07_spellings_are_one_key() {
    let gate = Gate::new(TRUSTED, TWO_A_MINUTE);
    let spellings = ["2001:DB8::1", "2001:db8:0:0:0:0:0:1", "2001:0db8::0001"];
    assert_eq!(gate.refused(PEER, "x-forwarded-for", &spellings), [false, false, true]);
}

#[test]
fn key_12_an_answer_never_repeats_a_credential() {
    let gate = Gate::new("{ trusted_proxies: [] }", "fixed_window: { limit: 0, window: 1m }");
    let answer = gate.ask(0, PEER, "authorization", "Bearer tok_example_123").expect("a refusal");
    let text = format!("{:?} {}", answer.headers, String::from_utf8_lossy(&answer.body));
    assert!(!text.contains("tok_example_123") && !text.contains(PEER), "{text}");
}
