//! What passes, and in which form.

use crate::harness::{Connection, Gate, Upstream, request};
use crate::policies::{limited, open, open_with};

#[test]
fn what_is_admitted_passes_and_what_is_refused_does_not() {
    let upstream = Upstream::start();
    let gate = Gate::start(&limited(
        upstream.address,
        "{ key: [ip], sliding_log: { limit: 2, window: 1m } }",
    ));
    let mut connection = Connection::open(gate.address);
    for left in [1, 0] {
        let reply = connection.get("/x?q=1");
        assert_eq!(reply.status, 200, "{reply:?}");
        assert_eq!(reply.header("x-ratelimit-remaining"), Some(left.to_string()));
        assert!(
            reply.header("ratelimit").is_some_and(|field| field.starts_with("\"it\";r=")),
            "{reply:?}"
        );
    }
    let refused = connection.get("/x");
    assert_eq!(refused.status, 429, "{refused:?}");
    assert_eq!(refused.header("content-type").as_deref(), Some("application/problem+json"));
    assert_eq!(refused.header("cache-control").as_deref(), Some("no-store"));
    assert!(refused.header("retry-after").is_some());
    assert!(refused.text().contains("\"violated-policies\":[\"it\"]"), "{}", refused.text());
    assert_eq!(upstream.seen().len(), 2);
    assert_eq!(upstream.seen()[0].target, "/x?q=1");
    assert_eq!(upstream.connections(), 1, "upstream connections are kept");
    assert_eq!(gate.metric("tollgate_answers_total{status=\"429\"}"), 1.0);
}

#[test]
fn fields_of_a_connection_end_with_it_both_ways() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    let reply = connection.ask(
        "GET",
        "/hops",
        &[
            ("connection", "keep-alive, x-mine"),
            ("x-mine", "1"),
            ("keep-alive", "timeout=5"),
            ("proxy-connection", "keep-alive"),
            ("proxy-authorization", "Basic eA=="),
            ("te", "trailers, gzip"),
            ("x-kept", "yes"),
        ],
    );
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("x-own"), None, "{reply:?}");
    assert_eq!(reply.header("keep-alive"), None);
    assert_eq!(reply.header("x-kept").as_deref(), Some("1"));
    let seen = upstream.last();
    for gone in ["x-mine", "keep-alive", "proxy-connection", "proxy-authorization"] {
        assert_eq!(seen.header(gone), None, "{gone}");
    }
    assert_eq!(seen.header("te"), Some("trailers"));
    assert_eq!(seen.header("x-kept"), Some("yes"));
}

#[test]
fn the_upstream_gets_the_normalised_path_the_query_and_the_host() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    assert_eq!(connection.get("/a//./b/../%63?x=%2F//..&y").status, 200);
    let seen = upstream.last();
    assert_eq!(seen.target, "/a/c?x=%2F//..&y");
    assert_eq!(seen.header("host"), Some("test"));
    assert_eq!(connection.get("/a%2Fb").status, 400);
    connection.send("GET http://other.example:81/c?d HTTP/1.1\r\nhost: liar.example\r\n\r\n");
    assert_eq!(connection.reply().status, 200);
    let seen = upstream.last();
    assert_eq!((seen.target.as_str(), seen.header("host")), ("/c?d", Some("other.example:81")));
}

#[test]
fn answers_without_a_body_keep_their_fields() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    let head = connection.ask("HEAD", "/bytes/1000", &[]);
    assert_eq!((head.status, head.header("content-length").as_deref()), (200, Some("1000")));
    let empty = connection.get("/status/204");
    assert_eq!((empty.status, empty.header("content-length")), (204, None));
    assert_eq!(connection.get("/status/304").status, 304);
    assert_eq!(connection.get("/bytes/3").text(), "xxx", "the connection is in step");
    assert_eq!(connection.ask("HEAD", "/a%2Fb", &[]).status, 400);
    assert_eq!(connection.get("/bytes/2").text(), "xx", "a HEAD of our own has no body, either");
}

