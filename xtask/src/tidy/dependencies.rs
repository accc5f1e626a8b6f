//! Crate arrows run one way, and every dependency has its reason written down.

use std::collections::BTreeSet;

use toml::Table;

use super::assert_clean;
use crate::run::root;

/// From the bottom up: a crate may use those before it. `sim` and `server` stand side by side.
const HOUSE: [&str; 7] = [
    "tollgate-core",
    "tollgate-store",
    "tollgate-policy",
    "tollgate-http",
    "tollgate-server",
    "tollgate-sim",
    "tollgate",
];

#[test]
fn arrows_run_one_way() {
    let mut wrong = Vec::new();
    for (place, name) in HOUSE.iter().enumerate() {
        for used in table(&manifest(&format!("crates/{name}/Cargo.toml")), "dependencies").keys() {
            let upward =
                HOUSE.iter().position(|other| other == used).is_some_and(|other| other >= place);
            if upward || (*name == "tollgate-sim" && used == "tollgate-server") {
                wrong.push(format!("{name} uses {used}; turn the arrow round"));
            }
        }
    }
    assert_clean("tollgate -> {server, sim} -> http -> policy -> store -> core", &wrong);
}

#[test]
fn core_depends_on_nothing() {
    let used = table(&manifest("crates/tollgate-core/Cargo.toml"), "dependencies");
    assert!(
        used.is_empty(),
        "tollgate-core depends on {:?}; it depends on nothing",
        used.keys().collect::<Vec<_>>()
    );
}

#[test]
fn every_dependency_has_a_reason() {
    let map =
        std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md is there");
    let rows = map.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let reasoned: BTreeSet<&str> = rows.flat_map(|cell| cell.split(", ")).collect();
    let missing: Vec<String> = used_by_the_workspace()
        .into_iter()
        .filter(|name| !reasoned.contains(name.as_str()))
        .map(|name| format!("{name}: add a row to ARCHITECTURE.md's table: what for, why this one"))
        .collect();
    assert_clean("every dependency stands in ARCHITECTURE.md's table", &missing);
}

#[test]
fn no_dependency_is_declared_in_vain() {
    let declared = table(&table(&manifest("Cargo.toml"), "workspace"), "dependencies");
    let used = used_by_the_workspace();
    let idle: Vec<String> = declared
        .keys()
        .filter(|name| !name.starts_with("tollgate") && !used.contains(*name))
        .map(|name| format!("Cargo.toml: {name} is used by no crate; drop it"))
        .collect();
    assert_clean("every declared dependency is used", &idle);
}

/// Third-party crates that any crate of the workspace names, for whatever use.
fn used_by_the_workspace() -> BTreeSet<String> {
    let crates = HOUSE.iter().map(|name| format!("crates/{name}/Cargo.toml"));
    crates
        .chain(["xtask/Cargo.toml".to_owned()])
        .flat_map(|path| {
            let manifest = manifest(&path);
            let sections = ["dependencies", "dev-dependencies", "build-dependencies"]
                .map(|section| table(&manifest, section));
            sections
                .into_iter()
                .flat_map(|section| section.into_iter().map(|(name, _)| name))
                .collect::<Vec<_>>()
        })
        .filter(|name| !name.starts_with("tollgate"))
        .collect()
}

fn manifest(path: &str) -> Table {
    let text = std::fs::read_to_string(root().join(path))
        .unwrap_or_else(|error| panic!("{path}: {error}"));
    text.parse().unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn table(of: &Table, name: &str) -> Table {
    of.get(name).and_then(toml::Value::as_table).cloned().unwrap_or_default()
}
