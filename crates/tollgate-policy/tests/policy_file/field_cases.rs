//! Real faults of other limiters that concern the policy's text. Of the kinds that this reader answers for, `rel-01` and
//! `rel-03` concern counts across a reload, and `num-03 (a)` and `num-20`'s denials the arithmetic: they are tested there.

use tollgate_core::{Algorithm, Burst, FixedWindow, Micros, Rate, TokenBucket};

use super::{errors, meaning, with_limit};

/// An unknown source must not be read as something else: the rule is named, and the valid sources are.
#[test]
fn key_08_an_unknown_source_is_refused_and_the_valid_ones_listed() {
    let found = errors(
        "limits:\n  per-user: { key: [user], sliding_window: { limit: 5, window: 1m } }\n\
         routes: [{ limits: [per-user] }]\n",
    );
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("2:21 there is no identity `user`"), "{found:#?}");
    assert!(found[0].contains("`ip` is always there"), "{found:#?}");
    let found = errors("identity:\n  user: { claim: sub }\nroutes: []\n");
    for source in ["header", "query", "cookie", "path", "jwt", "api_key", "basic", "ip", "table"] {
        assert!(found[0].contains(&format!("`{source}`")), "{source} not in {found:#?}");
    }
    let found = errors("identity:\n  user: user\nroutes: []\n");
    assert!(found[0].starts_with("2:9 `user` is no identity source"), "{found:#?}");
}

/// A key that is forgotten is no key of everybody's.
#[test]
fn key_08_a_key_must_be_said() {
    let found = errors("limits: { a: { sliding_window: { limit: 5, window: 1m } } }\nroutes: []\n");
    assert!(found[0].starts_with("1:14 a limit needs the field `key`"), "{found:#?}");
}

/// The capacity is the rate's count; `tollgate validate` prints it.
#[test]
fn win_08_capacity_is_the_count_unless_said() {
    for (limit, burst) in [
        ("token_bucket: { rate: 6 per 1m }", Burst::Units(6)),
        ("token_bucket: { rate: 6 per 1m, burst: 6 }", Burst::Units(6)),
        ("token_bucket: { rate: 6 per 1m, burst: 1 }", Burst::Units(1)),
    ] {
        let read = meaning(&with_limit(limit));
        let rate = Rate { count: 6, per: Micros::from_secs(60) };
        let expected = TokenBucket { rate, burst, empty_at: None };
        let algorithm = read.settings.limits[0].classes[0].algorithm.clone();
        assert_eq!(algorithm, Some(Algorithm::TokenBucket(expected)), "{limit}");
    }
}

#[test]
fn num_03_a_rate_above_one_a_millisecond_loads_exactly() {
    let read = meaning(&with_limit("token_bucket: { rate: 120000 per minute }"));
    let rate = Rate { count: 120_000, per: Micros::from_secs(60) };
    let burst = Burst::Units(120_000);
    let bucket = TokenBucket { rate, burst, empty_at: None };
    assert_eq!(read.settings.limits[0].classes[0].algorithm, Some(Algorithm::TokenBucket(bucket)));
    for count in ["1", "700", "59999", "60001", "999983", "1000000000"] {
        meaning(&with_limit(&format!("token_bucket: {{ rate: {count}/m, burst: 1 }}")));
    }
}

/// The largest limits are kept to the last unit, or refused with a clear word; never something else.
#[test]
fn num_10_the_largest_limits() {
    let window =
        |limit: &str| with_limit(&format!("fixed_window: {{ limit: {limit}, window: 1h }}"));
    let read = meaning(&window("2147483647"));
    let expected = FixedWindow { limit: 2_147_483_647, window: Micros::from_secs(3600) };
    assert_eq!(
        read.settings.limits[0].classes[0].algorithm,
        Some(Algorithm::FixedWindow(expected))
    );
    match super::read(&window("18446744073709551615")) {
        Ok(read) => {
            let expected = FixedWindow { limit: u64::MAX, window: Micros::from_secs(3600) };
            assert_eq!(
                read.settings.limits[0].classes[0].algorithm,
                Some(Algorithm::FixedWindow(expected))
            );
        }
        Err(report) => assert_eq!(report.diagnostics()[0].line, 4, "{report}"),
    }
    assert!(errors(&window("18446744073709551616"))[0].contains("too large"));
}

