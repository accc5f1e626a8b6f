//! `store:`, `sync:` and `on_store_failure:`: what they mean, what goes with what, and that no secret is ever shown.

use tollgate_core::Micros;
use tollgate_policy::Policy;
use tollgate_policy::file::{self, Surroundings};
use tollgate_policy::settings::{
    Secret, SharedStoreSettings, StoreLogin, StoreSettings, StoreTls, StoreTopology, StoreUrl,
};
use tollgate_store::{OnStoreFailure, Sharing, SyncMode};

use super::{errors, lines, meaning, warnings, with_limit};

/// A policy with this store and without limits.
fn with_store(store: &str) -> String {
    format!("store: {store}\nroutes: [{{ limits: [] }}]\n")
}

fn shared(store: &str) -> SharedStoreSettings {
    match meaning(&with_store(store)).settings.store {
        StoreSettings::Shared(shared) => *shared,
        StoreSettings::Memory { .. } => panic!("{store} is in memory"),
    }
}

fn urls(urls: &[&str]) -> Vec<StoreUrl> {
    urls.iter().map(|url| StoreUrl::new((*url).to_owned())).collect()
}

#[test]
fn one_server_and_its_defaults() {
    let store = shared("{ url: \"redis://127.0.0.1:6379\" }");
    let expected = SharedStoreSettings {
        urls: urls(&["redis://127.0.0.1:6379"]),
        topology: StoreTopology::Single,
        secret: None,
        namespace: "default".to_owned(),
        budget: Micros::new(20_000),
        login: StoreLogin::default(),
        sentinel_login: StoreLogin::default(),
        database: None,
        tls: StoreTls::default(),
        absent: Vec::new(),
    };
    assert_eq!(store, expected);
}

#[test]
fn everything_about_a_store() {
    let store = shared(
        "{ urls: [rediss://a:6379, rediss://b:6379], sentinel: { master: shop, password: s1, user: watch },\n\
         \x20 secret: s2, namespace: shop-eu.v2, budget: 5ms, user: gate, password: s3, database: 3,\n\
         \x20 tls: { insecure: true } }",
    );
    assert_eq!(store.urls, urls(&["rediss://a:6379", "rediss://b:6379"]));
    assert_eq!(store.topology, StoreTopology::Sentinel { master: "shop".to_owned() });
    assert_eq!(store.secret, Some(Secret(b"s2".to_vec())));
    assert_eq!((store.namespace.as_str(), store.budget), ("shop-eu.v2", Micros::new(5_000)));
    let login = |user: &str, password: &str| StoreLogin {
        user: Some(user.to_owned()),
        password: Some(Secret(password.as_bytes().to_vec())),
    };
    assert_eq!((store.login, store.sentinel_login), (login("gate", "s3"), login("watch", "s1")));
    assert_eq!((store.database, store.tls.insecure), (Some(3), true));
    let cluster = shared("{ urls: [rediss://a:1, rediss://b:1], cluster: true }");
    assert_eq!(cluster.topology, StoreTopology::Cluster);
    let sentinel = shared("{ urls: redis://a:26379, sentinel: mymaster }");
    assert_eq!(sentinel.topology, StoreTopology::Sentinel { master: "mymaster".to_owned() });
    let one = shared("{ url: unix:///run/redis.sock, cluster: false }");
    assert_eq!(one.topology, StoreTopology::Single);
}

#[test]
fn what_is_no_store() {
    for (store, place, words) in [
        ("redis", "1:8", &["this is no store", "`{ url: redis://host:6379 }`"][..]),
        ("redis://h:6379", "1:8", &["this is no store", "`{ url: redis://host:6379 }`"]),
        ("[a]", "1:8", &["a shared store is a map"]),
        ("{}", "1:1", &["`url`, or several `urls`"]),
        ("{ url: redis://h, urls: [redis://h] }", "1:26", &["`url`, or several `urls`"]),
        ("{ urls: [] }", "1:16", &["without servers"]),
        (
            "{ urls: [redis://a, redis://b] }",
            "1:10",
            &["what they are together", "`cluster: true`"],
        ),
        ("{ ulr: redis://h }", "1:10", &["did you mean `url`?"]),
        ("{ url: redis://h, cluster: true, sentinel: m }", "1:26", &["go not together"]),
        ("{ url: redis://h, sentinel: {} }", "1:36", &["needs the field `master`"]),
        ("{ url: redis://h, sentinel: \"\" }", "1:36", &["without a name", "`mymaster`"]),
        ("{ url: redis://h, namespace: \"a{b}\" }", "1:37", &["no namespace", "`shop`"]),
        ("{ url: redis://h, namespace: \"\" }", "1:37", &["no namespace"]),
        ("{ url: redis://h, budget: 0s }", "1:34", &["`1ms` and `10s`"]),
        ("{ url: redis://h, budget: 11s }", "1:34", &["`1ms` and `10s`"]),
        ("{ url: redis://h, budget: 20 }", "1:34", &["without a unit"]),
        ("{ url: redis://h, cluster: true, database: 1 }", "1:51", &["database 0 only"]),
        ("{ url: redis://h, database: 70000 }", "1:36", &["0 to 65535"]),
        ("{ url: redis://h, secret: \"\" }", "1:34", &["the secret is empty"]),
        ("{ url: redis://h, secret: {} }", "1:34", &["a secret is in one place"]),
        (
            "{ url: rediss://h, tls: { verify: false } }",
            "1:34",
            &["the fields are `ca`, `certificate`, `key`, `insecure`"],
        ),
    ] {
        let found = errors(&with_store(store));
        assert_eq!(found.len(), 1, "{found:#?} of {store}");
        assert!(found[0].starts_with(&format!("{place} ")), "{found:#?} of {store}");
        assert!(words.iter().all(|word| found[0].contains(word)), "{found:#?} of {store}");
    }
}

