//! `tollgate replay --store`: the same traces through the scripts of a real server come to the same lines, byte by byte.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::model::generate::Case;
use crate::model::yaml::policy_file;
use crate::servers::{Program, Server};
use crate::{over_seeds, seeds};

/// The decisions of `folder`'s trace, or what was said in place of them.
fn replay(folder: &Path, store: Option<&str>) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    command.current_dir(folder).env_remove("TOLLGATE_MODE");
    command.args([
        "replay",
        "--policy",
        "policy.yaml",
        "--requests",
        "r.jsonl",
        "--decisions",
        "-",
    ]);
    if let Some(url) = store {
        command.args(["--store", url]);
    }
    let Output { status, stdout, stderr } = command.output().expect("the command runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    if status.success() { Ok(text(stdout)) } else { Err(text(stderr)) }
}

/// Writes a case's policy and trace.
fn lay_out(case: &Case) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let lines: String = case.requests.iter().map(|request| request.line() + "\n").collect();
    fs::write(folder.path().join("policy.yaml"), policy_file(&case.policy)).expect("a file");
    fs::write(folder.path().join("r.jsonl"), lines).expect("a file");
    folder
}

/// Whether the server at `url` can count the case at all.
///
/// # Errors
/// What differs between it and memory.
fn compare(case: &Case, url: &str) -> Result<bool, String> {
    let folder = lay_out(case);
    let seed = case.seed;
    let memory = replay(folder.path(), None).map_err(|said| format!("seed {seed}: {said}"))?;
    let shared = match replay(folder.path(), Some(url)) {
        Ok(shared) => shared,
        Err(said) if said.contains("--store: the limit ") => return Ok(false),
        Err(said) if said.contains("up to the year 2112") => return Ok(false),
        Err(said) => return Err(format!("seed {seed}: {said}")),
    };
    if memory == shared {
        return Ok(true);
    }
    let differing = memory.lines().zip(shared.lines()).find(|(memory, shared)| memory != shared);
    let (memory, shared) = differing.unwrap_or(("as many lines", "another number of lines"));
    let policy = policy_file(&case.policy);
    Err(format!("seed {seed}:\n{policy}\nmemory: {memory}\nshared: {shared}"))
}

#[test]
fn generated_traces_are_decided_as_in_memory() {
    for program in Program::all() {
        let server = Server::start(&program);
        let (url, exact) = (server.url(), AtomicU64::new(0));
        let seeds = seeds();
        let asked = seeds.end - seeds.start;
        over_seeds(seeds, |case| {
            exact.fetch_add(u64::from(compare(&case, &url)?), Ordering::Relaxed);
            Ok(())
        });
        let exact = exact.into_inner();
        assert!(exact * 2 > asked, "{}: only {exact} of {asked} could be counted", program.name);
    }
}

const POLICY: &str = "
limits:
  minute: { key: [ip], sliding_window: { limit: 3, window: 1m } }
  slots: { key: [ip], concurrency: { limit: 2, ttl: 10s } }
  failures: { key: [ip], fixed_window: { limit: 2, window: 1m }, charge_when: { status: 401 } }
routes:
  - { match: { path: /login }, limits: [failures] }
  - { limits: [minute, slots] }
";

const TRACE: &str = r#"{"time": 1767225600, "ip": "203.0.113.9", "path": "/x", "duration": 5}
{"time": 1767225600.5, "ip": "203.0.113.9", "path": "/x", "duration": 5}
{"time": 1767225601, "ip": "203.0.113.9", "path": "/x", "duration": 5}
{"time": 1767225602, "ip": "203.0.113.9", "path": "/login", "status": 200, "duration": 1}
{"time": 1767225602, "ip": "203.0.113.9", "path": "/login", "status": 401, "duration": 1}
{"time": 1767225602, "ip": "203.0.113.9", "path": "/login", "status": 401, "duration": 1}
{"time": 1767225603, "ip": "203.0.113.9", "path": "/login", "status": 401, "duration": 1}
{"time": 1767225606, "ip": "203.0.113.9", "path": "/x", "duration": 5}
"#;

/// A trace may be years long or over in a second; its keys are there until the replay is over, and then go by themselves.
#[test]
fn keys_are_the_replays_own_and_expire() {
    let Some(program) = Program::redis() else { return };
    let server = Server::start(&program);
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("policy.yaml"), POLICY).expect("a file");
    fs::write(folder.path().join("r.jsonl"), TRACE).expect("a file");
    let memory = replay(folder.path(), None).expect("memory decides");
    let first = replay(folder.path(), Some(&server.url())).expect("the server decides");
    assert_eq!(first, memory);
    let keys = server.keys();
    assert!(keys.len() >= 3, "{keys:?}");
    for key in &keys {
        let name = String::from_utf8_lossy(key).into_owned();
        assert!(name.contains(":replay-"), "{name} may be somebody's");
        let left: i64 = server.run(&["PTTL", &name]);
        assert!(left > 3_500_000, "{name} is gone in {left} ms");
    }
    let again = replay(folder.path(), Some(&server.url())).expect("the server decides");
    assert_eq!(again, memory, "a second replay does not see the first");
    assert!(server.keys().len() >= 2 * keys.len());
}

#[test]
fn what_cannot_be_replayed_there_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("policy.yaml"), POLICY).expect("a file");
    fs::write(folder.path().join("r.jsonl"), TRACE).expect("a file");
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr();
    let nobody = format!("redis://u:hunter2@{}", port.expect("an address"));
    for (url, words) in [
        ("http://127.0.0.1", "redis://host:6379"),
        ("redis://127.0.0.1:0", "address"),
        (nobody.as_str(), "cannot be asked"),
    ] {
        let said = replay(folder.path(), Some(url)).expect_err("there is no store");
        assert!(said.contains("--store: ") && said.contains(words), "{said}");
        assert!(!said.contains("hunter2"), "{said}");
    }
}

/// Seed 478 came to the year 2113, and the command said that the server had answered something unexpected.
#[test]
fn a_moment_beyond_what_scripts_count_is_said() {
    let Some(program) = Program::redis() else { return };
    let server = Server::start(&program);
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("policy.yaml"), POLICY).expect("a file");
    let line = r#"{"time": "2113-01-01T00:00:00Z", "ip": "203.0.113.9", "path": "/x"}"#;
    fs::write(folder.path().join("r.jsonl"), line).expect("a file");
    assert!(replay(folder.path(), None).is_ok());
    let said = replay(folder.path(), Some(&server.url())).expect_err("the scripts cannot count it");
    assert!(said.contains("up to the year 2112"), "{said}");
}
