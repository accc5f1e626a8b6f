//! The fields that describe limits: the field cases of `headers`, and the shapes of each family.

mod support;

use http::HeaderMap;
use proptest::prelude::*;
use sfv::{KeyRef, ListSerializer, StringRef};
use support::{Route, at, bucket, field, fixed, settings, sliding, slots, unix};
use tollgate_core::{Micros, Retry, Standing, Timestamp};
use tollgate_policy::settings::{HeaderFamily, ResetForm};
use tollgate_policy::{Decision, LimitReport, Verdict};
use tollgate_store::Source;

const SECOND: Micros = Micros::from_secs(1);
const MINUTE: Micros = Micros::from_secs(60);

#[test]
fn hdr_01_a_wait_below_a_second_is_told_as_one() {
    let mut route = Route::of("default", bucket(1, SECOND, 1));
    assert_eq!(route.ask(at(0), 1).verdict, Verdict::Admit);
    let second = route.ask(at(894_000), 1);
    assert_eq!(second.verdict, Verdict::Refuse(Retry::After(Micros::new(106_000))));
    assert_eq!(field(&route.refuse(&second).headers, "retry-after"), "1");
}

#[test]
fn hdr_03_the_wait_is_the_decisions_and_not_a_second_look() {
    let mut route = Route::of("default", fixed(1, MINUTE));
    route.ask(at(0), 1);
    let refused = route.ask(at(59_999_000), 1);
    // Time goes on, and the key's counts are gone, before the answer is written.
    let other = Route::of("default", fixed(1, MINUTE));
    assert_eq!(field(&other.refuse(&refused).headers, "retry-after"), "1");
}

#[test]
fn hdr_05_the_next_unit_and_not_the_full_bucket() {
    let mut route = Route::of("default", bucket(1, SECOND, 6));
    let seventh = route.ask_times(at(0), 7);
    let answer = route.refuse(&seventh);
    assert_eq!(field(&answer.headers, "retry-after"), "1");
    assert_eq!(field(&answer.headers, "ratelimit"), "\"default\";r=0;t=1");
    assert_eq!(field(&answer.headers, "ratelimit-policy"), "\"default\";q=6;w=6");
    assert_eq!(field(&answer.headers, "x-ratelimit-reset"), (support::MIDNIGHT + 1).to_string());
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    assert!(!text.contains("6 seconds"), "{text}");
}

#[test]
fn hdr_06_the_wait_counts_the_burst() {
    let mut route = Route::of("default", bucket(1, Micros::from_secs(10), 5));
    let sixth = route.ask_times(at(0), 6);
    assert_eq!(field(&route.refuse(&sixth).headers, "retry-after"), "10");
}

#[test]
fn hdr_07_seconds_for_the_new_field_and_a_unix_time_for_the_old() {
    let mut route = Route::of("default", fixed(100, MINUTE));
    let fiftieth = route.ask_times(unix(1_796_000_017), 50);
    let headers = route.described(&fiftieth);
    assert_eq!(field(&headers, "ratelimit-policy"), "\"default\";q=100;w=60");
    assert_eq!(field(&headers, "ratelimit"), "\"default\";r=50;t=23");
    assert_eq!(field(&headers, "x-ratelimit-limit"), "100");
    assert_eq!(field(&headers, "x-ratelimit-remaining"), "50");
    assert_eq!(field(&headers, "x-ratelimit-reset"), "1796000040");
    assert_eq!(field(&headers, "retry-after"), "", "nothing to wait for");
}

#[test]
fn hdr_10_a_denial_is_described_by_the_limit_that_denied() {
    let hour = Micros::from_secs(3600);
    let mut route =
        Route::new(vec![settings("req", fixed(60, MINUTE)), settings("spend", fixed(1000, hour))]);
    route.answers.reset = ResetForm::Delta;
    let ten_past = unix(support::MIDNIGHT + 600);
    route.take(0, ten_past, 4);
    route.take(1, ten_past, 1000);
    let refused = route.ask(ten_past, 1);
    let answer = route.refuse(&refused);
    assert_eq!(answer.status, 429);
    assert_eq!(field(&answer.headers, "retry-after"), "3000");
    assert_eq!(field(&answer.headers, "x-ratelimit-limit"), "1000");
    assert_eq!(field(&answer.headers, "x-ratelimit-remaining"), "0");
    assert_eq!(field(&answer.headers, "x-ratelimit-reset"), "3000");
    assert_eq!(field(&answer.headers, "ratelimit"), "\"spend\";r=0;t=3000");
    assert_eq!(support::body(&answer)["violated-policies"], serde_json::json!(["spend"]));
    assert_eq!(refused.limits[0].standing.remaining, 56, "req is not charged");
}

