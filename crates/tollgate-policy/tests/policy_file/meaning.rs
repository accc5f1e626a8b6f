//! What a policy without mistakes means.

use std::sync::Arc;

use tollgate_core::{
    Algorithm, Burst, Concurrency, FixedWindow, LeakyBucket, Micros, Quota, Rate, SlidingLog,
    SlidingWindow, Timestamp, TokenBucket,
};
use tollgate_policy::file::{self, Surroundings};
use tollgate_policy::settings::{
    ApiKeyAt, Calendar, Cost, DefaultRoute, Every, Fold, From, HeaderFamily, HeaderMatch,
    IdentityRef, JwtKeys, ListenAt, Listener, LogField, LogFormat, LogPart, LogSample, LogTarget,
    Missing, ResetForm, Secret, Share, Source, StoreSettings, TableRows, TraceContext,
};
use tollgate_policy::{Chain, ForwardedHeader, Forwarding, Hops, Mode};

use super::{meaning, with_limit};

fn rate(count: u64, seconds: u64) -> Rate {
    Rate { count, per: Micros::from_secs(seconds) }
}

fn algorithm(limit: &str) -> Algorithm {
    let settings = meaning(&with_limit(limit)).settings;
    settings.limits[0].classes[0].algorithm.clone().unwrap()
}

#[test]
fn every_algorithm() {
    let minute = Micros::from_secs(60);
    let bucket = |rate, burst| Algorithm::TokenBucket(TokenBucket { rate, burst, empty_at: None });
    let leaky = |burst, nodelay, max_wait| {
        Algorithm::LeakyBucket(LeakyBucket { rate: rate(10, 1), burst, nodelay, max_wait })
    };
    for (limit, expected) in [
        ("token_bucket: { rate: 6/m }", bucket(rate(6, 60), Burst::Units(6))),
        ("token_bucket: { rate: 6/m, burst: 1 }", bucket(rate(6, 60), Burst::Units(1))),
        (
            "token_bucket: { rate: 6/m, burst: 2s }",
            bucket(rate(6, 60), Burst::Span(Micros::from_secs(2))),
        ),
        ("token_bucket: { rate: 0/s }", bucket(rate(0, 1), Burst::Units(0))),
        ("leaky_bucket: { rate: 10/s }", leaky(0, false, None)),
        ("leaky_bucket: { rate: 10/s, burst: 9999, nodelay: true }", leaky(9999, true, None)),
        (
            "leaky_bucket: { rate: 10/s, burst: 9999, max_wait: 1m }",
            leaky(9999, false, Some(minute)),
        ),
        (
            "leaky_bucket: { rate: 10/s, burst: 9999, max_wait: unlimited }",
            leaky(9999, false, None),
        ),
        (
            "fixed_window: { limit: 0, window: 1m }",
            Algorithm::FixedWindow(FixedWindow { limit: 0, window: minute }),
        ),
        (
            "sliding_window: { limit: 5, window: 1m, cells: 6 }",
            Algorithm::SlidingWindow(SlidingWindow { limit: 5, window: minute, cells: 6 }),
        ),
        (
            "sliding_log: { limit: 10000, window: 1m }",
            Algorithm::SlidingLog(SlidingLog { limit: 10_000, window: minute }),
        ),
        ("quota: { limit: 5, every: day }", Algorithm::Quota(Quota { limit: 5 })),
        (
            "concurrency: { limit: 5, ttl: 1m }",
            Algorithm::Concurrency(Concurrency { limit: 5, ttl: minute }),
        ),
    ] {
        assert_eq!(algorithm(limit), expected, "{limit}");
    }
}

#[test]
fn an_empty_start_is_the_moment_of_loading() {
    let text = with_limit("token_bucket: { rate: 6/m, initial: empty }");
    let empty_at = |settings: &tollgate_policy::settings::Settings| match settings.limits[0].classes
        [0]
    .algorithm
    {
        Some(Algorithm::TokenBucket(TokenBucket { empty_at, .. })) => empty_at,
        _ => panic!("no bucket"),
    };
    let moment = Timestamp::from_micros(1_767_225_600_000_000);
    let at_load = Surroundings::new(".").loaded_at(moment);
    let read = file::read("p", &text, &at_load).unwrap();
    assert_eq!(empty_at(&read.settings), Some(moment));
    let mut settings = meaning(&text).settings;
    assert_eq!(empty_at(&settings), Some(Timestamp::EPOCH));
    settings.set_loaded_at(moment);
    assert_eq!(empty_at(&settings), Some(moment));
    let mut full = meaning(&with_limit("token_bucket: { rate: 6/m, initial: full }")).settings;
    full.set_loaded_at(moment);
    assert_eq!(empty_at(&full), None);
}

