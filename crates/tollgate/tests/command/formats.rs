//! Access logs of others, from file to decision.

use crate::workshop::{Workshop, words};

const LOGIN: &str = "
identity:
  account: { basic: user }
limits:
  per-account: { key: [account], fixed_window: { limit: 1, window: 1h } }
  per-address: { key: [ip], fixed_window: { limit: 2, window: 1h } }
routes:
  - { match: { path: /login, method: [POST] }, limits: [per-account] }
  - { match: { path: /** }, limits: [per-address] }
";

#[test]
fn an_nginx_log_knows_addresses_and_users() {
    let workshop = Workshop::with(LOGIN);
    workshop.write(
        "access.log",
        r#"203.0.113.9 - - [01/Jan/2026:00:00:00 +0000] "GET /a HTTP/1.1" 200 1 "-" "-"
203.0.113.9 - - [01/Jan/2026:01:00:01 +0100] "GET /b?c HTTP/1.1" 200 1 "-" "-"
2001:db8::1 - - [01/Jan/2026:00:00:02 +0000] "GET /a HTTP/2.0" 200 1 "-" "-"
203.0.113.9 - - [01/Jan/2026:00:00:03 +0000] "GET /a HTTP/1.1" 200 1 "-" "-"
10.0.0.1 - ada [01/Jan/2026:00:00:04 +0000] "POST /login HTTP/1.1" 401 1 "-" "-"
10.0.0.2 - ada [01/Jan/2026:00:00:05 +0000] "POST /login HTTP/1.1" 401 1 "-" "-"
10.0.0.3 - eve [01/Jan/2026:00:00:06 +0000] "POST /login HTTP/1.1" 200 1 "-" "-"
"#,
    );
    let decisions = workshop.replay(&["access.log"], &["--format", "nginx"]);
    let expected = ["admit", "admit", "admit", "refuse", "admit", "refuse", "admit"];
    assert_eq!(words(&decisions), expected);
}

#[test]
fn an_envoy_log_knows_addresses() {
    let workshop = Workshop::with(LOGIN);
    let line = |second: u32, address: &str| {
        format!(
            "{{\"start_time\":\"2026-01-01T00:00:0{second}.5Z\",\"method\":\"GET\",\"path\":\"/a\",\
             \"response_code\":200,\"duration\":3,\"downstream_remote_address\":\"{address}\"}}\n"
        )
    };
    let same = ["203.0.113.9:1", "203.0.113.9:2", "203.0.113.9:3", "[2001:db8::1]:4"];
    let log: String = same.iter().zip(0..).map(|(address, second)| line(second, address)).collect();
    workshop.write("access.log", log);
    let decisions = workshop.replay(&["access.log"], &["--format", "envoy"]);
    assert_eq!(words(&decisions), ["admit", "admit", "refuse", "admit"]);
}

#[test]
fn a_csv_file_names_its_columns() {
    let workshop = Workshop::with(LOGIN);
    workshop.write(
        "r.csv",
        "\u{feff}path,time,ip,cost\r\n/a,1767225600,203.0.113.9,2\r\n/a,2026-01-01T00:00:01Z,203.0.113.9,\r\n\"/a\",1767225602.5,203.0.113.8,1\r\n",
    );
    let decisions = workshop.replay(&["r.csv"], &["--format", "csv"]);
    assert_eq!(words(&decisions), ["admit", "refuse", "admit"]);
    assert_eq!(decisions[0]["line"], 2, "the row of names is a line of the file");
}