#[test]
fn hdr_12_seconds_above_milliseconds_below() {
    for (wait, header, millis) in [(5_001_000, "6", 5001), (5_000_000, "5", 5000), (1, "1", 1)] {
        let mut route = Route::of("default", bucket(1, Micros::new(wait), 1));
        let refused = route.ask_times(at(0), 2);
        let answer = route.refuse(&refused);
        assert_eq!(field(&answer.headers, "retry-after"), header);
        assert_eq!(support::body(&answer)["retry_after_ms"], millis);
    }
}

#[test]
fn hdr_14_a_window_that_is_no_whole_second_is_left_out() {
    let mut route = Route::new(vec![
        settings("fast", sliding(10, Micros::new(250_000))),
        settings("odd", fixed(90, Micros::new(1_500_000))),
    ]);
    route.answers.headers.push(HeaderFamily::Draft03);
    let decision = route.ask(at(0), 1);
    let headers = route.described(&decision);
    assert_eq!(field(&headers, "ratelimit-policy"), "\"fast\";q=10, \"odd\";q=90");
    assert_eq!(field(&headers, "ratelimit-limit"), "10");
}

#[test]
fn the_least_share_left_is_described_where_nothing_refuses() {
    let mut route = Route::new(vec![
        settings("wide", fixed(1000, MINUTE)),
        settings("narrow", fixed(10, MINUTE)),
        settings("twin", fixed(10, MINUTE)),
    ]);
    let decision = route.ask(at(0), 1);
    let headers = route.described(&decision);
    assert_eq!(field(&headers, "ratelimit"), "\"narrow\";r=9;t=60", "the first of equals");
    assert_eq!(
        field(&headers, "ratelimit-policy"),
        "\"wide\";q=1000;w=60, \"narrow\";q=10;w=60, \"twin\";q=10;w=60"
    );
}

#[test]
fn a_shadow_limit_is_not_spoken_of() {
    let mut shadow = settings("trial", fixed(1, MINUTE));
    shadow.rules.shadow = true;
    let mut alone = Route::new(vec![shadow.clone()]);
    let decision = alone.ask(at(0), 1);
    assert!(alone.described(&decision).is_empty());
    let mut route = Route::new(vec![shadow, settings("real", fixed(10, MINUTE))]);
    let decision = route.ask_times(at(0), 3);
    assert!(decision.limits[0].refused, "it would have refused");
    let headers = route.described(&decision);
    assert_eq!(field(&headers, "ratelimit"), "\"real\";r=7;t=60");
    assert_eq!(field(&headers, "ratelimit-policy"), "\"real\";q=10;w=60");
}

#[test]
fn a_period_of_another_length_is_told_as_it_is() {
    let mut route = Route::of("month", fixed(10, MINUTE));
    let responder = route.responder();
    let mut decision = route.ask(at(0), 1);
    for days in [30, 31, 28, 30] {
        decision.limits[0].window = Some(Micros::from_secs(days * 86_400));
        let mut headers = HeaderMap::new();
        responder.describe(&decision, 0, &mut headers);
        let policy = format!("\"month\";q=10;w={}", days * 86_400);
        assert_eq!(field(&headers, "ratelimit-policy"), policy);
    }
}

#[test]
fn without_limits_nothing_is_said() {
    let mut route = Route::new(Vec::new());
    let decision = route.ask(at(0), 1);
    assert!(route.described(&decision).is_empty());
}

#[test]
fn draft_03_lists_policies_behind_the_limit() {
    let mut route =
        Route::new(vec![settings("a", fixed(10, SECOND)), settings("b", fixed(50, MINUTE))]);
    route.answers.headers = vec![HeaderFamily::Draft03];
    let decision = route.ask_times(at(250_000), 3);
    let headers = route.described(&decision);
    assert_eq!(headers.len(), 3, "{headers:?}");
    assert_eq!(field(&headers, "ratelimit-limit"), "10, 10;w=1, 50;w=60");
    assert_eq!(field(&headers, "ratelimit-remaining"), "7");
    assert_eq!(field(&headers, "ratelimit-reset"), "1");
}

