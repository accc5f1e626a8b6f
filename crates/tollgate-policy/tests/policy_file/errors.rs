//! One mistake at a time: each is an error at its place, and says what would be right.

use super::{errors, with_limit};

/// `text` has exactly one error, at `place`, whose line has all of `words`.
fn one_error(text: &str, place: &str, words: &[&str]) {
    let found = errors(text);
    assert_eq!(found.len(), 1, "{found:#?} in\n{text}");
    assert!(found[0].starts_with(&format!("{place} ")), "{found:#?} in\n{text}");
    for word in words {
        assert!(found[0].contains(word), "no {word:?} in {found:#?}");
    }
}

#[test]
fn what_is_no_policy() {
    for (text, place, words) in [
        ("", "1:1", &["empty"][..]),
        ("# a comment\n", "1:1", &["empty"]),
        ("just text", "1:1", &["a policy is a map", "a single value"]),
        ("- a\n- b\n", "1:1", &["a policy is a map", "a list"]),
        ("routes: [\n", "1:9", &["not YAML"]),
        ("routes: []\n\tlimits: {}\n", "2:2", &["not YAML"]),
        ("routes: []\n---\nroutes: []\n", "2:1", &["second document"]),
        ("routes: []\nroutes: []\n", "2:1", &["`routes` is here twice", "line 1"]),
        ("routes: !limits []\n", "1:17", &["tags"]),
        ("limits: {}\n", "1:1", &["a policy needs the field `routes`"]),
        ("routes: 5\n", "1:9", &["a list is asked, and this is a single value"]),
        ("routes:\n", "1:1", &["a list is asked, and this is nothing"]),
        ("? [a]\n: b\nroutes: []\n", "1:3", &["a key is a name"]),
    ] {
        let found = errors(text);
        assert!(!found.is_empty(), "no error in {text:?}");
        let fitting = found.iter().any(|line| {
            line.starts_with(&format!("{place} ")) && words.iter().all(|word| line.contains(word))
        });
        assert!(fitting, "{found:#?} in {text:?}");
    }
}

#[test]
fn an_unknown_field_names_the_nearest() {
    let cases = [
        ("rotues: []\nroutes: []\n", "1:1", "did you mean `routes`?"),
        ("routes: [{ limits: [], upstraem: x }]\n", "1:24", "did you mean `upstream`?"),
        ("routes: [{ limits: [], frobnicate: x }]\n", "1:24", "the fields are `match`, `limits`"),
        ("routes: [{ limits: [], degrade: x }]\n", "1:24", "is not in this version of Tollgate"),
        ("routes: [{ limits: [], match: { pth: /a } }]\n", "1:33", "did you mean `path`?"),
        ("gateway: { idle-timeout: 1s }\nroutes: []\n", "1:12", "did you mean `idle_timeout`?"),
    ];
    for (text, place, help) in cases {
        one_error(text, place, &[help]);
    }
}

