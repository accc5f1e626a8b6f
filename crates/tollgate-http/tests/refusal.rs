//! Whole answers: refusals, and requests that could not be decided. The snapshots are what clients see.

mod support;

use std::sync::Arc;

use http::{Method, StatusCode};
use support::{Route, at, body, bucket, field, fixed, settings, slots, wire};
use tollgate_core::{Algorithm, LeakyBucket, Micros, Quota, Rate};
use tollgate_http::{Answer, Problem};
use tollgate_policy::Rejection;
use tollgate_policy::settings::{Calendar, Every, HeaderFamily};

const MINUTE: Micros = Micros::from_secs(60);

/// An answer of 30 a minute used up, 37 s into the minute.
fn used_up() -> (Route, Answer) {
    let mut route = Route::of("per-user", fixed(30, MINUTE));
    let refused = route.ask_times(at(37_000_000), 31);
    let answer = route.refuse(&refused);
    (route, answer)
}

#[test]
fn a_window_used_up() {
    insta::assert_snapshot!(wire(&used_up().1));
}

#[test]
fn every_family_at_once() {
    let (mut route, _) = used_up();
    route.answers.headers =
        vec![HeaderFamily::Ietf, HeaderFamily::XRateLimit, HeaderFamily::Draft03];
    let refused = route.ask(at(37_000_000), 1);
    insta::assert_snapshot!(wire(&route.refuse(&refused)));
}

#[test]
fn num_14_a_cost_that_no_wait_can_cure() {
    let mut route = Route::of("k", bucket(1, MINUTE, 6));
    let refused = route.ask(at(0), 10);
    let answer = route.refuse(&refused);
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(!answer.headers.contains_key("retry-after"));
    assert!(body(&answer).get("retry_after_ms").is_none());
    let detail = body(&answer)["detail"].to_string();
    assert!(detail.contains("costs 10, which exceeds the 6"), "{detail}");
    assert_eq!(field(&answer.headers, "ratelimit"), "\"k\";r=6", "nothing was taken");
    insta::assert_snapshot!(wire(&answer));
}

#[test]
fn a_limit_of_nothing() {
    let mut route = Route::of("closed", fixed(0, MINUTE));
    let refused = route.ask(at(0), 1);
    insta::assert_snapshot!(wire(&route.refuse(&refused)));
}

#[test]
fn several_limits_that_refuse_are_all_named() {
    let mut route = Route::new(vec![
        settings("minute", bucket(1, Micros::from_secs(6), 1)),
        settings("open", fixed(100, MINUTE)),
        settings("day", fixed(1, Micros::from_secs(86_400))),
    ]);
    let refused = route.ask_times(at(0), 2);
    insta::assert_snapshot!(wire(&route.refuse(&refused)));
}

#[test]
fn slots_all_held() {
    let mut route = Route::of("parallel", slots(1));
    let refused = route.ask_times(at(0), 2);
    insta::assert_snapshot!(wire(&route.refuse(&refused)));
}

#[test]
fn the_policys_own_words() {
    let mut limit = settings("cluster", fixed(1, MINUTE));
    limit.key = Vec::new();
    limit.refusal.status = 503;
    limit.refusal.title = Some("The \"kitchen\" is full".to_owned());
    limit.refusal.detail = Some("Line 1\nLine 2 \\ end".to_owned());
    let mut route = Route::new(vec![limit]);
    let refused = route.ask_times(at(0), 2);
    insta::assert_snapshot!(wire(&route.refuse(&refused)));
}

#[test]
fn overload_is_nobodys_own_fault() {
    let mut limit = settings("cluster", fixed(1, MINUTE));
    limit.refusal.status = 503;
    let mut route = Route::new(vec![limit]);
    let refused = route.ask_times(at(0), 2);
    let answer = route.refuse(&refused);
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    let kind = "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity";
    assert_eq!(body(&answer)["type"], kind);
    assert_eq!(field(&answer.headers, "retry-after"), "60");
}

/// `on_store_failure: refuse`: nobody knows the count, and nobody is to blame.
#[test]
fn red_17_a_store_that_is_away_is_nobodys_own_fault() {
    let mut route =
        Route::new(vec![settings("away", fixed(5, MINUTE)), settings("here", fixed(5, MINUTE))]);
    let mut decision = route.ask_times(at(0), 6);
    assert!(decision.refused_by().count() == 2);
    decision.limits[0].unavailable = true;
    let answer = route.refuse(&decision);
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS, "the other limit did count");
    assert!(field(&answer.headers, "ratelimit").starts_with("\"here\""), "{answer:?}");
    assert!(!field(&answer.headers, "ratelimit-policy").contains("away"), "{answer:?}");
    decision.limits[1].refused = false;
    let answer = route.refuse(&decision);
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(field(&answer.headers, "retry-after"), "60");
    assert!(!answer.headers.contains_key("ratelimit"), "nothing is known to tell of");
    let problem = body(&answer);
    assert!(problem["type"].to_string().contains("temporary-reduced-capacity"), "{problem}");
    assert!(problem["detail"].to_string().contains("cannot be reached"), "{problem}");
    decision.limits[0].refused = false;
    let passing = route.described(&decision);
    assert!(field(&passing, "ratelimit").starts_with("\"here\""), "{passing:?}");
    decision.limits[1].unavailable = true;
    assert!(route.described(&decision).is_empty(), "`allow`: nothing is known of either");
}