#[test]
fn a_refusal_says_of_its_limits_what_any_answer_says_in_the_order_of_the_families() {
    use HeaderFamily::{Draft03, Ietf, XRateLimit};
    let mut route = Route::new(vec![
        settings("a", bucket(1, SECOND, 10)),
        settings("b", fixed(5, Micros::new(1_500_000))),
    ]);
    let refusals = [(route.ask(at(0), 11), 2), (route.ask_times(at(0), 6), 3)];
    for families in [
        vec![],
        vec![Ietf],
        vec![XRateLimit, Ietf],
        vec![Draft03, XRateLimit],
        vec![Ietf, XRateLimit, Draft03],
        vec![Draft03, Ietf, XRateLimit, Ietf],
    ] {
        route.answers.headers = families;
        for (refused, own) in &refusals {
            let answer = route.refuse(refused).headers;
            let names: Vec<_> = answer.keys().take(*own).map(http::HeaderName::as_str).collect();
            assert_eq!(names, ["content-type", "cache-control", "retry-after"][..*own]);
            let described = route.described(refused);
            assert!(answer.iter().skip(*own).eq(&described), "{answer:?}, {described:?}");
            assert!(answer.values().all(|value| !value.is_empty()), "{answer:?}");
        }
    }
}

#[test]
fn the_policy_chooses_the_families() {
    let mut route = Route::of("a", fixed(10, MINUTE));
    route.answers.headers = Vec::new();
    let decision = route.ask_times(at(0), 11);
    let answer = route.refuse(&decision);
    let names: Vec<&str> = answer.headers.keys().map(http::HeaderName::as_str).collect();
    assert_eq!(names, ["content-type", "cache-control", "retry-after"]);
    let all = [HeaderFamily::Draft03, HeaderFamily::XRateLimit, HeaderFamily::Ietf];
    route.answers.headers = [all, all].concat();
    assert_eq!(route.described(&decision).len(), 8);
}

#[test]
fn slots_are_told_as_such_and_their_time_is_not_known() {
    let mut route = Route::of("parallel", slots(2));
    let first = route.ask(at(300_000), 1);
    let headers = route.described(&first);
    assert_eq!(field(&headers, "ratelimit-policy"), "\"parallel\";q=2;qu=\"concurrent-requests\"");
    assert_eq!(field(&headers, "ratelimit"), "\"parallel\";r=1");
    assert_eq!(field(&headers, "x-ratelimit-reset"), (support::MIDNIGHT + 2).to_string());
    let third = route.ask_times(at(300_000), 2);
    let answer = route.refuse(&third);
    assert_eq!(field(&answer.headers, "retry-after"), "1");
    assert_eq!(field(&answer.headers, "ratelimit"), "\"parallel\";r=0;t=1");
    assert_eq!(support::body(&answer)["retry_after_ms"], 1000);
}

#[test]
fn t_is_never_later_than_retry_after() {
    // The estimate falls as time passes, so a sliding window may admit long before its next edge.
    let mut route = Route::of("slide", sliding(60, MINUTE));
    (0..60).for_each(|_| drop(route.ask(at(30_000_000), 1)));
    let refused = route.ask(at(60_000_000), 1);
    assert_eq!(refused.verdict, Verdict::Refuse(Retry::After(SECOND)));
    let answer = route.refuse(&refused);
    assert_eq!(field(&answer.headers, "retry-after"), "1");
    assert_eq!(field(&answer.headers, "ratelimit"), "\"slide\";r=0;t=1");
    // A wait for several units is longer than the time to the next one.
    let mut route = Route::of("bucket", bucket(1, SECOND, 10));
    route.ask(at(0), 10);
    let refused = route.ask(at(0), 5);
    let headers = route.refuse(&refused).headers;
    assert_eq!(field(&headers, "retry-after"), "5");
    assert_eq!(field(&headers, "ratelimit"), "\"bucket\";r=0;t=1");
    assert_eq!(field(&headers, "x-ratelimit-reset"), (support::MIDNIGHT + 5).to_string());
}

#[test]
fn fields_of_an_upstream_are_joined_or_replaced() {
    let mut route = Route::of("ours", fixed(10, MINUTE));
    let decision = route.ask(at(0), 1);
    let mut headers = HeaderMap::new();
    headers.insert("ratelimit", "\"theirs\";r=0;t=9".parse().unwrap());
    headers.insert("x-ratelimit-remaining", "99".parse().unwrap());
    route.responder().describe(&decision, 0, &mut headers);
    let lists: Vec<_> = headers.get_all("ratelimit").iter().collect();
    assert_eq!(lists, ["\"theirs\";r=0;t=9", "\"ours\";r=9;t=60"]);
    let single: Vec<_> = headers.get_all("x-ratelimit-remaining").iter().collect();
    assert_eq!(single, ["9"]);
}

/// A decision on one limit with these numbers.
fn decision(name: &str, quota: u64, remaining: u64, next: u64, refused: Option<Retry>) -> Decision {
    let standing = Standing { remaining, reset: Micros::new(next), next: Micros::new(next) };
    let verdict = refused.map_or(Verdict::Admit, Verdict::Refuse);
    let report = LimitReport {
        limit: 0,
        name: name.into(),
        class: None,
        cost: 1,
        refused: refused.is_some(),
        shadow: false,
        retry: refused.unwrap_or(Retry::After(Micros::ZERO)),
        wait: Micros::ZERO,
        quota,
        window: Some(MINUTE),
        standing,
        source: Source::Store,
        unavailable: false,
    };
    let limits = [report].into_iter().collect();
    let now = Timestamp::from_micros(1_796_000_000_000_001);
    Decision {
        verdict,
        judged: verdict,
        route: Some(0),
        limits,
        now,
        taken: [].into_iter().collect(),
    }
}