#[test]
fn parameters_of_every_algorithm() {
    for (limit, place, words) in [
        ("token_bucket: { burst: 5 }", "4:19", &["a token bucket needs the field `rate`"][..]),
        ("token_bucket: { rate: 10 }", "4:27", &["`10` is no rate", "`10/s`"]),
        ("token_bucket: { rate: 10/month }", "4:27", &["a month is no unit", "every: month"]),
        ("token_bucket: { rate: -1/s }", "4:27", &["negative"]),
        ("token_bucket: { rate: 0.5/s }", "4:27", &["fraction", "`1 per 2s`"]),
        ("token_bucket: { rate: 5 per 0s }", "4:27", &["no time at all"]),
        ("token_bucket: { rate: 1/s, burst: 1.5 }", "4:39", &["whole units"]),
        ("token_bucket: { rate: 1/s, initial: emtpy }", "4:41", &["did you mean `empty`?"]),
        ("token_bucket: { rate: 0/s, burst: 5 }", "4:39", &["refuses everything", "leave `burst`"]),
        ("token_bucket: { rate: 0/s, burst: 5s }", "4:39", &["refuses everything"]),
        ("leaky_bucket: { rate: 0/s, burst: 5 }", "4:39", &["refuses everything"]),
        ("leaky_bucket: { rate: 1/s, burst: 60 }", "4:39", &["wait 1m1s", "max_wait"]),
        ("leaky_bucket: { rate: 1/m, burst: 1, max_wait: soon }", "4:52", &["no duration"]),
        ("fixed_window: { limit: 5 }", "4:19", &["a fixed window needs the field `window`"]),
        ("fixed_window: { limit: 5, window: 0s }", "4:39", &["a window of no time at all"]),
        ("fixed_window: { limit: 5, window: 60 }", "4:39", &["without a unit", "`60s`"]),
        ("fixed_window: { limit: -5, window: 1m }", "4:28", &["negative"]),
        ("fixed_window: { limit: 2.5, window: 1m }", "4:28", &["whole number"]),
        ("fixed_window: { limit: 1_000, window: 1m }", "4:28", &["write `1000`"]),
        ("fixed_window: { limit: unlimited, window: 1m }", "4:28", &["in place of all"]),
        ("fixed_window: { limit: 18446744073709551616, window: 1m }", "4:28", &["too large"]),
        ("sliding_window: { limit: 5, window: 1m, cells: 101 }", "4:52", &["1 to 100"]),
        ("sliding_window: { limit: 5, window: 1m, cells: 0 }", "4:52", &["1 to 100"]),
        ("sliding_window: { limit: 5, window: 1s, cells: 7 }", "4:52", &["`cells: 5` fits"]),
        ("sliding_log: { limit: 10001, window: 1m }", "4:27", &["10001", "sliding_window"]),
        ("quota: { limit: 5 }", "4:12", &["a quota needs the field `every`"]),
        ("quota: { limit: 5, every: year }", "4:31", &["`hour`, `day`, `week`, `month`"]),
        ("quota: { limit: 5, every: day, starts: 3 }", "4:36", &["every: month"]),
        ("quota: { limit: 5, every: month, starts: 32 }", "4:46", &["1 to 31"]),
        ("quota: { limit: 5, every: day, time_zone: Europe/Berln }", "4:47", &["`Europe/Berlin`"]),
        ("quota: { limit: 5, every: day, time_zone: CEST }", "4:47", &["no time zone"]),
        ("concurrency: { limit: 5 }", "4:18", &["needs the field `ttl`"]),
        ("concurrency: { limit: 5, ttl: 0s }", "4:35", &["a ttl of no time"]),
        ("concurrency: [5]", "4:18", &["a concurrency limit is a map, and this is a list"]),
    ] {
        one_error(&with_limit(limit), place, words);
    }
}

#[test]
fn rules_of_a_limit() {
    let window = "fixed_window: { limit: 5, window: 1m }";
    let slots = "concurrency: { limit: 5, ttl: 1m }";
    for (limit, words) in [
        (format!("{slots}\n    count_refused: true"), "goes not with `concurrency`"),
        (format!("{slots}\n    overdraw: true"), "`overdraw` goes not with `concurrency`"),
        (
            "sliding_log: { limit: 5, window: 1m }\n    overdraw: true".to_owned(),
            "`token_bucket`, `fixed_window`, `sliding_window`, `quota`",
        ),
        (format!("{window}\n    max_debt: 5"), "`max_debt` goes with `overdraw`"),
        (format!("{window}\n    charge_when: {{ status: [] }}"), "name at least one"),
        (format!("{window}\n    charge_when: {{ status: [4xx] }}"), "`4xx`"),
        (format!("{window}\n    charge_when: {{ status: 999 }}"), "100 to 599"),
        (format!("{window}\n    refusal: {{ status: 200 }}"), "400 to 599"),
        (format!("{window}\n    missing: ignore"), "`ip`, `share`, `skip`, `reject`"),
        (format!("{window}\n    max_keys: 0"), "write 1 to"),
        (format!("{window}\n    shadow: yes"), "write one of `true`, `false`"),
        (format!("{window}\n    {slots}"), "a limit has one algorithm, and here is another"),
        ("shadow: true".to_owned(), "a limit without an algorithm"),
    ] {
        let found = errors(&with_limit(&limit));
        assert_eq!(found.len(), 1, "{found:#?} in {limit}");
        assert!(found[0].contains(words), "no {words:?} in {found:#?}");
    }
}

