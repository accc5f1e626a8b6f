//! Tests of the metrics: real decisions, and the page that a scraper reads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tollgate_core::Timestamp;
use tollgate_policy::file::{Surroundings, read};
use tollgate_policy::settings::Settings;
use tollgate_policy::{Charges, Decision, Engine, Facts, Headers, Mode, Policy, Rejection, Ruling};
use tollgate_store::{MemoryOptions, MemoryStore, RedisOptions, SharedStore, SystemClock, Usage};

use super::histogram::{Histogram, Scale};
use super::{Metrics, Recorder, UpstreamError};

const POLICY: &str = r"
upstreams:
  api: { servers: ['127.0.0.1:9001'] }
identity:
  user: { header: x-user-id, from: anyone }
  plan: { header: x-plan, from: anyone, default: free }
limits:
  per-user:
    key: [user]
    by: plan
    fixed_window:
      free: { limit: 2, window: 1m }
      paid: { limit: 4, window: 1m }
  trial:
    key: [user]
    shadow: true
    fixed_window: { limit: 1, window: 1m }
  line:
    key: []
    leaky_bucket: { rate: 1/s, burst: 5 }
routes:
  - { match: { path: /v1/**, method: [POST] }, limits: [per-user, trial], upstream: api }
  - { match: { path: /slow }, limits: [line], upstream: api }
  - { match: { path: /slow, host: [other.example] }, limits: [], upstream: api }
  - { match: { path: /slow }, limits: [], upstream: api }
";

/// A policy in force, and what it records.
struct Gate {
    engine: Arc<Engine<MemoryStore>>,
    metrics: Arc<Metrics>,
    recorder: Recorder,
}

fn settings(text: &str) -> Settings {
    read("policy.yaml", text, &Surroundings::new("."))
        .map_err(|report| report.to_string())
        .expect("the tests' policy is sound")
        .settings
}

impl Gate {
    fn new(text: &str, mode: Mode) -> Gate {
        let now = moment(0);
        let settings = settings(text);
        let policy = Policy::compile(settings.clone()).expect("the tests' policy compiles");
        let store = MemoryStore::new(MemoryOptions::default());
        let engine = Arc::new(Engine::new(policy, store, mode, now));
        let scraped = Arc::clone(&engine);
        let metrics = Metrics::new(move || scraped.store().usage());
        let recorder = metrics.recorder(&settings, now);
        Gate { engine, metrics, recorder }
    }

    fn decide(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Result<Decision, Rejection> {
        let facts = Facts {
            authority: Some("api.example"),
            client: Some([203, 0, 113, 9].into()),
            ..Facts::new(method, path, Headers::Pairs(headers))
        };
        let ruling = self.engine.decide_now(&facts, moment(0), None, &mut Charges::default());
        match ruling.expect("memory answers") {
            Ruling::Decided(decision) => Ok(decision),
            Ruling::Rejected(rejection) => Err(rejection),
        }
    }

    /// Decides and records, as the gateway does.
    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) {
        match self.decide(method, path, headers) {
            Ok(decision) => self.recorder.decided(&decision, 300),
            Err(rejection) => self.metrics.rejected(&rejection),
        }
    }

    /// Takes a new policy, as the reload does.
    fn reload(&self, text: &str, seconds: u64) -> Recorder {
        let settings = settings(text);
        let policy = Policy::compile(settings.clone()).expect("the tests' policy compiles");
        self.engine.reload(policy, moment(seconds));
        self.metrics.recorder(&settings, moment(seconds))
    }

    fn page(&self) -> String {
        self.metrics.render().unwrap()
    }
}

/// Seconds after a full minute.
fn moment(seconds: u64) -> Timestamp {
    Timestamp::from_micros((1_796_000_040 + seconds) * 1_000_000)
}

/// The page's series by name and labels, labels in the order of their names.
fn series(page: &str) -> BTreeMap<String, f64> {
    let lines = page.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| {
            let (name, value) = line.rsplit_once(' ').expect("a series has a value");
            (name.to_owned(), value.parse().expect("a value is a number"))
        })
        .collect()
}

fn value(page: &str, name: &str) -> f64 {
    let all = series(page);
    *all.get(name).unwrap_or_else(|| panic!("{name} is not among {:#?}", all.keys()))
}

const USER: (&str, &str) = ("x-user-id", "u1");

#[test]
fn decisions_are_counted_by_route_limit_class_and_outcome() {
    let gate = Gate::new(POLICY, Mode::Enforce);
    (0..3).for_each(|_| gate.ask("POST", "/v1/x", &[USER]));
    gate.ask("POST", "/v1/x", &[("x-user-id", "u2"), ("x-plan", "paid")]);
    let page = gate.page();
    let requests = |route: &str, outcome: &str| {
        value(
            &page,
            &format!("tollgate_decisions_total{{route=\"{route}\",outcome=\"{outcome}\"}}"),
        )
    };
    assert_eq!(requests("POST /v1/**", "admit"), 3.0);
    assert_eq!(requests("POST /v1/**", "refuse"), 1.0);
    let limit = |limit: &str, class: &str, outcome: &str| {
        let labels = format!(
            "limit=\"{limit}\",class=\"{class}\",route=\"POST /v1/**\",outcome=\"{outcome}\""
        );
        value(&page, &format!("tollgate_limit_decisions_total{{{labels}}}"))
    };
    assert_eq!(limit("per-user", "free", "admit"), 2.0);
    assert_eq!(limit("per-user", "free", "refuse"), 1.0);
    assert_eq!(limit("per-user", "paid", "admit"), 1.0);
    assert_eq!(limit("trial", "", "admit"), 2.0, "the first of each user");
    assert_eq!(limit("trial", "", "would_refuse"), 2.0);
    assert_eq!(limit("trial", "", "refuse"), 0.0);
    assert_eq!(value(&page, "tollgate_decision_seconds_count"), 4.0);
    assert_eq!(value(&page, "tollgate_decision_seconds_bucket{le=\"2.5e-07\"}"), 0.0);
    assert_eq!(value(&page, "tollgate_decision_seconds_bucket{le=\"5e-07\"}"), 4.0);
}

#[test]
fn the_used_share_is_between_nothing_and_all() {
    let gate = Gate::new(POLICY, Mode::Enforce);
    (0..3).for_each(|_| gate.ask("POST", "/v1/x", &[USER]));
    let page = gate.page();
    let bucket = |le: &str| {
        value(&page, &format!("tollgate_limit_used_share_bucket{{limit=\"per-user\",le=\"{le}\"}}"))
    };
    assert_eq!((bucket("0.25"), bucket("0.5"), bucket("0.99"), bucket("1")), (0.0, 1.0, 1.0, 3.0));
    assert_eq!(value(&page, "tollgate_limit_used_share_sum{limit=\"per-user\"}"), 2.5);
}

#[test]
fn delays_are_measured() {
    let gate = Gate::new(POLICY, Mode::Enforce);
    (0..3).for_each(|_| gate.ask("GET", "/slow", &[]));
    let page = gate.page();
    assert_eq!(value(&page, "tollgate_delay_seconds_count"), 2.0);
    assert_eq!(value(&page, "tollgate_delay_seconds_sum"), 3.0);
    let delayed = "tollgate_decisions_total{route=\"/slow\",outcome=\"delay\"}";
    assert_eq!(value(&page, delayed), 2.0);
}

#[test]
fn a_policy_in_shadow_mode_says_what_it_would_have_done() {
    let gate = Gate::new(POLICY, Mode::Shadow);
    (0..3).for_each(|_| gate.ask("POST", "/v1/x", &[USER]));
    (0..2).for_each(|_| gate.ask("GET", "/slow", &[]));
    let page = gate.page();
    let refused = "tollgate_decisions_total{route=\"POST /v1/**\",outcome=\"would_refuse\"}";
    assert_eq!(value(&page, refused), 1.0);
    let delayed = "tollgate_decisions_total{route=\"/slow\",outcome=\"would_delay\"}";
    assert_eq!(value(&page, delayed), 1.0);
    assert_eq!(value(&page, "tollgate_delay_seconds_count"), 0.0, "nobody waited");
    let labels = "limit=\"per-user\",class=\"free\",route=\"POST /v1/**\",outcome=\"would_refuse\"";
    assert_eq!(value(&page, &format!("tollgate_limit_decisions_total{{{labels}}}")), 1.0);
}

#[test]
fn routes_that_look_alike_are_told_apart() {
    let page = Gate::new(POLICY, Mode::Enforce).page();
    for route in ["POST /v1/**", "/slow", "other.example/slow", "/slow #3", "(none)"] {
        let name = format!("tollgate_decisions_total{{route=\"{route}\",outcome=\"admit\"}}");
        assert_eq!(value(&page, &name), 0.0, "there before anything was counted");
    }
}

#[test]
fn key_12_nothing_that_a_client_sends_becomes_a_label() {
    let gate = Gate::new(POLICY, Mode::Enforce);
    let settle = |gate: &Gate| {
        gate.ask("POST", "/v1/x", &[USER]);
        gate.ask("GET", "/%2f", &[]);
        gate.ask("GET", "/nowhere", &[]);
    };
    settle(&gate);
    let before: BTreeSet<String> = series(&gate.page()).into_keys().collect();
    for number in 0..200 {
        let token = format!("tok_example_{number}");
        let headers = [
            ("authorization", token.as_str()),
            ("x-user-id", token.as_str()),
            ("x-plan", token.as_str()),
            ("host", token.as_str()),
        ];
        gate.ask("POST", &format!("/v1/{token}"), &headers);
        gate.ask(&token, &format!("/v2/{token}"), &headers);
        gate.ask("GET", &format!("/%2f{token}"), &headers);
    }
    let page = gate.page();
    assert!(!page.contains("tok_example"), "{page}");
    assert_eq!(series(&page).into_keys().collect::<BTreeSet<_>>(), before, "no new series");
}

#[test]
fn requests_without_a_decision_are_counted_apart_from_refusals() {
    let gate = Gate::new(POLICY, Mode::Enforce);
    gate.ask("GET", "/%2f", &[]);
    gate.metrics.rejected(&Rejection::NoRoute);
    gate.metrics.store_failed();
    gate.metrics.queue_full();
    let page = gate.page();
    for reason in ["bad_path", "no_route", "store", "queue_full"] {
        assert_eq!(value(&page, &format!("tollgate_undecided_total{{reason=\"{reason}\"}}")), 1.0);
    }
    let refused = series(&page).into_iter().filter(|(name, _)| name.contains("\"refuse\""));
    assert_eq!(refused.map(|(_, count)| count).sum::<f64>(), 0.0);
}

#[test]
fn counts_outlive_a_reload_and_old_series_do_not_pile_up() {
    let gate = Gate::new(POLICY, Mode::Enforce);
    gate.ask("POST", "/v1/x", &[USER]);
    let kept = "tollgate_decisions_total{route=\"POST /v1/**\",outcome=\"admit\"}";
    let _same = gate.reload(POLICY, 1);
    assert_eq!(value(&gate.page(), kept), 1.0);
    gate.metrics.server("api", "127.0.0.1:9001").requests.inc();

    let other =
        POLICY.replace("per-user", "renamed").replace("/v1/**", "/v2/**").replace("api", "web");
    let _renamed = gate.reload(&other, 2);
    assert_eq!(value(&gate.page(), kept), 1.0, "requests of the policy before may still end");
    let _again = gate.reload(&other, 3);
    let page = gate.page();
    for gone in ["per-user", "/v1/**", "pool=\"api\""] {
        assert!(!page.contains(gone), "{gone} is still in\n{page}");
    }
    assert!(page.contains("limit=\"renamed\""));
    assert_eq!(value(&page, "tollgate_policy_version"), 4.0);
    assert_eq!(value(&page, "tollgate_policy_reloads_total{result=\"ok\"}"), 4.0);
    assert_eq!(value(&page, "tollgate_policy_loaded_timestamp_seconds"), 1_796_000_043.0);
    gate.metrics.reload_failed();
    assert_eq!(value(&gate.page(), "tollgate_policy_reloads_total{result=\"error\"}"), 1.0);
}

#[test]
fn a_decision_of_another_policy_is_counted_all_the_same() {
    let gate = Gate::new(POLICY, Mode::Enforce);
    let decision = gate.decide("POST", "/v1/x", &[USER]).unwrap();
    let other = gate.metrics.recorder(&settings(&POLICY.replace("per-user", "renamed")), moment(1));
    other.decided(&decision, 300);
    let labels = "limit=\"per-user\",class=\"\",route=\"(reloading)\",outcome=\"admit\"";
    assert_eq!(value(&gate.page(), &format!("tollgate_limit_decisions_total{{{labels}}}")), 1.0);
}

#[test]
fn the_store_is_asked_at_each_scrape() {
    let store = Arc::new(parking_lot::Mutex::new(Vec::new()));
    let asked = Arc::clone(&store);
    let metrics = Metrics::new(move || asked.lock().clone());
    let usage = |limit: &str, max_keys| Usage {
        limit: limit.into(),
        keys: 7,
        max_keys,
        evicted: 2,
        overflowed: 3,
    };
    *store.lock() = vec![usage("per-user", 100), usage("replay", usize::MAX)];
    let page = metrics.render().unwrap();
    assert_eq!(value(&page, "tollgate_live_keys{limit=\"per-user\"}"), 7.0);
    assert_eq!(value(&page, "tollgate_max_keys{limit=\"per-user\"}"), 100.0);
    assert_eq!(value(&page, "tollgate_evictions_total{limit=\"per-user\"}"), 2.0);
    assert_eq!(value(&page, "tollgate_overflow_decisions_total{limit=\"replay\"}"), 3.0);
    assert!(!page.contains("tollgate_max_keys{limit=\"replay\"}"), "there is no bound");
}

#[test]
fn answers_of_our_own_are_counted_by_status() {
    let metrics = Metrics::new(Vec::new);
    for (status, times) in [(429, 3), (400, 1), (599, 2), (200, 1), (999, 1)] {
        let status = http::StatusCode::from_u16(status).unwrap();
        (0..times).for_each(|_| metrics.answered(status));
        let page = metrics.render().unwrap();
        let name = format!("tollgate_answers_total{{status=\"{}\"}}", status.as_u16());
        assert_eq!(value(&page, &name), f64::from(times));
    }
}

#[test]
fn upstream_servers_are_told_apart() {
    let metrics = Metrics::new(Vec::new);
    let server = metrics.server("api", "127.0.0.1:9001");
    server.connections.inc();
    server.requests.inc();
    server.responded(http::StatusCode::NO_CONTENT);
    server.responded(http::StatusCode::from_u16(799).unwrap());
    server.failed(UpstreamError::Timeout);
    metrics.server("api", "127.0.0.1:9002").healthy(false);
    let page = metrics.render().unwrap();
    let of = |name: &str, server: &str, more: &str| {
        value(
            &page,
            &format!(
                "tollgate_upstream_{name}{{pool=\"api\",server=\"127.0.0.1:{server}\"{more}}}"
            ),
        )
    };
    assert_eq!(of("connections", "9001", ""), 1.0);
    assert_eq!(of("requests_total", "9001", ""), 1.0);
    assert_eq!(of("requests_total", "9002", ""), 0.0);
    assert_eq!(of("responses_total", "9001", ",status=\"2xx\""), 1.0);
    assert_eq!(of("responses_total", "9001", ",status=\"5xx\""), 1.0);
    assert_eq!(of("errors_total", "9001", ",error=\"timeout\""), 1.0);
    assert_eq!((of("healthy", "9001", ""), of("healthy", "9002", "")), (1.0, 0.0));
}

#[test]
fn a_histogram_counts_up_to_and_with_its_bounds() {
    static SCALE: Scale = Scale { bounds: &[10, 20], per_unit: 10 };
    let histogram = Histogram::new(&SCALE);
    [0, 10, 11, 20, 21, 1_000].into_iter().for_each(|value| histogram.record(value));
    let mut registry = prometheus_client::registry::Registry::default();
    registry.register("h", "help", histogram);
    let mut page = String::new();
    prometheus_client::encoding::prometheus_text::encode(&mut page, &registry).unwrap();
    let bucket = |le: &str| value(&page, &format!("h_bucket{{le=\"{le}\"}}"));
    assert_eq!((bucket("1"), bucket("2"), bucket("+Inf")), (2.0, 4.0, 6.0));
    assert_eq!((value(&page, "h_sum"), value(&page, "h_count")), (106.2, 6.0));
}

/// Every metric with its type and the names of its labels.
fn families(page: &str) -> String {
    let kinds = page.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    kinds
        .map(|kind| {
            let name = kind.split(' ').next().expect("a type has a name");
            let mut labels = BTreeSet::new();
            for key in series(page).keys().filter(|key| key.starts_with(name)) {
                let inside = key.split_once('{').map_or("", |(_, inside)| inside);
                labels.extend(
                    inside
                        .split("\",")
                        .filter_map(|label| label.split_once('='))
                        .map(|(label, _)| label.to_owned()),
                );
            }
            format!("{kind} {labels:?}\n")
        })
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

/// What a gateway tells besides where its store is shared; here with a store that is not there.
#[test]
fn names_types_and_labels_of_a_shared_store() {
    let options = RedisOptions::from_url("redis://127.0.0.1:1").unwrap();
    let store = SharedStore::start(&options, Arc::new(SystemClock::new())).unwrap();
    let alone = families(&Metrics::new(Vec::new).render().unwrap());
    let page = Metrics::of_node(Vec::new, store).render().unwrap();
    let more = families(&page);
    let more: Vec<&str> = more.lines().filter(|line| !alone.contains(line)).collect();
    insta::assert_snapshot!(more.join("\n"));
    assert!(page.contains("\ntollgate_store_errors_total{error=\"oom\"} 0\n"), "{page}");
}

#[test]
fn names_types_and_labels() {
    let gate = Gate::new(POLICY, Mode::Enforce);
    gate.ask("POST", "/v1/x", &[USER]);
    gate.ask("GET", "/%2f", &[]);
    gate.metrics.answered(http::StatusCode::TOO_MANY_REQUESTS);
    let _server = gate.metrics.server("api", "127.0.0.1:9001");
    insta::assert_snapshot!(families(&gate.page()));
}

#[test]
#[cfg(target_os = "linux")]
fn the_memory_of_the_process_is_told() {
    let page = Gate::new(POLICY, Mode::Enforce).page();
    assert!(value(&page, "tollgate_resident_memory_bytes") > 1e6, "{page}");
}