/// What the connections say of a URL is said at its place.
#[cfg(feature = "redis")]
#[test]
fn what_is_no_server() {
    for (store, place, words) in [
        ("{ url: h:6379 }", "1:15", "redis://host:6379"),
        ("{ url: http://h }", "1:15", "redis://host:6379"),
        ("{ url: redis:// }", "1:15", "address"),
        ("{ url: redis://h:0 }", "1:15", "address"),
        ("{ url: redis://h/x }", "1:15", "database"),
        ("{ url: unix:run.sock }", "1:15", "redis://host:6379"),
        ("{ urls: [redis://a, http://b], cluster: true }", "1:28", "redis://host:6379"),
        (
            "{ urls: [redis://a, unix:///b], cluster: true }",
            "1:10",
            "`urls` name nodes of one cluster",
        ),
        ("{ urls: [redis://a, rediss://b], cluster: true }", "1:10", "all rediss:// with TLS"),
        ("{ url: redis://h, tls: { insecure: true } }", "1:26", "`tls` goes with `rediss://`"),
        ("{ urls: [redis://a/1, redis://b/1], cluster: true }", "1:17", "no database 1"),
    ] {
        let found = errors(&with_store(store));
        assert!(!found.is_empty(), "{store}");
        assert!(found[0].starts_with(&format!("{place} ")), "{found:#?} of {store}");
        assert!(found[0].contains(words), "{found:#?} of {store}");
    }
}

#[cfg(feature = "redis")]
#[test]
fn a_store_in_the_words_of_its_connections() {
    use tollgate_policy::settings::StoreSettingsError;
    use tollgate_store::{Credentials, Endpoint, Topology};

    let tcp = |host: &str, port| Endpoint::Tcp { host: host.into(), port };
    let login = |user: Option<&str>, password: Option<&str>| Credentials {
        user: user.map(str::to_owned),
        password: password.map(str::to_owned),
    };
    let options = |store: &str| shared(store).redis_options().unwrap();
    let one = options("{ url: redis://u:p@h:1/2, namespace: shop, secret: s, budget: 5ms }");
    assert_eq!(one.topology, Topology::Single(tcp("h", 1)));
    assert_eq!((one.credentials, one.database), (login(Some("u"), Some("p")), 2));
    assert_eq!((one.namespace.as_str(), one.budget.as_millis()), ("shop", 5));
    assert_eq!(one.secret.0, b"s");
    let beside = options("{ url: redis://u:p@h, user: v, password: q, database: 7 }");
    assert_eq!((beside.credentials, beside.database), (login(Some("v"), Some("q")), 7));
    let cluster = options("{ urls: [redis://a, redis://b:7], cluster: true, password: p }");
    assert_eq!(cluster.topology, Topology::Cluster { seeds: vec![tcp("a", 6379), tcp("b", 7)] });
    assert_eq!(cluster.credentials, login(None, Some("p")));
    let sentinel = options(
        "{ urls: [redis://a, redis://b:7], sentinel: { master: \"my/master\", password: w }, password: p }",
    );
    let expected = Topology::Sentinel {
        sentinels: vec![tcp("a", 26_379), tcp("b", 7)],
        primary: "my/master".to_owned(),
        credentials: login(None, Some("w")),
    };
    assert_eq!((sentinel.topology, sentinel.credentials), (expected, login(None, Some("p"))));
    let tls = options("{ url: rediss://h, secret: s, tls: { insecure: true } }").tls;
    assert_eq!(tls.map(|tls| tls.trust), Some(tollgate_store::Trust::Anyone));
    assert_eq!(options("{ url: rediss://h }").tls, Some(tollgate_store::TlsOptions::default()));
    let in_a_url = options("{ url: \"redis+cluster://a,b:7\" }");
    assert_eq!(in_a_url.topology, cluster.topology);
    let absent = shared("{ url: redis://h, secret: { env: NOPE } }").redis_options().unwrap_err();
    assert!(matches!(&absent, StoreSettingsError::Absent(what) if what.len() == 1), "{absent}");
    assert!(absent.to_string().contains("`NOPE`"), "{absent}");
}