#[test]
fn names_that_are_not_there() {
    one_error(
        "limits: { a: { key: [usr], fixed_window: { limit: 1, window: 1s } } }\n\
         identity: { user: { query: u } }\nroutes: []\n",
        "1:22",
        &["there is no identity `usr`", "did you mean `user`?"],
    );
    one_error(
        "limits: { per-user: { key: [ip], fixed_window: { limit: 1, window: 1s } } }\n\
         routes: [{ limits: [per-usr] }]\n",
        "2:21",
        &["there is no limit `per-usr`", "did you mean `per-user`?"],
    );
    one_error(
        "upstreams: { app: { servers: [\"h:1\"] } }\nroutes: [{ limits: [], upstream: ap }]\n",
        "2:34",
        &["there is no upstream `ap`", "did you mean `app`?"],
    );
    one_error(
        "identity: { u: { api_key: { header: k, table: keys, column: u } } }\nroutes: []\n",
        "1:47",
        &["there is no table `keys`", "`tables` declares none"],
    );
}

#[test]
fn classes() {
    let head =
        "identity: { plan: { query: plan, default: free } }\nlimits:\n  one:\n    key: [ip]\n";
    let tail = "routes: [{ limits: [one] }]\n";
    let policy = |by: &str, parameters: &str| {
        format!("{head}    {by}\n    fixed_window: {parameters}\n{tail}")
    };
    let one = "{ limit: 1, window: 1s }";
    let free = format!("{{ free: {one} }}");
    let paid = format!("{{ paid: {one} }}");
    one_error(&policy("shadow: true", &free), "6:5", &["no `by`", "`free`"]);
    one_error(&policy("by: plan", &paid), "6:5", &["`free`, the default of `plan`", "add `free:`"]);
    one_error(&policy("by: ip", &free), "5:9", &["`ip` has no default"]);
    one_error(&policy("by: plann", &free), "5:9", &["there is no identity `plann`", "`plan`"]);
    one_error(&policy("by: plan", "{ free: 5 }"), "6:27", &["a fixed window is a map"]);
    one_error(&policy("by: plan", "{ free: unlimted }"), "6:27", &["a fixed window is a map"]);
    one_error(
        &policy("by: plan", "{ free: { limit: 1 } }"),
        "6:27",
        &["a fixed window needs the field `window`"],
    );
}

#[test]
fn a_route_lists_a_limit_once() {
    one_error(
        "limits: { a: { key: [], fixed_window: { limit: 1, window: 1s } } }\n\
         routes: [{ limits: [a, a] }]\n",
        "2:24",
        &["lists `a` twice", "raise `cost`"],
    );
}

#[test]
fn whose_word_counts() {
    let policy = |head: &str, source: &str| {
        format!("{head}\nidentity: {{ user: {{ {source} }} }}\nroutes: []\n")
    };
    let proxies = "client_address: { trusted_proxies: [10.0.0.0/8] }";
    let hops = "client_address: { trusted_hops: 1 }";
    for (head, source) in [("", "header: x-user"), (hops, "header: x-user"), ("", "cookie: sid")] {
        let text = policy(head, source);
        one_error(&text, "2:29", &["no sender is trusted", "from: anyone"]);
    }
    for (head, source) in [
        (proxies, "header: x-user"),
        ("", "header: x-user, from: anyone"),
        ("", "cookie: sid, from: anyone"),
        ("", "query: user"),
        ("", "basic: user"),
        ("", "json: /user"),
        ("", "form: user"),
        ("", "path: 1"),
    ] {
        assert_eq!(errors(&policy(head, source)), Vec::<String>::new(), "{head} {source}");
    }
    let cost = "routes: [{ limits: [], cost: { header: x-cost, max: 5 } }]\n";
    one_error(cost, "1:40", &["`x-cost` says what its sender wrote"]);
}

