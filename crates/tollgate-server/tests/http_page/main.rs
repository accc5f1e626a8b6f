//! `docs/http.md` is what `curl -v` shows against every answer that is the gateway's own. This test holds the page to it;
//! `UPDATE_HTTP_PAGE=1 cargo test -p tollgate-server --test http_page` writes it anew.

#[path = "../harness/mod.rs"]
mod harness;
#[path = "../../../tollgate-store/tests/servers/mod.rs"]
mod servers;

mod cases;
mod curl;

use std::fmt::Write as _;

use cases::{CASES, Case};

const HEAD: &str = "<!-- Generated: see crates/tollgate-server/tests/http_page/main.rs. Do not edit. -->\n\n\
# What a client sees\n\n\
Every answer of the gateway's own, as `curl -v` shows it: refusals of limits, and what HTTP, time and size ask for. What an \
upstream answers is passed on as it is, with the fields that tell how the limits stand.\n\n\
All of them have the form of problem details (RFC 9457) and are never stored by a cache. Each is counted in \
`tollgate_answers_total{status=\"...\"}`.\n";

#[test]
fn the_page_is_what_curl_shows() {
    if !curl::is_there() {
        return;
    }
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/http.md");
    let mut page = HEAD.to_owned();
    for case in CASES {
        section(case, &mut page);
    }
    if std::env::var_os("UPDATE_HTTP_PAGE").is_some() {
        std::fs::write(&path, &page).expect("the page can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = written.lines().zip(page.lines()).find(|(written, now)| written != now);
    assert!(
        written == page,
        "docs/http.md is not what curl shows ({differs:?}): run this test with UPDATE_HTTP_PAGE=1"
    );
}

fn section(case: &Case, page: &mut String) {
    let (shown, status) = case.show();
    assert_eq!(status, case.status, "{}: {shown}", case.title);
    let _ = write!(page, "\n## {}: {}\n\n{}\n", case.status, case.title, case.says);
    if !case.pool.is_empty() {
        let _ = write!(
            page,
            "\n```yaml\nupstreams:\n  app: {{ servers: [\"127.0.0.1:9001\"], {} }}\n```\n",
            case.pool
        );
    }
    if !case.policy.is_empty() {
        let _ = write!(page, "\n```yaml\n{}\n```\n", case.policy);
    }
    let _ = write!(page, "\n```text\n{shown}\n```\n");
}