/// Lua counts in doubles.
#[cfg(feature = "redis")]
#[test]
fn what_the_store_cannot_count_is_an_error_where_it_is_asked() {
    let limit = "token_bucket: { rate: 4503599627370497 per 7d, burst: 1 }";
    let policy = |store: &str, more: &str| {
        format!("store: {store}\n{}", with_limit(&format!("{limit}{more}")))
    };
    let redis = "{ url: redis://h, secret: x }";
    for more in ["", "\n    sync: exact", "\n    sync: leased", "\n    sync: estimate"] {
        let found = errors(&policy(redis, more));
        assert_eq!(found.len(), 1, "{found:#?} of {more}");
        assert!(found[0].starts_with("5:5 ") && found[0].contains("2^52"), "{found:#?}");
    }
    for (store, more) in [(redis, "\n    sync: node"), (redis, "\n    sync: share"), ("memory", "")]
    {
        assert_eq!(errors(&policy(store, more)), Vec::<String>::new(), "{store} {more}");
    }
    let mut settings = meaning(&policy("memory", "")).settings;
    settings.store = meaning(&with_store(redis)).settings.store;
    let problems = Policy::compile(settings).unwrap_err().problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].text.contains("2^52"), "{problems:?}");
}

#[test]
fn traps_of_a_store() {
    for (store, place, words) in [
        ("{ url: redis://h }", "1:1", "default secret, which everybody knows"),
        ("{ url: rediss://h, secret: x, tls: { insecure: true } }", "1:45", "is believed"),
        ("{ url: redis://h, secret: { env: NOPE } }", "1:41", "the environment has no `NOPE`"),
        ("{ url: redis://h, secret: { file: nope } }", "1:42", "`nope` cannot be read"),
        (
            "{ url: rediss://h, secret: x, tls: { ca: nope.pem } }",
            "1:49",
            "`nope.pem` cannot be read",
        ),
    ] {
        let mut found = warnings(&with_store(store));
        found.retain(|line| !line.contains("nothing is limited"));
        assert_eq!(found.len(), 1, "{found:#?} of {store}");
        assert!(found[0].starts_with(&format!("{place} ")), "{found:#?} of {store}");
        assert!(found[0].contains(words), "{found:#?} of {store}");
    }
}

/// A policy is checked and tested on machines that do not have its secrets; where it serves, they must be there.
#[test]
fn what_the_store_needs_is_asked_for_where_it_serves() {
    let store = "{ url: redis://h, secret: { env: TOLLGATE_SECRET }, password: { file: nope } }";
    let text = with_store(store);
    let absent = shared(store).absent;
    assert_eq!(absent.len(), 2, "{absent:?}");
    assert!(absent[0].contains("`TOLLGATE_SECRET`") && absent[1].contains("`nope`"), "{absent:?}");
    let report = file::read("p", &text, &Surroundings::new("/nowhere").serving()).unwrap_err();
    let found = lines(&report, file::Severity::Error);
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found[0].starts_with("1:41 the environment has no `TOLLGATE_SECRET`"), "{found:#?}");
    let with_env = |name: &str| (name == "TOLLGATE_SECRET").then(|| "s".to_owned());
    let surroundings = Surroundings::new("/nowhere").with_environment(with_env).serving();
    let text = with_store("{ url: redis://h, secret: { env: TOLLGATE_SECRET } }");
    let settings = file::read("p", &text, &surroundings).unwrap().settings;
    let StoreSettings::Shared(shared) = settings.store else { panic!("it is shared") };
    assert_eq!((shared.secret, shared.absent), (Some(Secret(b"s".to_vec())), Vec::new()));
}

