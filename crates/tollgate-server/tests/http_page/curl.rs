//! curl, and what of its report is the same on every machine.

use std::net::SocketAddr;
use std::process::{Command, Stdio};

/// Whether curl is installed. Where it is not the test is skipped, unless it runs where `CI=true`.
pub(crate) fn is_there() -> bool {
    let found = Command::new("curl").arg("--version").stdout(Stdio::null()).status();
    if found.is_ok_and(|status| status.success()) {
        return true;
    }
    let message = "skipped: curl is not installed; scripts/setup.sh installs it";
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{message}");
    eprintln!("{message}");
    false
}

/// Runs `curl -v` with `words` against the gateway at `address`, which is api.example to it. Answers with what it shows,
/// and the last status in it.
pub(crate) fn show(words: &[&str], address: SocketAddr) -> (String, u16) {
    let gateway = format!("::{address}");
    let output = Command::new("curl")
        .args(["--disable", "--verbose", "--silent", "--http1.1", "--max-time", "20"])
        .args(["--connect-to", &gateway])
        .args(words)
        .stdin(Stdio::null())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .output()
        .expect("curl runs");
    let report = String::from_utf8_lossy(&output.stderr);
    let mut lines = vec![format!(
        "$ curl -v {}",
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    )];
    let mut status = 0;
    for line in report.lines().map(str::trim_end).filter(|line| is_told(line)) {
        if let Some(code) = line.strip_prefix("< HTTP/1.1 ") {
            status = code.get(..3).and_then(|code| code.parse().ok()).unwrap_or(0);
        }
        lines.push(steady(line));
    }
    let body = String::from_utf8_lossy(&output.stdout);
    if !body.is_empty() {
        lines.push(shortened(body.trim_end()));
    }
    (lines.join("\n"), status)
}

/// Lines of the exchange itself.
fn is_told(line: &str) -> bool {
    let said = line.starts_with("> ") || line.starts_with("< ") || matches!(line, ">" | "<");
    said && !line.starts_with("> User-Agent:") && !line.starts_with("> Accept:")
}

fn steady(line: &str) -> String {
    if line.to_ascii_lowercase().starts_with("< date: ") {
        return "< date: Thu, 01 Jan 2026 00:00:00 GMT".to_owned();
    }
    if line.starts_with("< x-request-id: ") {
        return "< x-request-id: 0190163d8694739b8d0b6ae5d9c7e3f1".to_owned();
    }
    shortened(line)
}

/// Long runs of one letter in a few.
fn shortened(line: &str) -> String {
    let mut short = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let after = rest.trim_start_matches(first);
        let run = rest.len() - after.len();
        let many = run > 100;
        short.push_str(if many { &rest[..3 * first.len_utf8()] } else { &rest[..run] });
        short.push_str(if many { "..." } else { "" });
        rest = after;
    }
    short
}

fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        shortened(word)
    } else {
        format!("'{}'", shortened(word))
    }
}
