//! The formats, by example.

use proptest::prelude::*;

use super::*;

/// A record as text, so that a test shows all of it.
fn shown(record: &Record) -> String {
    let micros = record.time.as_micros();
    let mut text = format!("{micros} {} {}", record.method(), record.path());
    if let Some(query) = record.query() {
        text += &format!(" ?{query}");
    }
    if let Some(peer) = record.peer {
        text += &format!(" from {peer}");
    }
    for (name, value) in record.headers() {
        text += &format!(" [{name}: {value}]");
    }
    if let Some(body) = record.body() {
        text += &format!(" body {body:?}");
    }
    if let Some(cost) = record.cost {
        text += &format!(" cost {cost}");
    }
    match record.status {
        Some(200) => {}
        Some(status) => text += &format!(" -> {status}"),
        None => text += " -> nothing",
    }
    if record.duration.get() > 0 {
        text += &format!(" after {}", record.duration.get());
    }
    text
}

/// What a fresh reader makes of the last of `lines`.
fn read(format: Format, lines: &[&str]) -> Result<String, String> {
    let (mut reader, mut record) = (format.reader(), Record::default());
    let mut last = Err("no line".to_owned());
    for line in lines {
        last = reader
            .read(line, &mut record)
            .map(|_| shown(&record))
            .map_err(|error| error.to_string());
    }
    last
}