#[test]
fn identities() {
    let policy = |identity: &str| format!("identity:\n  user: {identity}\nroutes: []\n");
    for (identity, place, words) in [
        ("{ default: x }", "2:9", &["an identity without a source", "`header`, `query`"][..]),
        ("[]", "2:9", &["without a source"]),
        ("{ query: a, path: 1 }", "2:21", &["a source beside another", "write a list"]),
        ("{ query: a, from: anyone }", "2:21", &["`from` goes with `header` and `cookie`"]),
        ("{ header: \"x y\", from: anyone }", "2:19", &["no header name"]),
        ("{ path: 300 }", "2:17", &["no segment 300"]),
        ("{ client_certificate: serial }", "2:31", &["common_name"]),
        ("{ json: user.name }", "2:17", &["no JSON pointer", "write `/user/name`"]),
        ("{ json: \"$.user\" }", "2:17", &["no JSON pointer", "write `/user`"]),
        ("{ json: /user~name }", "2:17", &["no JSON pointer", "write `~0` for a `~`"]),
        ("{ form: \"\" }", "2:17", &["a form's field without a name"]),
        ("{ json: /user, from: anyone }", "2:24", &["`from` goes with `header` and `cookie`"]),
        ("{ json: /user, form: user }", "2:24", &["a source beside another", "write a list"]),
        ("user", "2:9", &["no identity source"]),
        ("{ basic: password }", "2:18", &["write one of `user`"]),
        ("{ query: a, fold: upper }", "2:27", &["`case`, `none`"]),
        ("{ ip: false }", "2:15", &["leave the field out"]),
        ("{ jwt: { claim: sub } }", "2:11", &["exactly one kind of key"]),
        ("{ jwt: { claim: sub, secret: x, jwks: y.json } }", "2:41", &["exactly one"]),
        (
            "{ jwt: { claim: sub, secret: x, algorithm: HS255 } }",
            "2:52",
            &["did you mean `HS256`?"],
        ),
        ("{ jwt: { claim: sub, secret: { env: NOPE } } }", "2:45", &["has no `NOPE`"]),
        ("{ jwt: { claim: sub, jwks: nope.json } }", "2:36", &["`nope.json` cannot be read"]),
        ("{ table: { name: t, value_of: ip2, column: c } }", "2:26", &["no table `t`"]),
    ] {
        let text = policy(identity);
        let found = errors(&text);
        let fitting = found.iter().any(|line| {
            line.starts_with(&format!("{place} ")) && words.iter().all(|word| line.contains(word))
        });
        assert!(fitting, "{found:#?} in {identity}");
    }
    one_error("identity: { ip: { query: a } }\nroutes: []\n", "1:13", &["without being declared"]);
}

#[test]
fn an_identity_looked_up_by_itself() {
    let found = errors(
        "tables: { t: [{ a: 1, b: 2 }] }\nidentity:\n  \
         a: { table: { name: t, value_of: b, column: a } }\n  \
         b: { table: { name: t, value_of: a, column: b } }\nroutes: []\n",
    );
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found[0].starts_with("3:3 the value of `a` is looked up by itself"), "{found:#?}");
}

#[test]
fn columns_that_no_row_has() {
    one_error(
        "tables: { keys: [{ key_sha256: ab, user: u }] }\nidentity:\n  \
         plan: { api_key: { header: k, table: keys, column: plan } }\nroutes: []\n",
        "3:54",
        &["no row of table `keys` has a column `plan`"],
    );
}

