//! curl, nghttp and h2load, in each version and over TLS: what other people's clients make of the gateway.

use std::net::SocketAddr;

use crate::harness::http2::H2;
use crate::harness::tls::{Authority, connect};
use crate::harness::{Gate, Program, Speech, Upstream, program};
use crate::policies::{limited, open, pool};

const MIB: usize = 1 << 20;

/// A gateway to `upstream` that speaks TLS as a.example, and where that is.
fn behind_tls(upstream: &Upstream, authority: &Authority) -> (Gate, SocketAddr) {
    authority.sign("a", &["a.example"]);
    let listener = format!(
        "listeners: {{ web: {{ listen: 127.0.0.1:0, tls: {{ certificates: [{}] }} }} }}",
        authority.pair("a")
    );
    let gate = Gate::of(&crate::policies::open_with(upstream.address, &listener));
    let address = gate.listener("web");
    (gate, address)
}

/// What curl says of one request for `url` with `words`: `VERSION STATUS BYTES`.
fn curl(curl: &Program, words: &[&str], url: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("output").display().to_string();
    let common = ["--disable", "--silent", "--show-error", "--max-time", "20", "--output", &output];
    let told = ["--write-out", "%{http_version} %{response_code} %{size_download}", url];
    curl.says(&[&common[..], words, &told].concat())
}

#[test]
fn curl_in_every_version() {
    let Some(program) = program("curl") else { return };
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("body");
    std::fs::write(&file, vec![b'x'; 3 * MIB]).expect("a file");
    let upload = format!("@{}", file.display());
    let url = |path: &str| format!("http://{}{path}", gate.address);
    // Where it would upgrade to HTTP/2 it is not let: h2c would go past every limit.
    for (version, says) in [
        ("--http1.0", "1"),
        ("--http1.1", "1.1"),
        ("--http2", "1.1"),
        ("--http2-prior-knowledge", "2"),
    ] {
        let asked = curl(&program, &[version], &url("/bytes/5000000"));
        assert_eq!(asked, format!("{says} 200 5000000"), "{version}");
        assert_eq!(curl(&program, &[version, "--head"], &url("/")), format!("{says} 200 0"));
        assert_eq!(curl(&program, &[version], &url("/status/404")), format!("{says} 404 7"));
        // Above a mebibyte curl waits for a 100 before it sends a body over HTTP/1.1.
        let sent = [version, "--data-binary", &upload];
        assert_eq!(curl(&program, &sent, &url("/sink")), format!("{says} 200 0"), "{version}");
        assert_eq!(upstream.last().body, 3 * MIB);
        let chunked = [version, "--header", "transfer-encoding: chunked", "--data-binary", &upload];
        if version != "--http1.0" {
            assert_eq!(
                curl(&program, &chunked, &url("/sink")),
                format!("{says} 200 0"),
                "{version}"
            );
            assert_eq!(upstream.last().body, 3 * MIB);
        }
    }
}

#[test]
fn curl_over_tls() {
    let Some(program) = program("curl") else { return };
    let (upstream, authority) = (Upstream::start(), Authority::new());
    let (_gate, address) = behind_tls(&upstream, &authority);
    let ca = authority.path("authority.pem").display().to_string();
    let resolve = format!("a.example:{}:127.0.0.1", address.port());
    let url = format!("https://a.example:{}/bytes/5000000", address.port());
    for (version, says) in [("--http1.1", "1.1"), ("--http2", "2")] {
        let words = [version, "--cacert", &ca, "--resolve", &resolve];
        assert_eq!(curl(&program, &words, &url), format!("{says} 200 5000000"));
    }
    assert_eq!(upstream.last().header("x-forwarded-proto"), Some("https"));
}

#[test]
fn curl_waits_as_long_as_it_is_told() {
    let Some(program) = program("curl") else { return };
    let upstream = Upstream::start();
    let limit = "{ key: [ip], token_bucket: { rate: 1/s, burst: 1 } }";
    let gate = Gate::start(&limited(upstream.address, limit));
    let url = format!("http://{}/", gate.address);
    let words = ["--retry", "3", "--http1.1"];
    for _ in 0..2 {
        assert_eq!(curl(&program, &words, &url), "1.1 200 0");
    }
    assert_eq!(
        gate.metric("tollgate_answers_total{status=\"429\"}"),
        1.0,
        "it came back once, and in time"
    );
}

#[test]
fn nghttp_sends_trailers_and_many_streams() {
    let Some(nghttp) = program("nghttp") else { return };
    let upstream = Upstream::speaking(Speech { http2: true, ..Speech::default() });
    let gate = Gate::start(&pool(&[&upstream.address], ", http2: true"));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("body");
    std::fs::write(&file, vec![b'x'; MIB]).expect("a file");
    let url = |path: &str| format!("http://{}{path}", gate.address);
    let body = file.display().to_string();
    nghttp.says(&["--null-out", "--data", &body, "--trailer", "x-sum: 9", &url("/sink")]);
    let seen = upstream.last();
    assert_eq!(
        (seen.body, &seen.trailers.expect("trailers")["x-sum"]),
        (MIB, &"9".parse().expect("a value"))
    );
    let said = nghttp.says(&["--null-out", "--stat", "--multiply", "50", &url("/bytes/100000")]);
    let whole = said
        .lines()
        .filter(|line| line.ends_with("/bytes/100000") && line.contains(" 200 "))
        .count();
    assert_eq!(whole, 50, "{said}");
}

/// Every request that h2load sends with `words` succeeds.
#[track_caller]
fn load(h2load: &Program, words: &[&str], url: &str) {
    let said = h2load.says(&[&["--requests", "2000", "--clients", "8"], words, &[url]].concat());
    let all = "2000 total, 2000 started, 2000 done, 2000 succeeded, 0 failed, 0 errored, 0 timeout";
    assert!(said.contains(all) && said.contains("status codes: 2000 2xx"), "{words:?}: {said}");
}

#[test]
fn h2load_loses_nothing() {
    let Some(h2load) = program("h2load") else { return };
    let (upstream, authority) = (Upstream::start(), Authority::new());
    let over_http2 = Upstream::speaking(Speech { http2: true, ..Speech::default() });
    let gates = [open(upstream.address), pool(&[&over_http2.address], ", http2: true")]
        .map(|policy| Gate::start(&policy));
    for gate in &gates {
        let url = format!("http://{}/bytes/1000", gate.address);
        load(&h2load, &["--max-concurrent-streams", "20"], &url);
        load(&h2load, &["--h1"], &url);
    }
    let (_gate, address) = behind_tls(&upstream, &authority);
    load(&h2load, &["--max-concurrent-streams", "20"], &format!("https://{address}/bytes/1000"));
    // And what it asked for over one connection the next one gets, too.
    let client = authority.client(&["h2"], None);
    let mut client = H2::over(async { connect(&client, address, "a.example").await.expect("TLS") });
    assert_eq!(client.get("/bytes/1000").body.len(), 1000);
}