#[test]
fn no_secret_is_shown() {
    let secrets = ["hunter2", "hunter3", "hunter4", "hunter5"];
    let store = "{ url: redis://u:hunter2@h:6379, secret: hunter3, password: hunter4,\n\
                 \x20 sentinel: { master: m, password: hunter5 } }";
    let shown = format!("{:?}", meaning(&with_store(store)));
    let settings = format!("{:?}", meaning(&with_store(store)).settings);
    assert!(settings.contains("redis://..@h:6379"), "{settings}");
    for secret in secrets {
        assert!(!settings.contains(secret), "{settings}");
    }
    assert!(!shown.is_empty());
    for wrong in [
        "redis://u:hunter2@h",
        "{ url: \"http://u:hunter2@h\", budjet: 1s }",
        "{ url: \"u:hunter2@h\", secret: hunter3, password: hunter4, budget: 1 }",
        "{ url: redis://h, sentinel: { master: \"\", password: hunter5 } }",
        "{ url: redis://h, secret: [hunter3] }",
    ] {
        let report = super::read(&with_store(wrong)).unwrap_err();
        let said = format!("{report}\n{}", report.render());
        let told = secrets.iter().find(|secret| said.contains(**secret) && !wrong.contains('['));
        assert_eq!(told, None, "{said}");
    }
}

#[test]
fn how_nodes_count_together() {
    let window = "sliding_window: { limit: 100, window: 1m }";
    let estimate = |micros| SyncMode::Estimate { every: Micros::new(micros) };
    for (sync, expected) in [
        ("exact", SyncMode::Exact),
        ("leased", SyncMode::Leased),
        ("estimate", estimate(1_000_000)),
        ("{ estimate: {} }", estimate(1_000_000)),
        ("{ estimate: { every: 250ms } }", estimate(250_000)),
        ("\"estimate {every: 5s}\"", estimate(5_000_000)),
        ("share", SyncMode::Share),
        ("node", SyncMode::Node),
    ] {
        let text = with_limit(&format!("{window}\n    sync: {sync}"));
        let settings = meaning(&text).settings;
        assert_eq!(settings.limits[0].sync, expected, "{sync}");
        let expected = Sharing { sync: expected, ..Sharing::default() };
        let policy = Policy::compile(settings).unwrap();
        assert_eq!(policy.definitions()[0].sharing, expected, "{sync}");
    }
    for (word, expected) in [
        ("share", OnStoreFailure::Share),
        ("allow", OnStoreFailure::Allow),
        ("refuse", OnStoreFailure::Refuse),
    ] {
        let text = with_limit(&format!("{window}\n    on_store_failure: {word}"));
        assert_eq!(meaning(&text).settings.limits[0].on_store_failure, expected);
    }
    let plain = Policy::compile(meaning(&with_limit(window)).settings).unwrap();
    assert_eq!(plain.definitions()[0].sharing, Sharing::default());
    let failures = with_limit(&format!("{window}\n    charge_when: {{ status: 401 }}"));
    let failures = Policy::compile(meaning(&failures).settings).unwrap();
    assert!(failures.definitions()[0].sharing.given_back);
}

#[test]
fn what_is_no_way_to_count_together() {
    let window = "fixed_window: { limit: 5, window: 1m }";
    for (field, place, words) in [
        ("sync: lease", "5:11", &["did you mean `leased`?", "`exact`"][..]),
        ("sync: estimate {every 1s}", "5:11", &["no way to count together"]),
        ("sync: { leased: {} }", "5:13", &["`sync` has no field `leased`"]),
        ("sync: { estimate: { evry: 1s } }", "5:25", &["did you mean `every`?"]),
        ("sync: { estimate: { every: 1ms } }", "5:32", &["`10ms` and `1h`"]),
        ("sync: { estimate: { every: 2h } }", "5:32", &["`10ms` and `1h`"]),
        ("sync: \"estimate {every: 2h}\"", "5:11", &["`10ms` and `1h`"]),
        ("on_store_failure: deny", "5:23", &["`share`, `allow`, `refuse`"]),
    ] {
        let found = errors(&with_limit(&format!("{window}\n    {field}")));
        let fitting = found.iter().any(|line| {
            line.starts_with(&format!("{place} ")) && words.iter().all(|word| line.contains(word))
        });
        assert!(fitting, "{found:#?} of {field}");
    }
}