#[test]
fn calendars() {
    let calendar = |limit: &str| {
        meaning(&with_limit(limit)).settings.limits[0].classes[0].calendar.clone().unwrap()
    };
    let expected = |every, zone: &str, starts| Calendar { every, time_zone: zone.into(), starts };
    assert_eq!(calendar("quota: { limit: 5, every: hour }"), expected(Every::Hour, "UTC", 1));
    let spelt_out = "quota: { limit: 5, every: week, starts: 1 }";
    assert_eq!(calendar(spelt_out), expected(Every::Week, "UTC", 1));
    assert_eq!(
        calendar("quota: { limit: 5, every: month, time_zone: Asia/Kolkata, starts: 31 }"),
        expected(Every::Month, "Asia/Kolkata", 31)
    );
}

#[test]
fn defaults_of_a_small_policy() {
    let read = meaning("routes: [{ limits: [] }]\n");
    let settings = &read.settings;
    assert_eq!(settings.listeners, []);
    assert_eq!(settings.admin, Some("127.0.0.1:8090".parse().unwrap()));
    assert_eq!(settings.store, StoreSettings::Memory { snapshot: None });
    assert_eq!(settings.client_address.hops, Hops::Trusted(Vec::new()));
    assert_eq!(settings.client_address.ipv6_prefix, 64);
    assert_eq!(settings.default, DefaultRoute::Admit);
    assert_eq!(settings.mode, Mode::Enforce);
    assert_eq!(settings.answers.headers, [HeaderFamily::Ietf, HeaderFamily::XRateLimit]);
    assert_eq!((settings.answers.reset, settings.answers.retry_jitter), (ResetForm::Epoch, 0));
    assert_eq!(settings.routes[0].cost, Cost::Fixed(1));
    assert!(settings.routes[0].count_preflight);
    assert!(read.tests.is_empty());
}

#[test]
fn everything_at_the_top() {
    let settings = meaning(
        "listen: 0.0.0.0:80\nadmin: off\nstore: memory\nmode: shadow\ndefault: refuse\n\
         count_preflight: false\nheaders: none\nreset: delta\nretry_jitter: 20%\n\
         upstreams: { a: { servers: [\"127.0.0.1:1\", \"[::1]:2\", \"app.internal:3\"] } }\n\
         client_address: { trusted_hops: 2, header: Forwarded, ipv6_prefix: 128, nat64: true }\n\
         gateway: { header_timeout: 5s, max_body_bytes: 1000, max_identity_body: 9, max_connections: 7 }\n\
         routes: [{ limits: [] }, { limits: [], count_preflight: true }]\n",
    )
    .settings;
    let at = ListenAt::Tcp("0.0.0.0:80".parse().unwrap());
    assert_eq!(settings.listeners, [Listener::new("default", at)]);
    assert_eq!((settings.admin, settings.mode), (None, Mode::Shadow));
    assert_eq!(settings.default, DefaultRoute::Refuse);
    assert!(settings.answers.headers.is_empty());
    assert_eq!((settings.answers.reset, settings.answers.retry_jitter), (ResetForm::Delta, 20));
    assert_eq!(settings.upstreams[0].servers.len(), 3);
    assert_eq!(settings.client_address.hops, Hops::Count(2));
    assert_eq!(settings.client_address.header, ForwardedHeader::Forwarded);
    assert!(settings.client_address.nat64);
    assert_eq!(settings.gateway.header_timeout, Micros::from_secs(5));
    assert_eq!(settings.gateway.max_body_bytes, Some(1000));
    assert_eq!(settings.gateway.max_identity_body, 9);
    assert_eq!(settings.gateway.max_connections, 7);
    let preflight: Vec<bool> = settings.routes.iter().map(|r| r.count_preflight).collect();
    assert_eq!(preflight, [false, true]);
    // With one upstream, a route need not name it.
    assert_eq!(settings.routes[0].upstream, Some(0));
}