/// Zero shuts; only the word `unlimited` opens.
#[test]
fn num_18_zero_is_a_limit_and_unlimited_is_a_word() {
    for limit in [
        "token_bucket: { rate: 0/m }",
        "fixed_window: { limit: 0, window: 1m }",
        "sliding_window: { limit: 0, window: 1m }",
        "sliding_log: { limit: 0, window: 1m }",
        "quota: { limit: 0, every: day }",
        "concurrency: { limit: 0, ttl: 1m }",
    ] {
        let read = meaning(&with_limit(limit));
        assert!(read.settings.limits[0].classes[0].algorithm.is_some(), "{limit}");
    }
    let read = meaning(&with_limit("fixed_window: unlimited"));
    assert!(read.settings.limits[0].classes[0].algorithm.is_none());
    for wrong in ["fixed_window: { limit: unlimited, window: 1m }", "fixed_window: none"] {
        assert_eq!(errors(&with_limit(wrong)).len(), 1, "{wrong}");
    }
}

#[test]
fn num_20_no_time_at_all_is_refused() {
    for (limit, fine) in [
        ("fixed_window: { limit: 0, window: 1s }", true),
        ("fixed_window: { limit: 5, window: 0s }", false),
        ("fixed_window: { limit: 0, window: 0s }", false),
        ("token_bucket: { rate: 0/s }", true),
        ("token_bucket: { rate: 5 per 0s }", false),
        ("token_bucket: { rate: 0 per 0s }", false),
    ] {
        assert_eq!(errors(&with_limit(limit)).is_empty(), fine, "{limit}");
    }
}

/// A name stands once: which of two numbers holds is never chance.
#[test]
fn rel_06_two_numbers_for_one_limit_are_refused() {
    let policy = |limits: &str| format!("limits:\n{limits}routes: [{{ limits: [api] }}]\n");
    let limit = |number: u32| {
        format!("  api: {{ key: [ip], fixed_window: {{ limit: {number}, window: 60s }} }}\n")
    };
    let found = errors(&policy(&(limit(6945) + &limit(70))));
    assert_eq!(found, ["3:3 `api` is here twice (it stands in line 2 already; keep one)"]);
    assert_eq!(meaning(&policy(&limit(70))).settings.limits.len(), 1);
    let identity = "identity: { a: { query: x }, a: { query: y } }\nroutes: []\n";
    assert!(errors(identity)[0].contains("`a` is here twice"));
}

/// Nothing comes of a file in which anything is wrong: there is no half of it to apply.
#[test]
fn rel_08_one_wrong_limit_refuses_the_whole_file() {
    let limit = |name: &str, rate: &str| {
        format!("  {name}: {{ key: [ip], token_bucket: {{ rate: {rate} }} }}\n")
    };
    let text = format!(
        "limits:\n{}{}{}routes: [{{ limits: [one, two, three] }}]\n",
        limit("one", "100/s"),
        limit("two", "5/s"),
        limit("three", "-3/s")
    );
    let found = errors(&text);
    assert_eq!(found, ["4:45 `-3/s` is negative (a rate is zero or more)"]);
}

/// NAT64 is a choice that the policy shows.
#[test]
fn v6_05_nat64_is_said_in_the_policy() {
    assert!(!meaning("routes: []\n").settings.client_address.nat64);
    let said = meaning("client_address: { nat64: true }\nroutes: []\n");
    assert!(said.settings.client_address.nat64);
}

/// A probe that is limited is said beforehand.
#[test]
fn http_07_a_limited_probe_is_warned_of() {
    let limit = "limits: { a: { key: [ip], sliding_window: { limit: 1000, window: 1h } } }\n";
    let open = format!("{limit}routes: [{{ limits: [a] }}]\n");
    assert!(super::warnings(&open).iter().any(|line| line.contains("`/healthz`")));
    let exempt = format!(
        "{limit}routes:\n- {{ match: {{ path: \"/*\" }}, limits: [] }}\n- {{ limits: [a] }}\n"
    );
    assert!(super::warnings(&exempt).iter().all(|line| !line.contains("probes")));
}

/// A delay that nobody bounded is refused, and one that is said is kept.
#[test]
fn que_07_a_long_queue_needs_its_longest_wait() {
    let found = errors(&with_limit("leaky_bucket: { rate: 1 per 10s, burst: 6 }"));
    assert!(found[0].contains("requests may wait 1m10s here"), "{found:#?}");
    meaning(&with_limit("leaky_bucket: { rate: 1 per 10s, burst: 6, max_wait: 5s }"));
    meaning(&with_limit("leaky_bucket: { rate: 1 per 10s, burst: 5 }"));
}