#[test]
fn addresses() {
    for (text, place, words) in [
        ("listen: :8080", "1:9", "`0.0.0.0:8080`"),
        ("listen: localhost:8080", "1:9", "`127.0.0.1:8080`"),
        ("listen: 8080", "1:9", "an address and a port"),
        ("admin: 127.0.0.1", "1:8", "no address to listen on"),
        ("client_address: { trusted_proxies: [10.0.0.0/33] }", "1:37", "no network"),
        ("client_address: { trusted_proxies: [proxy] }", "1:37", "`10.0.0.0/8`"),
        ("client_address: { trusted_hops: 0 }", "1:33", "leave it out for none"),
        ("client_address: { trusted_hops: 1, trusted_proxies: [::1] }", "1:19", "go not together"),
        ("client_address: { ipv6_prefix: 31 }", "1:32", "32 to 128"),
        ("client_address: { ipv6_prefix: 129 }", "1:32", "32 to 128"),
        ("client_address: { header: x-real-ip }", "1:27", "`x-forwarded-for`, `forwarded`"),
        ("upstreams: { a: { servers: [\"http://h:1/\"] } }", "1:29", "`h:1`"),
        ("upstreams: { a: { servers: [\"https://h:443\"] } }", "1:29", "`tls: true` beside"),
        ("upstreams: { a: { servers: [\"h\"] } }", "1:29", "`host:port`"),
        ("upstreams: { a: { servers: [\"h:0\"] } }", "1:29", "1 to 65535"),
        ("upstreams: { a: { servers: [\"::1:80\"] } }", "1:29", "`[::1]:9001`"),
        ("upstreams: { a: { servers: [] } }", "1:28", "without servers"),
        ("upstreams: { a: { servers: [\"h:1\", \"h:1\"] } }", "1:36", "here twice"),
        ("retry_jitter: 120%", "1:15", "0 to 100"),
        ("headers: [ietf, none]", "1:17", "`headers: none` alone"),
        ("headers: [ietf, ietf]", "1:17", "twice"),
        ("mode: shadows", "1:7", "did you mean `shadow`?"),
        ("default: deny", "1:10", "`admit`, `refuse`"),
        ("gateway: { max_headers: 0 }", "1:25", "10 to 10000"),
        ("client_address: { forwarding: { fields: x-real-ip } }", "1:41", "`x-forwarded`"),
        ("client_address: { forwarding: { chain: prepend } }", "1:40", "`append`, `replace`"),
        ("gateway: { max_identity_body: 0 }", "1:31", "1 to 16777216"),
        ("gateway: { drain_timeout: 2d }", "1:27", "`1d`"),
        ("gateway: { max_connections_per_address: 0 }", "1:41", "1 or more, or `unlimited`"),
        ("trace_context: on", "1:16", "`begin`, `pass`, `leave`"),
        ("request_id: never", "1:13", "`true`, `false`"),
        ("access_log: {}", "1:13", "needs the field `to`"),
        ("access_log: { to: \"\" }", "1:19", "`stdout`, `stderr`"),
        ("access_log: { to: stdout, fields: [tiem] }", "1:36", "did you mean `time`?"),
        ("access_log: { to: stdout, fields: [path, path] }", "1:42", "here twice"),
        ("access_log: { to: stdout, format: jsn }", "1:35", "has no field"),
        ("access_log: { to: stdout, format: \"{tiem}\" }", "1:35", "did you mean `time`?"),
        ("access_log: { to: stdout, format: \"{time\" }", "1:35", "without its counterpart"),
        ("access_log: { to: stdout, format: \"{time}\\n\" }", "1:35", "on one line"),
        (
            "access_log: { to: stdout, fields: [time], format: \"{time}\" }",
            "1:27",
            "`format: json`",
        ),
        ("access_log: { to: stdout, sample: { admitted: 101% } }", "1:47", "from 0 to 100"),
        ("access_log: { to: stdout, sample: { admited: 1% } }", "1:37", "did you mean `admitted`?"),
        ("tables: { t: { file: t.txt } }", "1:22", "no table file"),
        ("tables: { t: { file: t.csv } }", "1:22", "cannot be read"),
        ("tables: { t: {} }", "1:11", "no rows"),
    ] {
        let text = format!("{text}\nroutes: []\n");
        let found = errors(&text);
        let fitting =
            found.iter().any(|line| line.starts_with(&format!("{place} ")) && line.contains(words));
        assert!(fitting, "{words:?} not in {found:#?} of {text}");
    }
}

#[test]
fn matches() {
    for (matcher, words) in [
        ("path: v1", "begin with a slash: `/v1`"),
        ("path: /a?b=c", "leave the query out"),
        ("path: \"/users/{id}\"", "write `*` for one segment"),
        ("path: /users/:id", "write `*` for one segment"),
        ("path: /v1**", "`**` stands alone"),
        ("path: /a//b", "without `//`"),
        ("path: /a/../b", "without `//`"),
        ("path: /%41", "write `A` itself"),
        ("path: /a%2Fb", "answered 400"),
        ("path: /50%", "`%25`"),
        ("method: \"G T\"", "no method"),
        ("host: example.com:80", "leave the port out: `example.com`"),
        ("host: \"exa mple\"", "no host"),
        ("headers: { \"x y\": 1 }", "no header name"),
    ] {
        let found = errors(&format!("routes: [{{ limits: [], match: {{ {matcher} }} }}]\n"));
        assert_eq!(found.len(), 1, "{found:#?} in {matcher}");
        assert!(found[0].contains(words), "{words:?} not in {found:#?}");
    }
}