/// Section 7 of the design: which algorithms and rules go with units that are spent before the store is asked.
#[test]
fn what_goes_with_leases_and_estimates() {
    let fine = [
        "token_bucket: { rate: 5/s }",
        "leaky_bucket: { rate: 5/s, nodelay: true }",
        "fixed_window: { limit: 5, window: 1m }",
        "sliding_window: { limit: 5, window: 1m }",
        "quota: { limit: 5, every: hour }",
        "fixed_window: unlimited",
    ];
    let wrong = [
        ("leaky_bucket: { rate: 5/s }", "a `leaky_bucket` whose requests wait"),
        ("sliding_log: { limit: 5, window: 1m }", "`sliding_log`"),
        ("concurrency: { limit: 5, ttl: 1m }", "`concurrency`"),
    ];
    let rules = ["count_refused: true", "overdraw: true", "charge_when: { status: 401 }"];
    for mode in ["leased", "estimate"] {
        for limit in fine {
            let text = with_limit(&format!("{limit}\n    sync: {mode}\n    shadow: true"));
            assert_eq!(errors(&text), Vec::<String>::new(), "{limit} {mode}");
        }
        for (limit, called) in wrong {
            let found = errors(&with_limit(&format!("{limit}\n    sync: {mode}")));
            assert_eq!(found.len(), 1, "{found:#?} of {limit} {mode}");
            let said = format!("4:5 {called} goes not with `sync: {mode}`");
            assert!(found[0].starts_with(&said), "{found:#?}");
            assert!(
                found[0].contains("it goes with `token_bucket`, `leaky_bucket` with"),
                "{found:#?}"
            );
        }
        for rule in rules {
            let text = with_limit(&format!("{}\n    sync: {mode}\n    {rule}", fine[2]));
            let found = errors(&text);
            assert_eq!(found.len(), 1, "{found:#?} of {rule} {mode}");
            let name = rule.split(':').next().unwrap();
            let said = format!("5:11 `{name}` goes not with `sync: {mode}`");
            assert!(found[0].starts_with(&said), "{found:#?}");
        }
    }
    let all = fine.into_iter().chain(wrong.map(|(limit, _)| limit));
    for limit in all {
        for mode in ["exact", "share", "node"] {
            let text = with_limit(&format!("{limit}\n    sync: {mode}"));
            assert_eq!(errors(&text), Vec::<String>::new(), "{limit} {mode}");
        }
    }
    for rule in ["count_refused: false", "overdraw: false"] {
        let text = with_limit(&format!("{}\n    sync: leased\n    {rule}", fine[2]));
        assert_eq!(errors(&text), Vec::<String>::new(), "{rule}");
    }
}

#[test]
fn a_class_that_does_not_go_with_leases_is_named() {
    let found = errors(
        "identity: { plan: { query: p, default: free } }\nlimits:\n  one:\n    key: [ip]\n    by: plan\n\
         \x20   sync: leased\n    leaky_bucket:\n      free: { rate: 1/s, nodelay: true }\n\
         \x20     paid: { rate: 9/s }\nroutes: [{ limits: [one] }]\n",
    );
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with("9:7 a `leaky_bucket` whose requests wait"), "{found:#?}");
}

/// The warnings on one limit and its store.
fn of_limit(store: &str, limit: &str) -> Vec<String> {
    let mut found = warnings(&format!("store: {store}\n{}", with_limit(limit)));
    found.retain(|line| ["address alone", "probes such as"].iter().all(|w| !line.contains(w)));
    found
}

#[test]
fn traps_of_sharing() {
    let (memory, redis) = ("memory", "{ url: redis://h, secret: x }");
    let window = "sliding_window: { limit: 5, window: 1m }";
    for (store, limit, place, words) in [
        (memory, format!("{window}\n    sync: leased"), "6:5", "`sync` has no effect"),
        (memory, format!("{window}\n    sync: share"), "6:5", "`sync` has no effect"),
        (
            memory,
            format!("{window}\n    on_store_failure: allow"),
            "6:5",
            "`on_store_failure` has no",
        ),
        (memory, "quota: { limit: 5, every: day }".to_owned(), "5:5", "a restart forgets"),
        (
            redis,
            format!("{window}\n    sync: {{ estimate: {{ every: 1m }} }}"),
            "6:11",
            "every 1m, and a window is over after 1m",
        ),
    ] {
        let found = of_limit(store, &limit);
        assert_eq!(found.len(), 1, "{found:#?} of {limit}");
        assert!(found[0].starts_with(&format!("{place} ")), "{found:#?} of {limit}");
        assert!(found[0].contains(words), "{found:#?} of {limit}");
    }
    for (store, limit) in [
        (memory, format!("{window}\n    sync: exact")),
        (memory, format!("{window}\n    sync: node")),
        (redis, format!("{window}\n    sync: leased\n    on_store_failure: refuse")),
        (redis, format!("{window}\n    sync: estimate")),
        (redis, "quota: { limit: 5, every: day }".to_owned()),
    ] {
        assert_eq!(of_limit(store, &limit), Vec::<String>::new(), "{store} {limit}");
    }
}
