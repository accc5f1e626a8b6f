//! `tollgate serve` ends, in whatever way, and begins again: counts go on from the snapshot.

mod web;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use web::process::{Running, until};
use web::{get, status, upstream};

/// A folder with a policy that keeps its counts beside it.
struct Place {
    folder: TempDir,
    service: SocketAddr,
}

const MONTHLY: &str = "quota: { limit: 20, every: month }";

impl Place {
    fn new(every: &str) -> Place {
        let place = Place { folder: tempfile::tempdir().expect("a folder"), service: upstream() };
        place.write(&format!("{{ memory: {{ snapshot: counts, every: {every} }} }}"), MONTHLY);
        place
    }

    fn write(&self, store: &str, limit: &str) {
        let yaml = format!(
            "store: {store}\nupstreams: {{ app: {{ servers: [\"{}\"] }} }}\n\
             identity: {{ user: {{ query: user }} }}\n\
             limits: {{ monthly: {{ key: [user], {limit} }} }}\n\
             routes:\n- {{ match: {{ path: /** }}, limits: [monthly], upstream: app }}\n",
            self.service
        );
        fs::write(self.policy(), yaml).expect("a file");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn policy(&self) -> PathBuf {
        self.path("policy.yaml")
    }

    /// A gateway that begins, behind a shell's `before`.
    fn starts_behind(&self, before: &str) -> Running {
        let line = format!(
            "{before} exec \"$0\" serve \"$1\" --listen 127.0.0.1:0 --admin 127.0.0.1:0 --workers 1"
        );
        let mut shell = Command::new("sh");
        let command = env!("CARGO_BIN_EXE_tollgate");
        // A path of the policy is looked up beside it, wherever the gateway was started.
        shell.current_dir("/").args(["-c", &line, command]).arg(self.policy());
        Running::start(&mut shell)
    }

    fn starts(&self) -> Running {
        self.starts_behind("")
    }
}

/// How many of `count` requests of `user` pass.
fn passes(running: &Running, user: &str, count: usize) -> usize {
    let gateway = running.gateway();
    let statuses = (0..count).map(|_| {
        let answer = get(gateway, &format!("/?user={user}")).expect("an answer");
        status(&answer)
    });
    let statuses: Vec<u16> = statuses.collect();
    assert!(statuses.iter().all(|status| [200, 429].contains(status)), "{statuses:?}");
    statuses.iter().filter(|status| **status == 200).count()
}

/// The value of a series of the gateway's metrics.
#[track_caller]
fn metric(running: &Running, series: &str) -> f64 {
    let page = get(running.admin(), "/metrics").expect("an answer");
    let line = page.lines().find(|line| line.starts_with(&format!("{series} ")));
    let value = line.and_then(|line| line.rsplit(' ').next()).and_then(|value| value.parse().ok());
    value.unwrap_or_else(|| panic!("there is no {series}:\n{page}"))
}

/// Waits for `count` more snapshots than there are.
#[track_caller]
fn writes(running: &Running, count: u32) {
    let written = || metric(running, "tollgate_snapshots_total{result=\"ok\"}");
    let before = written();
    until(|| written() >= before + f64::from(count)).expect("snapshots are written");
}

#[test]
fn a_restart_gives_no_second_quota() {
    let place = Place::new("1h");
    let mut first = place.starts();
    first.says("yet: counts begin");
    assert_eq!(passes(&first, "ada", 12), 12);
    first.signal("TERM");
    assert!(first.ended().success());

    let mut second = place.starts();
    second.says("counts go on from the snapshot ");
    assert!((metric(&second, "tollgate_snapshot_restored_keys") - 1.0).abs() < 0.1);
    assert_eq!(passes(&second, "ada", 12), 8, "twenty a month, over both");
    assert_eq!(passes(&second, "bob", 12), 12);
    second.signal("INT");
    assert!(second.ended().success());

    // A policy that changed meanwhile goes on as after a reload.
    place
        .write("{ memory: { snapshot: counts, every: 1h } }", "quota: { limit: 25, every: month }");
    let third = place.starts();
    assert_eq!((passes(&third, "ada", 12), passes(&third, "bob", 20)), (5, 13));
}

#[test]
fn kill_9_loses_at_most_what_came_since_the_last_snapshot() {
    let place = Place::new("100ms");
    let mut life = place.starts();
    let mut passed = 0;
    for _ in 0..3 {
        passed += passes(&life, "ada", 4);
        // The second of them began after the last of those requests.
        writes(&life, 2);
        life.signal("KILL");
        life.ended();
        life = place.starts();
    }
    assert_eq!(passed, 12);
    assert_eq!(passes(&life, "ada", 20), 8, "nothing was lost");

    // What comes after the last snapshot may be lost, and no more than that.
    let place = Place::new("1h");
    let mut first = place.starts();
    until(|| metric(&first, "tollgate_snapshots_total{result=\"ok\"}") > 0.0).expect("the first");
    assert_eq!(passes(&first, "ada", 5), 5);
    first.signal("KILL");
    first.ended();
    assert_eq!(passes(&place.starts(), "ada", 25), 20);
}

#[test]
fn a_file_that_is_damaged_is_said_and_kept_and_counting_begins_anew() {
    let place = Place::new("100ms");
    let mut first = place.starts();
    assert_eq!(passes(&first, "ada", 20), 20);
    first.signal("TERM");
    first.ended();
    let whole = fs::read(place.path("counts")).expect("a snapshot");
    let half = &whole[..whole.len() / 2];
    fs::write(place.path("counts"), half).expect("written");

    let second = place.starts();
    let line =
        second.says("is not used, and all counts begin anew: it is cut off: what begins at byte ");
    assert!(line.contains("; it is kept as ") && line.contains("counts.damaged"), "{line}");
    assert!((metric(&second, "tollgate_snapshot_damaged") - 1.0).abs() < 0.1);
    assert_eq!(fs::read(place.path("counts.damaged")).expect("kept"), half);
    assert_eq!(passes(&second, "ada", 20), 20);
    writes(&second, 2);
    let page = get(second.admin(), "/metrics").expect("an answer");
    for (series, least) in [("size_bytes", 100.0), ("keys", 1.0), ("last_timestamp_seconds", 1e9)] {
        let series = format!("tollgate_snapshot_{series}");
        assert!(metric(&second, &series) >= least, "{series}\n{page}");
    }
    assert!(metric(&second, "tollgate_snapshot_duration_seconds") > 0.0, "{page}");
}

#[test]
fn two_gateways_do_not_share_a_file() {
    let place = Place::new("1h");
    let first = place.starts();
    first.gateway();
    let mut second = place.starts();
    assert_eq!(second.ended().code(), Some(1));
    let id = first.id();
    let line = second.says(&format!("another gateway (process {id}) keeps its counts in "));
    assert!(line.ends_with("stop it, or give each its own `snapshot`"), "{line}");
    assert_eq!(passes(&first, "ada", 1), 1, "the first goes on");
}

/// A gateway is replaced while clients are served: its counts go on in the next, and the file changes hands when it has ended.
#[test]
fn a_take_over_takes_the_counts_along() {
    let place = Place::new("100ms");
    let mut first = place.starts();
    let address = first.gateway();
    assert_eq!(passes(&first, "ada", 12), 12);
    // The second of them began after the last of those requests.
    writes(&first, 2);

    let line = format!(
        "exec \"$0\" serve \"$1\" --listen {address} --admin 127.0.0.1:0 --workers 1 --take-over"
    );
    let mut command = Command::new("sh");
    command.args(["-c", &line, env!("CARGO_BIN_EXE_tollgate")]).arg(place.policy());
    let mut second = Running::start(&mut command);
    second.says("counts go on from the snapshot ");
    second.gateway();
    second.says(&format!("once the gateway that has it has ended process=\"{}\"", first.id()));
    assert!(metric(&second, "tollgate_snapshots_total{result=\"ok\"}").abs() < 0.1);
    first.signal("TERM");
    assert!(first.ended().success());
    second.says("counts are written to ");
    second.says("from here on");
    assert_eq!(passes(&second, "ada", 12), 8, "twenty a month, over both");
    writes(&second, 2);
    second.signal("KILL");
    second.ended();
    assert_eq!(passes(&place.starts(), "ada", 1), 0, "and over all three");
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).expect("a file")
}