#[test]
fn a_gateway_knows_where_to_send() {
    one_error(
        "listen: 127.0.0.1:8080\nroutes: [{ limits: [] }]\n",
        "1:1",
        &["nowhere to send", "leave `listen` out"],
    );
    one_error(
        "listen: 127.0.0.1:8080\nupstreams: { a: { servers: [\"h:1\"] }, b: { servers: [\"h:2\"] } }\n\
         routes: [{ limits: [] }]\n",
        "3:10",
        &["a route without an upstream"],
    );
}

#[test]
fn names_go_into_headers_and_metrics() {
    let name = "x".repeat(65);
    for (name, fine) in [("a b", false), ("a\\\"b", false), (&name, false), ("per-user.v2", true)] {
        let text = format!(
            "limits: {{ \"{name}\": {{ key: [ip], fixed_window: {{ limit: 1, window: 1s }} }} }}\n\
             routes: []\n"
        );
        assert_eq!(errors(&text).is_empty(), fine, "{name}");
    }
}

#[test]
fn what_is_no_yaml_says_what_would_be_right() {
    for (text, place, help) in [
        ("routes: [{ match: { host: *.example.com }, limits: [] }]", "1:27", "quote a text"),
        (
            "routes:\n  - match:\n      path: /a\n\t  method: GET\n",
            "3:13",
            "indent line 4 with blanks",
        ),
        ("routes:\n\t- limits: []\n", "2:2", "indent line 2 with blanks"),
        ("retry_jitter: %20\nroutes: []\n", "1:15", "quote a text"),
        ("gateway: { drain_timeout: 1s\nroutes: []\n", "2:7", "close the `{`"),
        ("gateway: { a: b: c }\nroutes: []\n", "1:16", "quote a text that has `: `"),
        ("default: refuse\n reset: delta\nroutes: []\n", "2:7", "quote a text that has `: `"),
        ("limits:\n  a:\n    key:ip\n    shadow: true\n", "4:11", "a blank after the colon"),
        ("limits:\n  a: { key: [ip] shadow: true }\n", "2:18", "close the `{`"),
        ("limits:\n    a: b\n  c: d\nroutes: []\n", "3:3", "indent it as the fields beside it"),
    ] {
        let found = errors(text);
        assert_eq!(found.len(), 1, "{found:#?} of {text}");
        assert!(found[0].starts_with(&format!("{place} not YAML: ")), "{found:#?} of {text}");
        assert!(found[0].contains(help), "{help:?} not in {found:#?}");
    }
}

/// A field that is wrong is absent to what follows: nothing is said that would be right once it is.
#[test]
fn what_is_wrong_once_is_said_once() {
    for (limit, words) in [
        ("leaky_bucket: { rate: 1/s, burst: 600, nodelay: yes }", "`yes` is no truth value"),
        ("token_buket: { rate: 1/s }", "did you mean `token_bucket`?"),
    ] {
        let found = errors(&with_limit(limit));
        assert!(found.len() == 1 && found[0].contains(words), "{found:#?}");
    }
    for identity in ["{ degrade: x }", "{ heder: x-user, from: anyone }"] {
        let found = errors(&format!("identity: {{ user: {identity} }}\nroutes: []\n"));
        assert_eq!(found.len(), 1, "{found:#?}");
    }
}

#[test]
fn balancers_that_send_a_header_before_http() {
    for (listener, place, words) in [
        ("{ listen: 127.0.0.1:80, proxy_protocol: [] }", "1:57", &["an empty list"][..]),
        ("{ listen: 127.0.0.1:80, proxy_protocol: [10.0.0.300] }", "1:58", &["no network"]),
        ("{ listen: unix:/run/a, proxy_protocol: 10.0.0.0/8 }", "1:40", &["has no address"]),
        ("{ listen: 127.0.0.1:80, proxy: 10.0.0.0/8 }", "1:41", &["no field `proxy`"]),
    ] {
        let text = format!(
            "listeners: {{ a: {listener} }}\nupstreams: {{ a: {{ servers: [\"h:1\"] }} }}\nroutes: []\n"
        );
        one_error(&text, place, words);
    }
}