#[test]
fn an_access_log_and_what_it_names_requests_by() {
    let settings = meaning(
        "access_log: { to: log/access.log, format: '{time} {{ok}}', query: true, secret: s3cret,\n\
         \x20 sample: { admitted: 0.5%, refused: 10 } }\n\
         trace_context: pass\nrequest_id: false\ngateway: { max_connections_per_address: 20 }\nroutes: []\n",
    )
    .settings;
    let log = settings.access_log.expect("a log");
    assert!(matches!(&log.to, LogTarget::File(path) if path.ends_with("log/access.log")));
    let parts = [LogPart::Field(LogField::Time), LogPart::Text(" {ok}".to_owned())];
    assert_eq!(log.format, LogFormat::Template(parts.to_vec()));
    assert!(log.query);
    let LogSample { admitted, refused, errors } = log.sample;
    assert_eq!((admitted, refused, errors), (Share(5_000), Share(100_000), Share::ALL));
    assert_eq!(log.secret.map(|secret| secret.0), Some(b"s3cret".to_vec()));
    assert_eq!((settings.trace_context, settings.request_id), (TraceContext::Pass, false));
    assert_eq!(settings.gateway.max_connections_per_address, Some(20));

    let plain = meaning("access_log: { to: stdout }\nroutes: []\n").settings;
    let log = plain.access_log.expect("a log");
    assert_eq!(log.to, LogTarget::Stdout);
    assert_eq!(log.format, LogFormat::Json(LogField::ALL.to_vec()));
    assert!(!log.query && log.secret.is_none());
    assert_eq!(log.sample.admitted, Share::ALL);
    assert_eq!((plain.trace_context, plain.request_id), (TraceContext::Begin, true));
    assert_eq!(plain.gateway.max_connections_per_address, None);
}

#[test]
fn trusted_networks_are_cut_to_their_prefix() {
    let settings = meaning(
        "client_address: { trusted_proxies: [10.1.2.3/8, 192.0.2.1, \"::1\", \"::ffff:192.0.2.9\"] }\n\
         routes: []\n",
    )
    .settings;
    let networks = ["10.0.0.0/8", "192.0.2.1/32", "::1/128", "192.0.2.9/32"];
    let networks = networks.map(|network| network.parse().unwrap()).to_vec();
    assert_eq!(settings.client_address.hops, Hops::Trusted(networks));
}

#[test]
fn every_source() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("k.pem"), "").unwrap();
    std::fs::write(directory.path().join("k.json"), "").unwrap();
    let settings = file::read(
        "p",
        "client_address: { trusted_proxies: [10.0.0.0/8] }\n\
         tables: { keys: [{ key_sha256: ab, user: u }], plans: { rows: [{ user: 7, plan: free }] } }\n\
         identity:\n\
         \x20 a: { header: X-User }\n\
         \x20 b: { cookie: SID, from: anyone }\n\
         \x20 c: [{ query: User }, { path: 1 }, { path: { segment: 2 } }, { basic: user }, ip, { ip: true }, { ip: {} }, { ip: }]\n\
         \x20 d: { jwt: { claim: sub, secret: s3cret, issuer: me, audience: you }, fold: case }\n\
         \x20 e: { jwt: { claim: sub, public_key: k.pem, algorithm: ES256, header: X-Token } }\n\
         \x20 f: { jwt: { claim: sub, jwks: { file: k.json } } }\n\
         \x20 g: { api_key: { header: X-Key, table: keys, column: user } }\n\
         \x20 h: { api_key: { query: key, table: keys, column: user }, default: nobody }\n\
         \x20 i: { table: { name: plans, key_column: user, value_of: g, column: plan }, default: free }\n\
         \x20 j: { sources: [{ json: /a/~1b }, { form: Us er }], default: x }\n\
         routes: []\n",
        &Surroundings::new(directory.path()),
    )
    .unwrap_or_else(|report| panic!("{}", report.render()))
    .settings;
    let sources: Vec<&Source> = settings.identities.iter().flat_map(|id| &id.sources).collect();
    assert!(
        matches!(sources[0], Source::Header { name, from: From::TrustedProxies } if name == "x-user")
    );
    assert!(matches!(sources[1], Source::Cookie { name, from: From::Anyone } if name == "SID"));
    assert!(matches!(sources[2], Source::Query { name } if name == "User"));
    assert!(matches!(sources[3], Source::Path { segment: 1 }));
    assert!(matches!(sources[4], Source::Path { segment: 2 }));
    assert!(matches!(sources[5], Source::BasicUser));
    assert!(matches!(sources[6..10], [Source::Ip, Source::Ip, Source::Ip, Source::Ip]));
    let Source::Jwt { claim, header, keys: JwtKeys::Hmac { algorithm, secret }, issuer, audience } =
        sources[10]
    else {
        panic!("{:?}", sources[10])
    };
    assert_eq!(
        (claim.as_str(), header.as_str(), algorithm.as_str()),
        ("sub", "authorization", "HS256")
    );
    assert_eq!(*secret, Secret(b"s3cret".to_vec()));
    assert_eq!((issuer.as_deref(), audience.as_deref()), (Some("me"), Some("you")));
    assert!(matches!(sources[11], Source::Jwt { header, keys: JwtKeys::Pem { algorithm, .. }, .. }
        if algorithm == "ES256" && header == "x-token"));
    assert!(matches!(sources[12], Source::Jwt { keys: JwtKeys::Jwks { file }, .. }
        if *file == directory.path().join("k.json")));
    assert!(
        matches!(sources[13], Source::ApiKey { at: ApiKeyAt::Header(name), table: 0, .. } if name == "x-key")
    );
    assert!(
        matches!(sources[14], Source::ApiKey { at: ApiKeyAt::Query(name), .. } if name == "key")
    );
    assert!(matches!(sources[15], Source::Table { table: 1, value_of: 6, .. }));
    assert_eq!(settings.identities[3].fold, Fold { case: true });
    assert_eq!(settings.identities[7].default.as_deref(), Some("nobody"));
    assert!(matches!(sources[16], Source::Json { pointer } if pointer == "/a/~1b"));
    assert!(matches!(sources[17], Source::Form { field } if field == "Us er"));
    assert_eq!(settings.identities[9].sources.len(), 2);
    let TableRows::Inline(rows) = &settings.tables[1].rows else { panic!("no rows") };
    // A number in a table is the text that stands there.
    assert_eq!(rows[0][0], ("user".to_owned(), "7".to_owned()));
}