#[test]
fn chunked_bodies_pass_both_ways_with_their_trailers() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    let fields = [("transfer-encoding", "chunked"), ("te", "trailers"), ("trailer", "x-check")];
    connection.send(request("POST", "/echo", &fields));
    for chunk in ["5\r\nhello\r\n", "6\r\n world\r\n", "0\r\nx-check: 11\r\n\r\n"] {
        connection.send(chunk);
    }
    assert_eq!(connection.reply().text(), "hello world");
    let seen = upstream.last();
    assert_eq!(seen.body, 11);
    let trailers = seen.trailers.expect("trailers pass");
    assert_eq!(trailers["x-check"], "11");

    let mut connection = Connection::open(gate.address);
    let reply = connection.ask("GET", "/chunked/3", &[("te", "trailers")]);
    assert_eq!(reply.text(), "chunk 0;chunk 1;chunk 2;");
    assert_eq!(reply.trailers, [("x-sum".to_owned(), "3".to_owned())]);
}

#[test]
fn an_old_client_is_served_as_it_can_be() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    connection.send("GET /chunked/2 HTTP/1.0\r\n\r\n");
    let reply = connection.reply();
    assert_eq!(reply.header("transfer-encoding"), None);
    assert_eq!(reply.text(), "chunk 0;chunk 1;", "its end is the connection's");
    assert_eq!(upstream.last().header("host"), Some(""));
}

#[test]
fn connect_is_refused() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    connection.send("CONNECT a.example:443 HTTP/1.1\r\nhost: a.example:443\r\n\r\n");
    assert_eq!(connection.reply().status, 405);
    assert_eq!(upstream.connections(), 0);
}

#[test]
fn a_route_that_is_not_there_is_404() {
    let upstream = Upstream::start();
    let yaml = format!(
        "upstreams: {{ app: {{ servers: [\"{}\"] }} }}\n\
         routes:\n- {{ match: {{ path: /there }}, limits: [], upstream: app }}\n",
        upstream.address
    );
    let gate = Gate::start(&yaml);
    let mut connection = Connection::open(gate.address);
    assert_eq!(connection.get("/there").status, 200);
    let missing = connection.get("/elsewhere");
    assert_eq!(missing.status, 404);
    assert_eq!(missing.header("content-type").as_deref(), Some("application/problem+json"));
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let upstream = Upstream::start();
    let gate = Gate::start(&open(upstream.address));
    let mut connection = Connection::open(gate.address);
    let all: String = (1..=5).map(|size| request("GET", &format!("/bytes/{size}"), &[])).collect();
    connection.send(all);
    for size in 1..=5 {
        assert_eq!(connection.reply().body.len(), size);
    }
}

#[test]
fn our_rate_limit_fields_stand_for_or_beside_an_upstreams() {
    let upstream = crate::harness::Raw::start(|stream, _| {
        while crate::harness::Raw::head(stream).is_some() {
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx-ratelimit-remaining: 77\r\nratelimit: \"theirs\";r=1\r\n\
                          retry-after: 9\r\n\r\n";
            let _ = std::io::Write::write_all(stream, answer.as_bytes());
        }
    });
    let gate = Gate::start(&limited(
        upstream.address,
        "{ key: [ip], sliding_log: { limit: 5, window: 1m } }",
    ));
    let reply = Connection::open(gate.address).get("/");
    assert_eq!(reply.header("x-ratelimit-remaining").as_deref(), Some("4"));
    let lists = reply.header("ratelimit").expect("both say something");
    assert!(lists.contains("\"theirs\"") && lists.contains("\"it\""), "a list names both: {lists}");
    assert_eq!(reply.header("retry-after").as_deref(), Some("9"), "its own time of return stays");
    let gate = Gate::start(&open_with(upstream.address, ""));
    let reply = Connection::open(gate.address).get("/");
    assert_eq!(
        reply.header("x-ratelimit-remaining").as_deref(),
        Some("77"),
        "without limits of ours they are its own"
    );
}