#[test]
fn the_deciding_limit_shapes_the_answer() {
    let mut machine = settings("machine", fixed(1, Micros::from_secs(1)));
    machine.refusal.status = 503;
    let mut route = Route::new(vec![settings("user", fixed(1, MINUTE)), machine]);
    let refused = route.ask_times(at(0), 2);
    let answer = route.refuse(&refused);
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS, "the user's wait is the longer one");
    assert_eq!(body(&answer)["violated-policies"], serde_json::json!(["user", "machine"]));
}

#[test]
fn http_01_no_cache_may_keep_an_answer_of_ours() {
    let answers = [
        used_up().1,
        Problem::new(StatusCode::BAD_GATEWAY, "x").answer(),
        Problem::overloaded("x", 0).answer(),
        used_up().0.responder().reject(&Rejection::NoRoute),
    ];
    for answer in answers {
        let values: Vec<_> = answer.headers.get_all("cache-control").iter().collect();
        assert_eq!(values, ["no-store"]);
        assert_eq!(field(&answer.headers, "content-type"), "application/problem+json");
        assert_eq!(body(&answer)["status"], answer.status.as_u16());
    }
}

#[test]
fn an_answer_to_head_has_the_length_and_no_body() {
    let (_, answer) = used_up();
    let length = answer.body.len().to_string();
    let head = answer.clone().into_response(&Method::HEAD);
    assert_eq!(head.headers()["content-length"], length.as_str());
    assert!(head.body().is_empty());
    let get = answer.clone().into_response(&Method::GET);
    assert_eq!((get.status(), get.body()), (answer.status, &answer.body));
}

#[test]
fn a_decision_of_another_policy_is_still_told_truly() {
    let (_, answer) = used_up();
    let mut route = Route::of("per-user", fixed(30, MINUTE));
    let refused = route.ask_times(at(37_000_000), 31);
    for reloaded in [Route::new(Vec::new()), Route::of("another", slots(3))] {
        let told = reloaded.refuse(&refused);
        assert_eq!(told.headers, answer.headers);
        assert_eq!(body(&told)["violated-policies"], serde_json::json!(["per-user"]));
        assert!(body(&told)["detail"].to_string().contains("The limit per-user allows 30."));
    }
}

#[test]
fn rejections() {
    let responder = Route::new(Vec::new()).responder();
    let missing = Rejection::MissingIdentity {
        limit: Arc::from("per-\"user\""),
        identity: Arc::from("user"),
    };
    let pages: Vec<String> = [Rejection::NoRoute, Rejection::BadPath, missing]
        .iter()
        .map(|rejection| wire(&responder.reject(rejection)))
        .collect();
    insta::assert_snapshot!(pages.join("\n"));
}

#[test]
fn problems_of_the_gateway() {
    let pages = [
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "The body is longer than 1048576 bytes.")
            .answer(),
        Problem::overloaded("Too many requests wait for their turn.", 0).answer(),
    ];
    insta::assert_snapshot!(pages.iter().map(wire).collect::<Vec<_>>().join("\n"));
}

#[test]
fn rules_in_plain_words() {
    let day = Calendar { every: Every::Day, time_zone: "Europe/Berlin".to_owned(), starts: 1 };
    let leaky = LeakyBucket {
        rate: Rate { count: 8000, per: Micros::from_secs(1) },
        burst: 200,
        nodelay: false,
        max_wait: None,
    };
    let limits = [
        ("quota", Algorithm::Quota(Quota { limit: 1000 }), Some(day)),
        ("leaky", Algorithm::LeakyBucket(leaky), None),
        ("bucket", bucket(5, Micros::new(1_500_000), 7), None),
    ];
    let details: Vec<String> = limits
        .into_iter()
        .map(|(name, algorithm, calendar)| {
            let mut limit = settings(name, algorithm);
            limit.classes[0].calendar = calendar;
            // What the words are is asked of the settings; the numbers are another's.
            let mut counted = Route::of(name, fixed(1, MINUTE));
            let refused = counted.ask_times(at(0), 2);
            body(&Route::new(vec![limit]).refuse(&refused))["detail"].to_string()
        })
        .collect();
    insta::assert_snapshot!(details.join("\n"));
}
