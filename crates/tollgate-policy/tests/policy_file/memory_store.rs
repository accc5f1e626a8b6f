//! `store: { memory: .. }`: the file that keeps counts over a restart, and what is wrong with it.

use std::path::Path;

use tollgate_core::Micros;
use tollgate_policy::file::{self, Severity, Surroundings};
use tollgate_policy::settings::{SnapshotSettings, StoreSettings};

use super::{errors, lines, meaning};

fn with_store(store: &str) -> String {
    format!("store: {store}\nroutes: [{{ limits: [] }}]\n")
}

fn snapshot(store: &str) -> Option<SnapshotSettings> {
    match meaning(&with_store(store)).settings.store {
        StoreSettings::Memory { snapshot } => snapshot,
        StoreSettings::Shared(_) => panic!("{store} is shared"),
    }
}

#[test]
fn a_memory_store_in_short_and_written_out() {
    for store in ["memory", "{ memory: {} }"] {
        assert_eq!(snapshot(store), None, "{store}");
    }
    let kept = |path: &str, every| Some(SnapshotSettings { path: path.into(), every });
    assert_eq!(
        snapshot("{ memory: { snapshot: counts.snapshot } }"),
        kept("/nowhere/counts.snapshot", Micros::from_secs(5)),
        "beside the policy"
    );
    assert_eq!(
        snapshot("{ memory: { snapshot: /var/lib/counts, every: 250ms } }"),
        kept("/var/lib/counts", Micros::new(250_000))
    );
}

#[test]
fn what_is_wrong_with_a_memory_store() {
    let every = "no interval for a snapshot (write a time between `100ms` and `1h`; a killed process loses what it \
                 counted since the last time)";
    for (store, expected) in [
        ("{ memory: { every: 5s } }", "1:20 `every` says how often a `snapshot` is written, and there is none (name the \
            file too: `snapshot: counts.snapshot`, or leave `every` out)".to_owned()),
        ("{ memory: { snapshot: a, every: 99ms } }", format!("1:40 {every}")),
        ("{ memory: { snapshot: a, every: 2h } }", format!("1:40 {every}")),
        ("{ memory: { snapshot: /tmp/ } }", "1:30 `/tmp/` is no file that counts could be written to (name a file, such \
            as `/var/lib/tollgate/counts.snapshot`)".to_owned()),
        ("{ memory: { snapshot: \"\" } }", "1:30 `` is no file that counts could be written to (name a file, such as \
            `/var/lib/tollgate/counts.snapshot`)".to_owned()),
        ("{ memory: { snapshots: a } }", "1:20 `memory` has no field `snapshots` (did you mean `snapshot`? the fields \
            are `snapshot`, `every`)".to_owned()),
        ("{ memory: { snapshot: a }, url: redis://h }", "1:35 a memory store has no field `url` (the fields are \
            `memory`)".to_owned()),
        ("{ memroy: { snapshot: a } }", "1:10 a memory store has no field `memroy` (did you mean `memory`? the fields are \
            `memory`)".to_owned()),
        ("{ memory: counts }", "1:18 `memory` is a map, and this is a single value (write a map with `snapshot`, \
            `every`)".to_owned()),
        ("memry", "1:8 this is no store (write `memory`, `{ memory: { snapshot: counts.snapshot } }`, or `{ url: \
            redis://host:6379 }` for a store that nodes share)".to_owned()),
    ] {
        assert_eq!(errors(&with_store(store)), [expected], "{store}");
    }
}

/// The folder must be there where the policy is about to be served, and may come later where it is only looked at.
#[test]
fn a_folder_that_is_not_there() {
    let text = with_store("{ memory: { snapshot: kept/counts } }");
    let looked_at = file::read("policy.yaml", &text, &Surroundings::new("/nowhere")).unwrap();
    let said = "1:30 there is no folder /nowhere/kept (make the folder, for the user that the gateway runs as";
    let warned = lines(&looked_at.warnings, Severity::Warning);
    assert_eq!(warned, [format!("{said}: no gateway serves this policy without it)")]);
    let serving = Surroundings::new("/nowhere").serving();
    let report = file::read("policy.yaml", &text, &serving).unwrap_err();
    assert_eq!(lines(&report, Severity::Error), [format!("{said})")]);
}

/// The warning of a restart's second quota says what to do, and that ends it.
#[test]
fn the_warning_of_a_forgotten_quota_can_be_obeyed() {
    let folder = tempfile::tempdir().unwrap();
    let warned = |store: &str, folder: &Path| {
        let text = format!(
            "store: {store}\nlimits: {{ a: {{ key: [ip], quota: {{ limit: 9, every: day }} }} }}\n\
             routes: [{{ limits: [a] }}]\n"
        );
        let read = file::read("policy.yaml", &text, &Surroundings::new(folder)).unwrap();
        lines(&read.warnings, Severity::Warning)
    };
    let forgets =
        |lines: &[String]| lines.iter().filter(|line| line.contains("forgets them")).count();
    let lines = warned("memory", folder.path());
    assert_eq!(forgets(&lines), 1);
    let advice = "{ memory: { snapshot: counts.snapshot } }";
    assert!(lines.iter().any(|line| line.contains(&format!("`store: {advice}`"))), "{lines:?}");
    assert_eq!(forgets(&warned(advice, folder.path())), 0);
    assert_eq!(forgets(&warned("{ memory: {} }", folder.path())), 1);
}