#[test]
fn a_limit_with_everything() {
    let settings = meaning(
        "identity:\n  user: { query: u }\n  plan: { query: p, default: free }\n\
         limits:\n  all:\n    key: [user, ip]\n    by: plan\n    token_bucket:\n\
         \x20     free: { rate: 1/s, burst: 3 }\n      paid: { rate: 9/s }\n      staff: unlimited\n\
         \x20   count_refused: true\n    charge_when: { status: [401, 403] }\n    overdraw: true\n\
         \x20   max_debt: 7\n    shadow: true\n    missing: skip\n    max_keys: 500\n\
         \x20   refusal: { status: 503, title: Full, detail: Come back }\n\
         routes: [{ limits: all }]\n",
    )
    .settings;
    let limit = &settings.limits[0];
    assert_eq!(limit.key, [IdentityRef::Declared(0), IdentityRef::Ip]);
    assert_eq!(limit.by, Some(IdentityRef::Declared(1)));
    let classes: Vec<(Option<&str>, bool)> =
        limit.classes.iter().map(|c| (c.name.as_deref(), c.algorithm.is_some())).collect();
    assert_eq!(classes, [(Some("free"), true), (Some("paid"), true), (Some("staff"), false)]);
    assert!(limit.rules.count_refused && limit.rules.overdraw && limit.rules.shadow);
    assert_eq!(limit.rules.max_debt, Some(7));
    assert_eq!(limit.charge_when, Some(vec![401, 403]));
    assert_eq!((limit.missing, limit.max_keys), (Missing::Skip, 500));
    assert_eq!(limit.refusal.status, 503);
    assert_eq!(limit.refusal.title.as_deref(), Some("Full"));
    assert_eq!(settings.routes[0].limits, [0]);
}

#[test]
fn routes() {
    let settings = meaning(
        "routes:\n\
         - match: { path: /v1/*/x/**, ignore_case: true, method: [get, POST], host: [A.example, \"*.b.example\"],\n\
         \x20         headers: { X-Beta: 1, x-any: \"*\", x-none: } }\n  limits: []\n  cost: 0\n\
         - limits: []\n  cost: { header: X-Cost, default: 2, min: 1, max: 50, from: anyone }\n",
    )
    .settings;
    let matcher = &settings.routes[0].matcher;
    assert_eq!(matcher.paths, ["/v1/*/x/**"]);
    assert!(matcher.ignore_case);
    assert_eq!(matcher.methods, ["GET", "POST"]);
    assert_eq!(matcher.hosts, ["a.example", "*.b.example"]);
    let header = |name: &str, value: Option<&str>| HeaderMatch {
        name: name.to_owned(),
        value: value.map(str::to_owned),
    };
    let headers = [header("x-beta", Some("1")), header("x-any", None), header("x-none", None)];
    assert_eq!(matcher.headers, headers);
    assert_eq!(settings.routes[0].cost, Cost::Fixed(0));
    let Cost::Header { name, default: 2, min: 1, max: 50, from: From::Anyone } =
        &settings.routes[1].cost
    else {
        panic!("{:?}", settings.routes[1].cost)
    };
    assert_eq!(name, "x-cost");
}