#[test]
fn a_name_that_no_structured_string_can_hold_is_percent_encoded() {
    let decision = decision("naïve \"q\" \\", 1, 1, 0, None);
    let headers = Route::new(Vec::new()).described(&decision);
    assert_eq!(field(&headers, "ratelimit"), "\"na%C3%AFve \\\"q\\\" \\\\\";r=1");
}

#[test]
fn integers_have_at_most_fifteen_digits() {
    let headers = Route::new(Vec::new()).described(&decision("big", u64::MAX, u64::MAX, 0, None));
    assert_eq!(field(&headers, "ratelimit"), "\"big\";r=999999999999999");
    assert_eq!(field(&headers, "ratelimit-policy"), "\"big\";q=999999999999999;w=60");
}

fn integer(value: u64) -> sfv::Integer {
    value.min(999_999_999_999_999).try_into().expect("fifteen digits are an integer")
}

proptest! {
    #[test]
    fn what_is_written_equals_what_sfv_writes(
        name in "[ -~]{0,20}", quota in any::<u64>(), remaining in any::<u64>(), next in any::<u64>(),
    ) {
        let headers = Route::new(Vec::new()).described(&decision(&name, quota, remaining, next, None));
        let mut list = ListSerializer::new();
        let item = list.bare_item(StringRef::from_str(&name).unwrap());
        let item = item.parameter(KeyRef::from_str("r").unwrap(), integer(remaining.min(quota)));
        if next > 0 {
            item.parameter(KeyRef::from_str("t").unwrap(), integer(next.div_ceil(1_000_000)));
        }
        prop_assert_eq!(field(&headers, "ratelimit"), list.finish().unwrap());
        let mut list = ListSerializer::new();
        list.bare_item(StringRef::from_str(&name).unwrap())
            .parameter(KeyRef::from_str("q").unwrap(), integer(quota))
            .parameter(KeyRef::from_str("w").unwrap(), 60);
        prop_assert_eq!(field(&headers, "ratelimit-policy"), list.finish().unwrap());
    }

    #[test]
    fn stated_times_agree_and_are_never_early(
        wait in 0..10_u64.pow(15), next in 0..10_u64.pow(15), percent in 0..=100_u8, random in any::<u64>(),
    ) {
        let next = next.min(wait);
        let decision = decision("a", 5, 0, next, Some(Retry::After(Micros::new(wait))));
        let mut route = Route::new(Vec::new());
        route.answers.retry_jitter = percent;
        let answer = route.responder().refuse(&decision, random);
        let header: u64 = field(&answer.headers, "retry-after").parse().unwrap();
        let millis = support::body(&answer)["retry_after_ms"].as_u64().unwrap();
        prop_assert!(header >= 1);
        prop_assert!(header * 1000 >= millis && header * 1000 < millis + 1000, "{header} s, {millis} ms");
        let exact = if wait == 0 { 1_000_000 } else { wait };
        prop_assert!(header * 1_000_000 >= exact && millis * 1000 >= exact, "never early");
        let most = u128::from(exact) * (100 + u128::from(percent)) / 100;
        prop_assert!(u128::from(millis) <= most.div_ceil(1000), "never longer than the policy says");
        let t: u64 = field(&answer.headers, "ratelimit").rsplit('=').next().unwrap().parse().unwrap();
        prop_assert!(t <= header, "t {t} is later than Retry-After {header}");
        prop_assert!(t * 1_000_000 >= next, "t {t} is early");
        let reset: u64 = field(&answer.headers, "x-ratelimit-reset").parse().unwrap();
        prop_assert!(reset >= 1_796_000_000 + header, "the old field is earlier than Retry-After");
    }
}

#[test]
fn jitter_spreads_over_its_whole_share() {
    let refused = decision("a", 5, 0, 100_000_000, Some(Retry::After(Micros::from_secs(100))));
    let mut route = Route::new(Vec::new());
    route.answers.retry_jitter = 20;
    let retry = |random| {
        let answer = route.responder().refuse(&refused, random);
        field(&answer.headers, "retry-after").parse::<u64>().unwrap()
    };
    assert_eq!(retry(0), 100);
    assert_eq!(retry(u64::MAX / 2), 110);
    assert_eq!(retry(u64::MAX), 120);
}
