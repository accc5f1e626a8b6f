//! Input that is wrong: said where and why, with exit status 1, or 2 for the command line.

use std::io::Read as _;
use std::process::Stdio;

use crate::workshop::{Workshop, command, words};

const POLICY: &str = "
limits:
  it: { key: [], fixed_window: { limit: 1, window: 1m } }
routes: [{ match: { path: /** }, limits: [it] }]
";

const REPLAY: [&str; 5] = ["replay", "--policy", "policy.yaml", "--requests", "r.jsonl"];

#[test]
fn a_bad_line_is_an_error_that_names_it() {
    let workshop = Workshop::with(POLICY);
    workshop.write("r.jsonl", "{\"time\":1}\n\n{\"time\":1.1234567}\n{\"time\":2}\n");
    let ran = workshop.run(&[&REPLAY[..], &["--decisions", "-"]].concat());
    assert_eq!(ran.status, 1);
    assert!(
        ran.err.contains("r.jsonl:3: time: `1.1234567` is finer than a microsecond"),
        "{}",
        ran.err
    );
    assert_eq!(words(&ran.decisions()), ["admit"], "what came before it is decided");
}

#[test]
fn skip_bad_counts_bad_lines() {
    let workshop = Workshop::with(POLICY);
    let long = format!("{{\"time\":1,\"body\":\"{}\"}}", "x".repeat(2 << 20));
    let lines = [
        b"{\"time\":1}".to_vec(),
        b"nonsense".to_vec(),
        long.into_bytes(),
        b"\xff".to_vec(),
        b"{\"time\":2}".to_vec(),
    ];
    workshop.write("r.jsonl", lines.join(&b'\n'));
    let ran = workshop.run(&[&REPLAY[..], &["--decisions", "-", "--skip-bad"]].concat());
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert!(ran.err.contains("3 bad lines were passed over"), "{}", ran.err);
    let decisions = ran.decisions();
    assert_eq!(words(&decisions), ["admit", "refuse"]);
    assert_eq!(decisions[1]["line"], 5);
}

#[test]
fn a_misspelt_field_is_not_lost_in_silence() {
    let workshop = Workshop::with(POLICY);
    workshop.write("r.jsonl", "{\"time\":1,\"cots\":5}\n");
    let ran = workshop.run(&REPLAY);
    assert_eq!((ran.status, ran.out.as_str()), (0, ""));
    assert!(ran.err.contains("had no influence: `cots` (1)"), "{}", ran.err);
}

#[test]
fn what_cannot_be_opened_or_written_is_said() {
    let workshop = Workshop::with(POLICY);
    let ran = workshop.run(&REPLAY);
    assert_eq!(ran.status, 1);
    assert!(ran.err.contains("r.jsonl: cannot be opened"), "{}", ran.err);

    workshop.write("r.jsonl", "{\"time\":1}\n");
    let ran = workshop.run(&[&REPLAY[..], &["--decisions", "no/such/folder"]].concat());
    assert_eq!(ran.status, 1);
    assert!(ran.err.contains("no/such/folder: cannot be written"), "{}", ran.err);

    let ran = workshop.run(&[&REPLAY[..], &["--decisions", "./r.jsonl"]].concat());
    assert_eq!(ran.status, 1);
    assert!(ran.err.contains("would overwrite an input"), "{}", ran.err);
    assert_eq!(std::fs::read(workshop.path("r.jsonl")).ok(), Some(b"{\"time\":1}\n".to_vec()));
}

/// `/dev/full` takes nothing, as a disk that is full.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let workshop = Workshop::with(POLICY);
    workshop.write("r.jsonl", "{\"time\":1}\n");
    let ran = workshop.run(&[&REPLAY[..], &["--decisions", "/dev/full"]].concat());
    assert_eq!(ran.status, 1);
    assert!(ran.err.contains("decisions cannot be written"), "{}", ran.err);
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let workshop = Workshop::with(POLICY);
    workshop.write("r.jsonl", "{\"time\":1}\n".repeat(50_000));
    let mut child = command(&workshop.path("."))
        .args(REPLAY)
        .args(["--decisions", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command is built");
    let mut out = child.stdout.take().expect("a pipe");
    let mut first = [0; 16];
    out.read_exact(&mut first).expect("there is a first line");
    drop(out);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_wrong_command_line_ends_with_2() {
    let workshop = Workshop::with(POLICY);
    for arguments in [
        &["nonsense"][..],
        &[],
        &["replay"],
        &["replay", "--policy", "policy.yaml"],
        &[&REPLAY[..], &["--format", "xml"]].concat(),
        &[&REPLAY[..], &["--mode", "sometimes"]].concat(),
    ] {
        assert_eq!(workshop.run(arguments).status, 2, "{arguments:?}");
    }
    workshop.write("r.jsonl", "");
    let mut replay = command(&workshop.path("."));
    assert_eq!(crate::workshop::ran(replay.args(REPLAY).env("TOLLGATE_MODE", "maybe")).status, 2);
    // There and empty is as if it were not there; an empty word on the command line is none of the words.
    let mut replay = command(&workshop.path("."));
    assert_eq!(crate::workshop::ran(replay.args(REPLAY).env("TOLLGATE_MODE", "")).status, 0);
    assert_eq!(workshop.run(&[&REPLAY[..], &["--mode", ""]].concat()).status, 2);
    assert_eq!(workshop.run(&["--help"]).status, 0);
}