#[test]
fn a_route_matches_one_of_its_paths() {
    for (written, paths) in [
        ("{ path: /a }", &["/a"][..]),
        ("{ path: [/a, /b/**] }", &["/a", "/b/**"]),
        ("/b/**", &["/b/**"]),
        ("[/a, /b/**]", &["/a", "/b/**"]),
        ("{ method: GET }", &[]),
    ] {
        let settings = meaning(&format!("routes:\n- match: {written}\n  limits: []\n")).settings;
        assert_eq!(settings.routes[0].matcher.paths, paths, "{written}");
    }
}

#[test]
fn anchors_and_merges_say_things_once() {
    let settings = meaning(
        "limits:\n  a: &base { key: [ip], fixed_window: &w { limit: 5, window: 1m } }\n\
         \x20 b: { <<: *base, shadow: true }\n  c: { key: [], fixed_window: { <<: *w, limit: 9 } }\n\
         \x20 d: { key: [ip], fixed_window: { limit: 7, <<: [*w] } }\n\
         routes: [{ limits: [a, b, c, d] }]\n",
    )
    .settings;
    let of = |place: usize| settings.limits[place].classes[0].algorithm.clone();
    let window =
        |limit| Some(Algorithm::FixedWindow(FixedWindow { limit, window: Micros::from_secs(60) }));
    assert_eq!([of(0), of(1), of(2), of(3)], [window(5), window(5), window(9), window(7)]);
    assert!(settings.limits[1].rules.shadow);
}

#[test]
fn names_are_shared_not_copied() {
    let settings = meaning(&with_limit("fixed_window: unlimited")).settings;
    let name: Arc<str> = settings.limits[0].name.clone();
    assert_eq!(&*name, "one");
    assert!(settings.limits[0].classes[0].algorithm.is_none());
}

#[test]
fn spellings_that_can_only_mean_one_thing() {
    let settings = |head: &str| {
        let rest = "identity: { user: [{ query: u }, { cookie: u, from: anyone }, { default: nobody }] }\n\
                    tables:\nroutes: [{ limits: [] }]\n";
        meaning(&format!("{head}{rest}")).settings
    };
    let read =
        settings("client_address: { trusted_hops: 1, header: X-FORWARDED-FOR, nat64: True }\n");
    assert_eq!(read.client_address.header, ForwardedHeader::XForwardedFor);
    assert!(read.client_address.nat64);
    let user = &read.identities[0];
    assert_eq!((user.sources.len(), user.default.as_deref()), (2, Some("nobody")));
}

#[test]
fn sizes_of_bodies_are_a_routes_own_or_the_gateways() {
    let settings = meaning(
        "gateway: { max_body_bytes: 10, max_response_bytes: 20 }\n\
         routes:\n- { match: /a, limits: [] }\n\
         - { match: /b, limits: [], max_body_bytes: 5, max_response_bytes: unlimited }\n",
    )
    .settings;
    let sizes: Vec<_> = settings
        .routes
        .iter()
        .map(|route| (route.max_body_bytes, route.max_response_bytes))
        .collect();
    assert_eq!(sizes, [(Some(10), Some(20)), (Some(5), None)]);
}

#[test]
fn what_an_upstream_is_told() {
    let said = |text: &str| {
        let text = format!("client_address: {{ {text} }}\nroutes: []\n");
        meaning(&text).settings.client_address.forwarding
    };
    assert_eq!(said(""), Forwarding::default());
    assert!(Forwarding::default().x_forwarded && Forwarding::default().via);
    let both = said("forwarding: { fields: [forwarded, x-forwarded], chain: replace }");
    let wanted =
        Forwarding { x_forwarded: true, forwarded: true, via: false, chain: Chain::Replace };
    assert_eq!(both, wanted);
    assert!(!said("forwarding: { fields: [] }").x_forwarded);
}