#[test]
fn request_lines() {
    let table = [
        (r#"{"time": 1}"#, "1000000 GET /"),
        (
            r#"{"time": 1767225600.25, "ip": "203.0.113.9", "method": "GET", "path": "/v1/x", "headers": {"x-user-id": "u1"}, "body": "", "cost": 1, "status": 200, "duration": 0.3}"#,
            r#"1767225600250000 GET /v1/x from 203.0.113.9 [x-user-id: u1] body "" cost 1 after 300000"#,
        ),
        (r#"{"time":"2026-01-01T01:00:00+01:00","path":"/a?b=c"}"#, "1767225600000000 GET /a ?b=c"),
        (
            r#"{"time":1,"ip":"[2001:db8::1]:443","headers":{"x-cost":5,"x-a":[-1.50,"b"]}}"#,
            "1000000 GET / from 2001:db8::1 [x-cost: 5] [x-a: -1.50] [x-a: b]",
        ),
        (
            r#" { "time" : 1e0 , "headers" : { "X-A" : ["1", "2"], "x-b": null } } "#,
            "1000000 GET / [x-a: 1] [x-a: 2]",
        ),
        (r#"{"time":1,"ip":null,"cost":null,"status":0,"body":null}"#, "1000000 GET / -> nothing"),
        (
            r#"{"time":1,"path":"\/caf\u00e9\ud83d\ude00\"\\","cost":0}"#,
            "1000000 GET /café😀\"\\ cost 0",
        ),
        (
            r#"{"time":1,"cost":18446744073709551615,"status":404}"#,
            "1000000 GET / cost 18446744073709551615 -> 404",
        ),
        (
            r#"{"id":[1,{"a":null}],"t\u0069me":2,"ip":"::ffff:10.0.0.1"}"#,
            "2000000 GET / from ::ffff:10.0.0.1",
        ),
        (r#"{"time":1,"ip":"fe80::1%eth0"}"#, "1000000 GET / from fe80::1"),
    ];
    for (line, expected) in table {
        assert_eq!(read(Format::Jsonl, &[line]).as_deref(), Ok(expected), "{line}");
    }
}

#[test]
fn bad_request_lines_say_what_would_be_right() {
    let table = [
        ("{}", "`time` is missing; every request needs one, such as \"time\": 1767225600.25"),
        ("", "column 1: expected an object, `{`, found the end of the line"),
        ("[1]", "column 1: expected an object, `{`, found '['"),
        (
            r#"{"time":1"#,
            "column 10: expected a `,` or the object's end, `}`, found the end of the line",
        ),
        (r#"{"time":1,}"#, "column 11: expected a string, `\"`, found '}'"),
        (r#"{"time":1}x"#, "column 11: expected the end of the line, found 'x'"),
        (r#"{"time":1,"time":2}"#, "`time` is given twice; give it once"),
        (r#"{"time":null}"#, "time: column 9: expected a number, found 'n'"),
        (
            r#"{"time":1.0000001}"#,
            "time: `1.0000001` is finer than a microsecond; give at most six decimals",
        ),
        (r#"{"time":-1}"#, "time: `-1` is below zero; it must be 0 or more seconds"),
        (r#"{"time":"noon"}"#, "time: `noon` is no RFC 3339 time, such as 2026-01-01T00:00:00.25Z"),
        (r#"{"time":01}"#, "time: column 9: expected a number, found '0'"),
        (
            r#"{"time":1,"ip":"localhost"}"#,
            "ip: `localhost` is no IP address, such as 203.0.113.9 or 2001:db8::1",
        ),
        (r#"{"time":1,"cost":-1}"#, "cost: `-1` is no whole number from 0 to 18446744073709551615"),
        (
            r#"{"time":1,"cost":1.5}"#,
            "cost: `1.5` is no whole number from 0 to 18446744073709551615",
        ),
        (r#"{"time":1,"cost":"1"}"#, "cost: column 18: expected a number, found '\"'"),
        (
            r#"{"time":1,"status":99}"#,
            "status: `99` is no HTTP status, such as 200 (0: it was never answered)",
        ),
        (
            r#"{"time":1,"headers":{"a":true}}"#,
            "headers: column 26: expected a string, `\"`, found 't'",
        ),
        (
            r#"{"time":1,"path":"\ud800x"}"#,
            "path: column 25: expected a pair for the surrogate before this, found 'x'",
        ),
        (
            "{\"time\":1,\"path\":\"a\tb\"}",
            "path: column 20: expected the string's end, `\"`, and no control characters before it, found '\\t'",
        ),
        (r#"{"time":1,"x":truth}"#, "column 15: expected a value, found 't'"),
    ];
    for (line, expected) in table {
        let error = read(Format::Jsonl, &[line]).expect_err(line);
        assert_eq!(error, expected, "{line}");
    }
    let deep = format!("{{\"time\":1,\"x\":{}", "[".repeat(100_000));
    assert!(
        read(Format::Jsonl, &[&deep]).expect_err("deep").contains("fewer than 64 nested values")
    );
}

#[test]
fn unknown_fields_are_named() {
    let mut lines = JsonLines::default();
    let mut record = Record::default();
    for line in [r#"{"time":1,"cots":5}"#, r#"{"time":1,"cots":5,"user":"u"}"#] {
        lines.read(line, &mut record).expect("a request");
    }
    assert_eq!(lines.strangers().names().collect::<Vec<_>>(), [("cots", 2), ("user", 1)]);
}

#[test]
fn nginx_combined_lines() {
    let table = [
        (
            r#"203.0.113.9 - - [01/Jan/2026:01:00:00 +0100] "GET /v1/x?q=1 HTTP/1.1" 200 612 "-" "curl/8.5""#,
            "1767225600000000 GET /v1/x ?q=1 from 203.0.113.9 [user-agent: curl/8.5]",
        ),
        (
            r#"2001:db8::1 - ada [01/Jan/2026:00:00:00 +0000] "POST /login HTTP/2.0" 401 0 "https://shop.example/" "a \x22b\x22 \"c\"""#,
            "1767225600000000 POST /login from 2001:db8::1 [authorization: Basic YWRhOg==] [referer: https://shop.example/] [user-agent: a \"b\" \"c\"] -> 401",
        ),
        (
            r#"10.0.0.1 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 499 0 "-" "-" "198.51.100.7, 10.0.0.2" 0.250"#,
            "1767225600000000 GET / from 10.0.0.1 [x-forwarded-for: 198.51.100.7, 10.0.0.2] -> nothing after 250000",
        ),
        (
            r#"unix: - - [01/Jan/2026:00:00:00 +0000] "GET /a b\xC3\xA9\x22 HTTP/1.0" 200 1 "-" "-""#,
            "1767225600000000 GET /a%20b%C3%A9\"",
        ),
        (
            r#"10.0.0.1 - - [01/Jan/2026:00:00:00 +0000] "GET /old" 200 1"#,
            "1767225600000000 GET /old from 10.0.0.1",
        ),
    ];
    for (line, expected) in table {
        assert_eq!(read(Format::Nginx, &[line]).as_deref(), Ok(expected), "{line}");
    }
    let table = [
        ("", "the client's address is missing"),
        ("10.0.0.1 - - GET", "a time in brackets is missing"),
        (r#"10.0.0.1 - - [01/Jan/2026:00:00:00] "GET / HTTP/1.1" 200 1"#, "is no time of the form"),
        (
            r#"10.0.0.1 - - [01/Jan/2026:00:00:00 +0000] "\x16\x03\x01" 400 150 "-" "-""#,
            "`\\\\x16\\\\x03\\\\x01` is no request line",
        ),
        (
            r#"10.0.0.1 - - [01/Jan/2026:00:00:00 +0000] "-" 400 0 "-" "-""#,
            "`-` is no request line",
        ),
        (
            r#"10.0.0.1 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1"#,
            "the request line in quotes is missing",
        ),
        (
            r#"10.0.0.1 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" abc 0"#,
            "`abc` is no HTTP status",
        ),
        (
            r#"example.com - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 0"#,
            "is no IP address",
        ),
    ];
    for (line, why) in table {
        let error = read(Format::Nginx, &[line]).expect_err(line);
        assert!(error.contains(why), "{line}: {error}");
    }
}

#[test]
fn envoy_json_lines() {
    let table = [
        (
            r#"{"start_time":"2026-01-01T00:00:00.123Z","method":"POST","path":"/v1/x?a=b","protocol":"HTTP/1.1","response_code":429,"response_flags":"-","bytes_received":0,"duration":5,"x_forwarded_for":"198.51.100.7","user_agent":"curl/8","authority":"shop.example","upstream_host":null,"downstream_remote_address":"10.0.0.1:44321"}"#,
            "1767225600123000 POST /v1/x ?a=b from 10.0.0.1 [x-forwarded-for: 198.51.100.7] [user-agent: curl/8] [host: shop.example] -> 429 after 5000",
        ),
        (
            r#"{"start_time":"2026-01-01T00:00:00Z",":path":"/","downstream_remote_address":"[2001:db8::1]:443","response_code":"0","duration":"1.5","header.X-User":"u1","user_agent":"-","bytes_sent":"-"}"#,
            "1767225600000000 GET / from 2001:db8::1 [x-user: u1] -> nothing after 1500",
        ),
    ];
    for (line, expected) in table {
        assert_eq!(read(Format::Envoy, &[line]).as_deref(), Ok(expected), "{line}");
    }
    for (line, why) in [
        (r#"{"method":"GET"}"#, "`start_time` is missing"),
        (r#"{"start_time":"-"}"#, "start_time: `-`"),
        (r#"{"start_time":1,"duration":0.0001}"#, "finer than a microsecond"),
        (r#"{"start_time":1,"method":{}}"#, "method: column 26: expected a number"),
    ] {
        let error = read(Format::Envoy, &[line]).expect_err(line);
        assert!(error.contains(why), "{line}: {error}");
    }
}

#[test]
fn csv_lines() {
    let names = "time,ip,method,path,status,duration,cost,header.X-User,comment\r";
    let table = [
        (
            "1.5,10.0.0.1,POST,/a?b,401,0.25,3,u1,hm\r",
            "1500000 POST /a ?b from 10.0.0.1 [x-user: u1] cost 3 -> 401 after 250000",
        ),
        ("2026-01-01T00:00:00Z,,,,,,,,", "1767225600000000 GET /"),
        ("1,,,\"/a,\"\"b\"\"\",,,,,", "1000000 GET /a,\"b\""),
    ];
    for (line, expected) in table {
        assert_eq!(read(Format::Csv, &[names, line]).as_deref(), Ok(expected), "{line}");
    }
    for (lines, why) in [
        (&["ip,path"][..], "`time` must be among them"),
        (&["time,time"], "the column time is there twice"),
        (&["time,ip", "1"], "1 fields, where the first line names 2 columns"),
        (&["time,ip", ",10.0.0.1"], "time: `` is no number"),
        (&["time,path", "1,\"/a"], "a quote is not closed"),
        (&["time,path", "1,\"/a\"b"], "something follows a closing quote"),
        (&["time,cost", "1,-1"], "cost: `-1` is no whole number"),
    ] {
        let error = read(Format::Csv, lines).expect_err(why);
        assert!(error.contains(why), "{lines:?}: {error}");
    }
}

/// Lines that are alike but for a value, at `@`.
const ALIKE: [&str; 14] = [
    r#"{"time": @, "status": 200}"#,
    r#"{"time": "@", "status": 200}"#,
    r#"{"time": 1, "ip": "@"}"#,
    r#"{"time": 1, "method": "@", "path": "/a", "duration": 0.25}"#,
    r#"{"time": 1, "path": "@", "headers": {"x": "y"}}"#,
    r#"{"time": 1, "headers": {"X-User": "@", "x-b": "@"}, "path": "@"}"#,
    r#"{"time": 1, "headers": {"x-\u0061": "@"}}"#,
    r#"{"time": 1, "headers": {"x-a": ["@", "u1"], "x-b": "u1"}}"#,
    r#"{"time": 1, "ip": null, "body": "@", "cost": 7} "#,
    r#"{"time": 1, "cost": @}"#,
    r#"{"time": 1, "status": @}"#,
    r#"{"time": 1, "duration": @, "ip": "10.0.0.1"}"#,
    r#"{"time": 1, "other": "@"}"#,
    r#"{"time": 1, "other": 1, "duration": @}"#,
];

/// Good and bad values of every kind.
const VALUES: [&str; 34] = [
    "0",
    "1",
    "00",
    "01",
    "200",
    "404",
    "99",
    "1000",
    "-1",
    "1e3",
    "1.5",
    "1.",
    ".5",
    "12345678",
    "123456789",
    "1767225600.000001",
    "1767225600.0000001",
    "9007199254.740991",
    "9007199254.740992",
    "18446744073709551615",
    "18446744073709551616",
    "",
    "null",
    "2026-01-01T00:00:00.25Z",
    "203.0.113.9",
    "256.1.1.1",
    "01.2.3.4",
    "1.2.3",
    "2001:db8::1",
    "/a?b=c",
    "http://h/p?q",
    "\\u00e9\\n",
    "é\u{1}",
    "\"",
];

proptest! {
    #[test]
    fn no_line_panics(line in r#"[-\[\]{}:,"\\ 0-9a-fux./+TZé]{0,60}"#) {
        for (_, format) in Format::ALL {
            let _ = read(format, &[&line]);
            let _ = read(format, &["time,ip,header.a", &line]);
        }
    }

    #[test]
    fn json_strings_come_back(value in any::<String>(), name in any::<String>()) {
        let line = serde_json::json!({"time": 1, "body": value, "headers": {"x": value}, name.clone(): value}).to_string();
        let (mut lines, mut record) = (JsonLines::default(), Record::default());
        if lines.read(&line, &mut record).is_ok() {
            prop_assert_eq!(record.body(), Some(value.as_str()));
            prop_assert_eq!(record.header("x"), Some(value.as_str()));
        } else {
            prop_assert!(["ip", "time", "headers", "method", "path", "body", "cost", "status", "duration"].contains(&name.as_str()));
        }
    }

    #[test]
    fn a_line_is_read_alike_after_any_others(places in prop::collection::vec((0usize..ALIKE.len(), 0usize..VALUES.len()), 1..20)) {
        let (mut warm, mut record) = (Format::Jsonl.reader(), Record::default());
        for (line, value) in places {
            let line = ALIKE[line].replace('@', VALUES[value]);
            let found = warm.read(&line, &mut record).map(|_| shown(&record)).map_err(|error| error.to_string());
            prop_assert_eq!(found, read(Format::Jsonl, &[&line]), "{}", line);
        }
    }

    #[test]
    fn what_serde_takes_as_a_value_is_passed_over(value in r#"[-\[\]{}:,"\\ 0-9eE.+u]{0,12}"#) {
        let line = format!(r#"{{"time":1,"other":{value}}}"#);
        // Duplicate and known names are ours to refuse; numbers too large for serde are no concern of ours.
        if serde_json::from_str::<serde_json::Value>(&line).is_ok() {
            prop_assert!(read(Format::Jsonl, &[&line]).is_ok(), "{}", line);
        } else if read(Format::Jsonl, &[&line]).is_ok() {
            prop_assert!(value.contains(['e', 'E']), "{}", line);
        }
    }
}