#[test]
fn a_full_disk_keeps_the_old_file_and_is_said_once() {
    let place = Place::new("100ms");
    // No file may grow beyond a few KiB, and writing on fails as on a full disk.
    let running = place.starts_behind("trap '' XFSZ; ulimit -S -f 4;");
    assert_eq!(passes(&running, "ada", 3), 3);
    writes(&running, 2);
    running.signal("STOP");
    let before = read(&place.path("counts"));
    running.signal("CONT");
    for user in 0..400 {
        assert_eq!(passes(&running, &format!("user{user}"), 1), 1);
    }
    let failed = || metric(&running, "tollgate_snapshots_total{result=\"error\"}");
    until(|| failed() >= 3.0).expect("it fails, and is tried again");
    let kept = read(&place.path("counts"));
    assert!(kept.len() <= 4096 && kept.len() >= before.len(), "{} bytes", kept.len());
    let said = running.said();
    let line = "counts cannot be written to ";
    assert_eq!(said.matches(line).count(), 1, "{said}");
    assert!(said.contains("File too large"), "{said}");

    let id = running.id().to_string();
    let freed = Command::new("prlimit").args(["--pid", &id, "--fsize=unlimited"]).status();
    assert!(freed.expect("prlimit is there (util-linux)").success());
    running.says("again");
    writes(&running, 1);
    assert!(read(&place.path("counts")).len() > 4096);
    assert!(!place.path("counts.new").exists() || failed() > 0.0);
}

#[test]
fn another_store_in_a_reload_waits_for_a_restart() {
    let place = Place::new("1h");
    let running = place.starts();
    assert_eq!(passes(&running, "ada", 15), 15);
    for (store, times) in [("{ memory: { snapshot: elsewhere } }", 1), ("memory", 2)] {
        place.write(store, MONTHLY);
        running.signal("HUP");
        let said = "the policy's `store` changed: it takes effect at a restart";
        until(|| running.said().matches(said).count() == times).expect("it is said");
    }
    assert_eq!(passes(&running, "ada", 15), 5, "what was counted stays");
    assert!(!place.path("elsewhere").exists());
}
